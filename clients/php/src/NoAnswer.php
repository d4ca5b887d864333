<?php

declare(strict_types=1);

namespace Assay;

use RuntimeException;

/** The connection failed. $sent: Assay may have got the request anyway. $detail: where; unless $sent, also why. */
final class NoAnswer extends RuntimeException
{
    public function __construct(public readonly bool $sent, public readonly ?string $detail = null)
    {
        parent::__construct($detail ?? 'no answer');
    }
}
