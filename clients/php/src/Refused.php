<?php

declare(strict_types=1);

namespace Assay;

/** Sign nobody in (status 422): the same request will be refused again. Show users one message for all codes. */
final class Refused extends AssayException
{
}
