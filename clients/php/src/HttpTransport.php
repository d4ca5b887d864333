<?php

declare(strict_types=1);

namespace Assay;

use CurlHandle;
use InvalidArgumentException;
use SensitiveParameter;

/** HTTP over TCP, TLS or a Unix domain socket. Follows no redirect and uses no proxy: only Assay may see a token. */
final class HttpTransport implements Transport
{
    private readonly string $base;
    /** For errors: without what a URL may have before its host, or after. */
    private readonly string $place;
    /** @var array<int, mixed> */
    private readonly array $options;
    private ?CurlHandle $kept = null;

    public function __construct(string $url, ?string $caFile)
    {
        $socket = str_starts_with($url, 'unix:') ? substr($url, 5) : null;
        $this->base = rtrim($socket === null ? $url : 'http://localhost', '/');
        if (preg_match('~^https?://~', $this->base) !== 1) {
            throw new InvalidArgumentException("the URL must begin with http://, https:// or unix:; found \"$url\"");
        }
        $this->place = $socket === null ? preg_replace('~^(https?://)(?:[^/]*@)?([^/?#]*).*$~s', '$1$2', $url) : $url;
        $options = [
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_PROXY => '',
            CURLOPT_NOPROXY => '*',
            CURLOPT_NOSIGNAL => true,
        ];
        $options += $socket === null ? [] : [CURLOPT_UNIX_SOCKET_PATH => $socket];
        $this->options = $options + ($caFile === null ? [] : [CURLOPT_CAINFO => $caFile]);
    }

    public function send(
        string $path,
        #[SensitiveParameter] string $body,
        #[SensitiveParameter] array $headers,
        float $timeout,
        bool $once,
    ): Reply {
        $curl = $once ? curl_init() : ($this->kept ??= curl_init());
        $after = null;
        $method = $body === '' ? [CURLOPT_HTTPGET => true] : [CURLOPT_POST => true, CURLOPT_POSTFIELDS => $body];
        curl_setopt_array($curl, $this->options + $method + [
            CURLOPT_URL => $this->base . $path,
            // Without "Expect: 100-continue".
            CURLOPT_HTTPHEADER => [...$headers, 'Expect:'],
            CURLOPT_TIMEOUT_MS => max(1, (int) ($timeout * 1000)),
            CURLOPT_CONNECTTIMEOUT_MS => max(1, (int) ($timeout * 1000)),
            CURLOPT_FRESH_CONNECT => $once,
            CURLOPT_FORBID_REUSE => $once,
            CURLOPT_HEADERFUNCTION => function (CurlHandle $curl, string $line) use (&$after): int {
                if (preg_match('/^Retry-After:[ \t]*([0-9]{1,9})[ \t]*\r?\n/i', $line, $found) === 1) {
                    $after = (int) $found[1];
                }
                return strlen($line);
            },
        ]);
        $text = curl_exec($curl);
        $sent = curl_getinfo($curl, CURLINFO_PRETRANSFER_TIME) > 0;
        $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
        if (!is_string($text)) {
            // Once the request was sent, the failure's text may have something of it.
            throw new NoAnswer($sent, $sent
                ? "no whole answer came from $this->place"
                : "can't connect to $this->place: " . curl_error($curl));
        }
        return new Reply($status, $text, $after);
    }

    public function now(): float
    {
        return hrtime(true) / 1e9;
    }

    public function sleep(float $seconds): void
    {
        usleep((int) ($seconds * 1e6));
    }
}
