<?php

declare(strict_types=1);

namespace Assay;

/**
 * A client for your own tests, whose answers the test writes. All rules of the real one apply; waiting takes no time.
 *
 *     $assay = new FakeClient();
 *     $assay->will('finish', identity: ['subject' => 'user-1']);
 *     $assay->willFail('finish', 422, Code::TOKEN_EXPIRED);
 *     $assay->willNotAnswer('finish', sent: true);
 *
 * Answers are used in their order, for each call. A call without one throws a LogicException.
 */
final class FakeClient extends Client
{
    private readonly FakeTransport $fake;

    public function __construct(float $retryFor = 5)
    {
        $this->fake = new FakeTransport();
        parent::__construct(retryFor: $retryFor, transport: $this->fake);
    }

    /** $call succeeds. The members change an example: identity: ['subject' => 'user-1'] keeps its other members. */
    public function will(string $call, mixed ...$members): void
    {
        $status = match (true) {
            str_starts_with($call, 'begin') => 201,
            str_starts_with($call, 'revoke') => 204,
            default => 200,
        };
        $name = strtolower(preg_replace('/[A-Z]/', '_$0', $call));
        $example = json_decode(Examples::JSON, true)[$name] ?? [];
        $this->fake->add($call, new Reply($status, $status === 204 ? '' : json_encode(self::merged($example, $members))));
    }

    /** $call fails with this problem, for example with spent: true. */
    public function willFail(string $call, int $status, string $code, ?int $retryAfter = null, mixed ...$members): void
    {
        $problem = ['status' => $status, 'code' => $code, 'detail' => 'scripted', 'request_id' => 'fake', ...$members];
        $this->fake->add($call, new Reply($status, json_encode($problem), $retryAfter));
    }

    /** The connection fails: after the request was sent, or before. */
    public function willNotAnswer(string $call, bool $sent): void
    {
        $this->fake->add($call, new NoAnswer($sent));
    }

    /** @return list<array{string, array<string, mixed>}> every request that would have been sent: its call and its members */
    public function requests(): array
    {
        return $this->fake->requests;
    }

    /** Seconds that the client would have waited before it sent a request again. */
    public function waited(): float
    {
        return $this->fake->waited;
    }

    private static function merged(mixed $example, mixed $changes): mixed
    {
        if (!is_array($example) || !is_array($changes) || array_is_list($changes)) {
            return $changes === [] && is_array($example) ? $example : $changes;
        }
        foreach ($changes as $name => $value) {
            $example[$name] = self::merged($example[$name] ?? null, $value);
        }
        return $example;
    }
}
