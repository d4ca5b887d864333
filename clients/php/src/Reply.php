<?php

declare(strict_types=1);

namespace Assay;

/** An HTTP response. */
final class Reply
{
    public function __construct(
        public readonly int $status,
        public readonly string $body,
        public readonly ?int $retryAfter = null,
    ) {
    }
}
