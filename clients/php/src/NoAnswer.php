<?php

declare(strict_types=1);

namespace Assay;

use RuntimeException;

/** The connection failed. $sent: Assay may have got the request anyway. */
final class NoAnswer extends RuntimeException
{
    public function __construct(public readonly bool $sent)
    {
        parent::__construct('no answer');
    }
}
