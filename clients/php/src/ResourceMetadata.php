<?php

declare(strict_types=1);

namespace Assay;

/**
 * A resource's metadata, whose other members the settings choose.
 *
 * @internal
 */
final class ResourceMetadata
{
    /** @return array<string, mixed> */
    public static function of(mixed $members): array
    {
        return is_array($members) && is_string($members['resource'] ?? null) ? $members : throw new NotAssays();
    }
}
