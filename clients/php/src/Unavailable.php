<?php

declare(strict_types=1);

namespace Assay;

/** Nobody can decide now (status 503, or 0 without an answer). Unless spent, the same request may succeed later. */
final class Unavailable extends AssayException
{
}
