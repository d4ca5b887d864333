<?php

declare(strict_types=1);

namespace Assay;

use LogicException;

/**
 * The transport of FakeClient.
 *
 * @internal
 */
final class FakeTransport implements Transport
{
    private const CALLS = [
        '/v1/sign-ins' => 'begin',
        '/v1/sign-ins/finish' => 'finish',
        '/v1/grants/refresh' => 'refresh',
        '/v1/grants/revoke' => 'revoke',
        '/v1/grants/proof' => 'proof',
        '/v1/sign-outs' => 'signOut',
        '/v1/verify' => 'verify',
        '/v1/access-tokens/verify' => 'verifyAccessToken',
        '/v1/notifications/verify' => 'verifyNotification',
    ];

    /** @var list<array{string, array<string, mixed>}> */
    public array $requests = [];
    public float $waited = 0;
    /** @var array<string, list<Reply|NoAnswer>> */
    private array $answers = [];

    public function add(string $call, Reply|NoAnswer $answer): void
    {
        $this->answers[$call === 'revokeCode' ? 'revoke' : $call][] = $answer;
    }

    public function send(string $path, string $body, array $headers, float $timeout, bool $once): Reply
    {
        $members = json_decode($body, true);
        $call = self::CALLS[$path];
        if (($call === 'begin' && isset($members['redirect_uri'])) || isset($members['response'])) {
            $call .= 'InBrowser';
        }
        $this->requests[] = [$call, $members];
        if (empty($this->answers[$call])) {
            throw new LogicException("no answer is left for $call: call will('$call', …) first");
        }
        $answer = array_shift($this->answers[$call]);
        return $answer instanceof NoAnswer ? throw $answer : $answer;
    }

    public function now(): float
    {
        return $this->waited;
    }

    public function sleep(float $seconds): void
    {
        $this->waited += $seconds;
    }
}
