<?php

declare(strict_types=1);

namespace Assay;

/** Who signed in. `issuer` and `subject` together are the key under which to store the user. */
final class Identity
{
    public function __construct(
        public readonly string $provider,
        public readonly string $issuer,
        public readonly string $subject,
        public readonly ?string $email,
        public readonly ?bool $email_verified,
        public readonly ?string $email_trust,
        public readonly ?bool $is_private_email,
        public readonly ?string $name,
        public readonly ?string $given_name,
        public readonly ?string $family_name,
        public readonly ?string $name_source,
        public readonly ?string $preferred_username,
        public readonly ?string $picture,
        public readonly ?string $locale,
        public readonly ?string $real_user_status,
        public readonly ?string $transfer_subject,
        public readonly ?string $tenant,
        public readonly ?string $hosted_domain,
        mixed ...$new, // What a later Assay says besides.
    ) {
    }
}

/**
 * A sign-in to be finished before `expires_at` (Unix seconds). The app gives the provider `nonce_sha256` or `nonce`.
 *
 * `sign_in` stays with this one app or browser, in the app's memory or in a `__Host-` cookie. Never log it, put it into a
 * URL, or look it up by something that a request brings.
 */
final class BegunSignIn
{
    public function __construct(
        #[\SensitiveParameter]
        public readonly string $sign_in,
        #[\SensitiveParameter]
        public readonly string $nonce,
        public readonly string $nonce_sha256,
        public readonly int $expires_at,
        mixed ...$new, // What a later Assay says besides.
    ) {
    }

    public function __debugInfo(): array
    {
        return ['expires_at' => $this->expires_at];
    }
}

/** Sign this user in. `context` is what the sign-in was begun with. */
final class FinishedSignIn
{
    public function __construct(public readonly Identity $identity, public readonly ?string $context)
    {
    }
}

/** What happened. `subject` is the user's, as in `Identity`; `data` is what the other members don't say. */
final class Event
{
    /** @param array<string, mixed> $data */
    public function __construct(
        public readonly string $type,
        public readonly ?string $subject,
        public readonly ?string $session_id,
        public readonly ?string $email,
        public readonly ?bool $is_private_email,
        public readonly ?int $occurred_at,
        public readonly ?string $reason,
        public readonly array $data,
        mixed ...$new, // What a later Assay says besides.
    ) {
    }
}

/** What a provider has sent. `provider` and `id` together are the same each time it is delivered. */
final class Notification
{
    /** @param list<Event> $events */
    public function __construct(
        public readonly string $provider,
        public readonly string $issuer,
        public readonly string $kind,
        public readonly string $id,
        public readonly int $issued_at,
        public readonly array $events,
        mixed ...$new, // What a later Assay says besides.
    ) {
    }
}

final class Verified
{
    public function __construct(public readonly Identity $identity)
    {
    }
}

/** Sign nobody in: this token will be refused each time. `claim` is the one missing or invalid. */
final class Refused
{
    public function __construct(
        public readonly string $code,
        public readonly ?string $claim,
        public readonly string $requestId,
    ) {
    }
}

/** Assay cannot decide now. Unless the nonce is single-use, the same request may succeed after so many seconds. */
final class Unavailable
{
    public function __construct(public readonly int $retryAfter)
    {
    }
}

/**
 * A problem. If no answer came, `status` is 0 and `problem` is null.
 *
 * `spent` matters after a finish. If it is false, nothing was used up: the same finish may be sent again, after `retryAfter`
 * seconds if that is not null. If it is true, the sign-in is used up, or may be: begin a new one.
 */
final class AssayException extends \RuntimeException
{
    public function __construct(
        public readonly int $status,
        public readonly ?string $problem,
        public readonly ?string $requestId,
        public readonly bool $spent = false,
        public readonly ?int $retryAfter = null,
    ) {
        parent::__construct($status ? "Assay answered $status $problem, request $requestId" : 'Assay did not answer');
    }
}

/** Signs users in with Assay. PHP 8.1 or later with its curl extension. */
final class Client
{
    private readonly \CurlHandle $curl;
    private readonly string $url;

    /**
     * @param string $url may be `unix:/path`
     * @param int $timeout seconds; a little longer than Assay waits for a provider, as is `$finishTimeout`
     */
    public function __construct(
        string $url = 'http://127.0.0.1:8080',
        ?string $apiKey = null,
        private readonly int $timeout = 6,
        private readonly int $finishTimeout = 12,
    ) {
        // The handle keeps the connection for as long as this object lives.
        $this->curl = curl_init();
        if (str_starts_with($url, 'unix:')) {
            curl_setopt($this->curl, CURLOPT_UNIX_SOCKET_PATH, substr($url, 5));
            $url = 'http://localhost';
        }
        $this->url = $url;
        $headers = ['Content-Type: application/json'];
        if ($apiKey !== null) {
            $headers[] = "Authorization: Bearer $apiKey";
        }
        curl_setopt_array($this->curl, [
            CURLOPT_HTTPHEADER => $headers,
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_PROXY => '', // None: the token is for Assay alone.
        ]);
    }

