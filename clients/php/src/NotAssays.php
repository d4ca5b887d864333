<?php

declare(strict_types=1);

namespace Assay;

use RuntimeException;

/**
 * The answer lacks a member, or one has another type.
 *
 * @internal
 */
final class NotAssays extends RuntimeException
{
}
