<?php

declare(strict_types=1);

namespace Assay;

/** How a client reaches Assay; a test may have its own. */
interface Transport
{
    /**
     * Without a body, it is a GET. $once: over a new connection, which nobody has closed as idle.
     *
     * @param list<string> $headers
     * @throws NoAnswer
     */
    public function send(string $path, string $body, array $headers, float $timeout, bool $once): Reply;

    /** Seconds. */
    public function now(): float;

    public function sleep(float $seconds): void;
}