    /**
     * @param array<string, mixed> $more `audience`, `max_age`, `subject`, `issuer`, `context`, `expires_in`
     * @throws AssayException
     */
    public function begin(string $provider, array $more = []): BegunSignIn
    {
        [$status, $retryAfter, $answer] = $this->post('/v1/sign-ins', ['provider' => $provider] + $more, $this->timeout);
        try {
            if ($status === 201) {
                return new BegunSignIn(...$answer);
            }
        } catch (\TypeError | \ArgumentCountError) {
            // The response is not from Assay.
            $answer = [];
        }
        throw new AssayException($status, $answer['code'] ?? null, $answer['request_id'] ?? null, false, $retryAfter);
    }

    /**
     * The request is sent once, whatever happens.
     *
     * @param array<string, mixed> $more `access_token`, `code`, `user`
     * @throws AssayException
     */
    public function finish(
        #[\SensitiveParameter] string $signIn,
        #[\SensitiveParameter] string $idToken,
        #[\SensitiveParameter] array $more = [],
    ): FinishedSignIn {
        $request = ['sign_in' => $signIn, 'id_token' => $idToken] + $more;
        [$status, $retryAfter, $answer] = $this->post('/v1/sign-ins/finish', $request, $this->finishTimeout, true);
        try {
            if ($status === 200) {
                return new FinishedSignIn(new Identity(...$answer['identity'] ?? []), $answer['context'] ?? null);
            }
        } catch (\TypeError | \ArgumentCountError) {
            $answer = [];
        }
        // An answer without `spent` is not Assay's own: the request may have arrived.
        $spent = ($answer['spent'] ?? null) !== false;
        throw new AssayException($status, $answer['code'] ?? null, $answer['request_id'] ?? null, $spent, $retryAfter);
    }

    /**
     * @param array<string, mixed> $more `audience`, `max_age`, `access_token`, `code`, `user`, `subject`, `issuer`,
     *     `authenticated_after`
     * @param bool $singleUse the provider has `nonce.single_use`, so the request is sent once
     * @throws AssayException
     */
    public function verify(
        string $provider,
        #[\SensitiveParameter] string $idToken,
        #[\SensitiveParameter] ?string $nonce,
        #[\SensitiveParameter] array $more = [],
        bool $singleUse = false,
    ): Verified|Refused|Unavailable {
        $request = ['provider' => $provider, 'id_token' => $idToken] + $more;
        if ($nonce !== null) {
            $request['nonce'] = $nonce;
        }
        [$status, $retryAfter, $answer] = $this->post('/v1/verify', $request, $this->timeout, $singleUse);
        try {
            return match ($status) {
                200 => new Verified(new Identity(...$answer['identity'] ?? [])),
                422 => new Refused($answer['code'] ?? null, $answer['claim'] ?? null, $answer['request_id'] ?? null),
                0, 503 => new Unavailable($retryAfter ?? 1),
                default => throw new AssayException($status, $answer['code'] ?? null, $answer['request_id'] ?? null),
            };
        } catch (\TypeError | \ArgumentCountError) {
            // The response is not from Assay.
            throw new AssayException($status, null, null);
        }
    }

    /**
     * @param array<string, mixed> $sent either `token`, or `payload`, the body that Apple sent; perhaps `provider`
     * @throws AssayException
     */
    public function notification(#[\SensitiveParameter] array $sent): Notification
    {
        [$status, $retryAfter, $answer] = $this->post('/v1/notifications/verify', $sent, $this->timeout);
        try {
            if ($status === 200) {
                $events = array_map(fn (array $event) => new Event(...$event), $answer['events'] ?? null);
                return new Notification(...$answer['notification'] ?? [], events: $events);
            }
        } catch (\TypeError | \ArgumentCountError) {
            // Whoever answered, it was not Assay.
            $answer = [];
        }
        throw new AssayException($status, $answer['code'] ?? null, $answer['request_id'] ?? null, false, $retryAfter);
    }

    /**
     * @param bool $once over a new connection, which Assay has no reason to have closed. On a kept one that was closed, curl
     *     resends a request, which is safe for those without side effects
     * @return array{int, ?int, array<string, mixed>} the status, `Retry-After` in seconds, and the answer's members: none if it
     *     is no JSON object. Without an answer the status is 0, and `spent` says whether the request was sent
     */
    private function post(string $path, #[\SensitiveParameter] array $request, int $timeout, bool $once = false): array
    {
        $retryAfter = null;
        curl_setopt_array($this->curl, [
            CURLOPT_URL => $this->url . $path,
            CURLOPT_POSTFIELDS => json_encode($request, JSON_THROW_ON_ERROR),
            CURLOPT_TIMEOUT => $timeout,
            CURLOPT_FRESH_CONNECT => $once,
            CURLOPT_FORBID_REUSE => $once,
            CURLOPT_HEADERFUNCTION => function ($_, string $line) use (&$retryAfter): int {
                if (preg_match('/^Retry-After: *(\d+)/i', $line, $found)) {
                    $retryAfter = (int) $found[1];
                }
                return strlen($line);
            },
        ]);
        $body = curl_exec($this->curl);
        if ($body === false) {
            return [0, null, ['spent' => curl_getinfo($this->curl, CURLINFO_REQUEST_SIZE) > 0]];
        }
        $answer = json_decode($body, associative: true);
        return [curl_getinfo($this->curl, CURLINFO_RESPONSE_CODE), $retryAfter, is_array($answer) ? $answer : []];
    }
}
