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
        mixed ...$new, // Members that later versions of Assay add.
    ) {
    }
}

/**
 * A sign-in to be finished before `expires_at` (Unix seconds). The app gives the provider `nonce_sha256` or `nonce`.
 *
 * `sign_in` stays with this one app or browser, in the app's memory or in a `__Host-` cookie. Never log it, put it into a
 * URL, or look it up by a value from a request.
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
        mixed ...$new, // Members that later versions of Assay add.
    ) {
    }

    public function __debugInfo(): array
    {
        return ['expires_at' => $this->expires_at];
    }
}

/**
 * A sign-in to be finished before `expires_at` (Unix seconds). Redirect the browser to `authorization_url`.
 *
 * `sign_in` stays with this one browser, in a `__Host-` cookie whose name ends in `state`. Never log it or put it into a URL.
 */
final class BegunBrowserSignIn
{
    public function __construct(
        #[\SensitiveParameter]
        public readonly string $sign_in,
        #[\SensitiveParameter]
        public readonly string $state,
        #[\SensitiveParameter]
        public readonly string $authorization_url,
        public readonly int $expires_at,
        mixed ...$new, // Members that later versions of Assay add.
    ) {
    }

    public function __debugInfo(): array
    {
        return ['expires_at' => $this->expires_at];
    }
}

/**
 * The provider's tokens, for the backend only: never log them, or send them to an app or a page.
 *
 * Store a refresh token with the provider, audience, issuer and subject of its sign-in. If `refresh_token` is null after a
 * refresh, the old one stays valid. If `scopes` is null, the provider granted those that were requested.
 */
final class Grant
{
    /** @param ?list<string> $scopes */
    public function __construct(
        #[\SensitiveParameter]
        public readonly string $access_token,
        public readonly string $token_type,
        public readonly ?int $expires_at,
        #[\SensitiveParameter]
        public readonly ?string $refresh_token,
        public readonly ?array $scopes,
        #[\SensitiveParameter]
        public readonly ?string $id_token,
        mixed ...$new, // Members that later versions of Assay add.
    ) {
    }

    public function __debugInfo(): array
    {
        return ['expires_at' => $this->expires_at];
    }
}

/** Sign this user in. `context` is the begin call's; `grant` is set if a code was exchanged. */
final class FinishedSignIn
{
    public function __construct(
        public readonly Identity $identity,
        public readonly ?string $context,
        public readonly ?Grant $grant,
    ) {
    }
}

/**
 * Store the new refresh token, if there is one, before anything else: the old one may be used up.
 *
 * `identity` is null if the provider sent no ID Token, or if Assay has no keys to verify it: then `problem` is
 * `keys_unavailable`.
 */
final class Refreshed
{
    public function __construct(
        public readonly Grant $grant,
        public readonly ?Identity $identity,
        public readonly ?string $problem,
    ) {
    }
}

/** What happened. `subject` is the user's, as in `Identity`; `data` has the rest of the event. */
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
        mixed ...$new, // Members that later versions of Assay add.
    ) {
    }
}

/** A verified notification. `provider` and `id` together are the same for repeated deliveries. */
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
        mixed ...$new, // Members that later versions of Assay add.
    ) {
    }
}

final class Verified
{
    public function __construct(public readonly Identity $identity)
    {
    }
}

/** Sign nobody in: this token will be refused every time. `claim` is the one missing or invalid. */
final class Refused
{
    public function __construct(
        public readonly string $code,
        public readonly ?string $claim,
        public readonly string $requestId,
    ) {
    }
}

/** Assay cannot decide now. Unless the nonce is single-use, the same request may succeed after this many seconds. */
final class Unavailable
{
    public function __construct(public readonly int $retryAfter)
    {
    }
}

/**
 * A problem. Without a response, `status` is 0 and `problem` is null.
 *
 * `spent` is for a finish, a refresh or a revocation. If it is false, nothing was used up: at 0 or 503, the request may be sent
 * again, after `retryAfter` seconds if that is not null. If it is true, the sign-in, code or refresh token is, or may be, used
 * up: begin a new sign-in, or get a new code. A refresh token is certainly used up only if `problem` is `grant_invalid`;
 * otherwise, try it once more later.
 *
 * `providerError` is the provider's error code. `context` is the begin call's, if the user or the provider
 * ended it (`sign_in_denied`, `provider_refused`): don't log it.
 */
final class AssayException extends \RuntimeException
{
    public function __construct(
        public readonly int $status,
        public readonly ?string $problem,
        public readonly ?string $requestId,
        public readonly bool $spent = false,
        public readonly ?int $retryAfter = null,
        public readonly ?string $providerError = null,
        #[\SensitiveParameter]
        public readonly ?string $context = null,
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
     * @param int $timeout seconds; a little longer than Assay waits for a provider
     * @param int $finishTimeout the same, for a finish, a refresh and a revocation
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
            CURLOPT_PROXY => '', // None: only Assay may see the token.
        ]);
    }

    /**
     * @param array<string, mixed> $more `audience`, `max_age`, `subject`, `issuer`, `context`, `expires_in`
     * @throws AssayException
     */
    public function begin(string $provider, array $more = []): BegunSignIn
    {
        $request = ['provider' => $provider] + $more;
        return $this->ask('/v1/sign-ins', $request, 201, fn (array $answer) => new BegunSignIn(...$answer));
    }

    /**
     * @param string $redirectURI one of the client's `redirect_uris` in Assay's settings
     * @param array<string, mixed> $more as for `begin`, and `scopes`, `prompt`, `login_hint`, `ui_locales`, `acr_values`,
     *     `response_mode`
     * @throws AssayException
     */
    public function beginInBrowser(string $provider, string $redirectURI, array $more = []): BegunBrowserSignIn
    {
        $request = ['provider' => $provider, 'redirect_uri' => $redirectURI] + $more;
        return $this->ask('/v1/sign-ins', $request, 201, fn (array $answer) => new BegunBrowserSignIn(...$answer));
    }

    /**
     * An ID Token or a code is required. The request is sent only once.
     *
     * @param array<string, mixed> $more `access_token`, `code`, `redirect_uri`, `user`
     * @throws AssayException
     */
    public function finish(
        #[\SensitiveParameter] string $signIn,
        #[\SensitiveParameter] ?string $idToken,
        #[\SensitiveParameter] array $more = [],
    ): FinishedSignIn {
        $token = $idToken === null ? [] : ['id_token' => $idToken];
        return $this->finishWith(['sign_in' => $signIn] + $token + $more);
    }

    /**
     * The request is sent only once.
     *
     * @param array<string, string> $response all parameters that the redirect URI received
     * @param ?string $redirectURI that redirect URI
     * @throws AssayException
     */
    public function finishInBrowser(
        #[\SensitiveParameter] string $signIn,
        #[\SensitiveParameter] array $response,
        ?string $redirectURI = null,
    ): FinishedSignIn {
        $request = ['sign_in' => $signIn, 'response' => (object) $response];
        return $this->finishWith($redirectURI === null ? $request : $request + ['redirect_uri' => $redirectURI]);
    }

    /**
     * The request is sent only once.
     *
     * @param array<string, mixed> $more `issuer`, `audience`, `scopes`
     * @throws AssayException
     */
    public function refresh(
        string $provider,
        #[\SensitiveParameter] string $refreshToken,
        string $subject,
        array $more = [],
    ): Refreshed {
        $request = ['provider' => $provider, 'refresh_token' => $refreshToken, 'subject' => $subject] + $more;
        return $this->askOnce('/v1/grants/refresh', $request, 200, fn (array $answer) => new Refreshed(
            new Grant(...$answer['grant'] ?? []),
            isset($answer['identity']) ? new Identity(...$answer['identity']) : null,
            $answer['problem']['code'] ?? null,
        ));
    }

    /**
     * The exception is never `spent`: it is safe to revoke a token again.
     *
     * @param array<string, mixed> $more `token_type_hint`, `audience`
     * @throws AssayException
     */
    public function revoke(string $provider, #[\SensitiveParameter] string $token, array $more = []): void
    {
        $this->askOnce('/v1/grants/revoke', ['provider' => $provider, 'token' => $token] + $more, 204, usesUp: false);
    }

    /**
     * Exchanges the code, and revokes the tokens. The request is sent only once.
     *
     * @param array<string, mixed> $more `redirect_uri`, `audience`, and `subject` with `issuer`: a code of another user is
     *     refused
     * @throws AssayException
     */
    public function revokeByCode(string $provider, #[\SensitiveParameter] string $code, array $more = []): void
    {
        $this->askOnce('/v1/grants/revoke', ['provider' => $provider, 'code' => $code] + $more, 204);
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
            // The response is not from Assay.
            $answer = [];
        }
        throw new AssayException($status, $answer['code'] ?? null, $answer['request_id'] ?? null, false, $retryAfter);
    }

    private function finishWith(#[\SensitiveParameter] array $request): FinishedSignIn
    {
        return $this->askOnce('/v1/sign-ins/finish', $request, 200, fn (array $answer) => new FinishedSignIn(
            new Identity(...$answer['identity'] ?? []),
            $answer['context'] ?? null,
            isset($answer['grant']) ? new Grant(...$answer['grant']) : null,
        ));
    }

    /**
     * @param callable(array<string, mixed>): mixed $read what is returned of an answer with this status
     * @throws AssayException
     */
    private function ask(string $path, #[\SensitiveParameter] array $request, int $success, callable $read): mixed
    {
        return $this->read($this->post($path, $request, $this->timeout), $success, $read, false);
    }

    /**
     * As `ask`, but the request is sent once.
     *
     * @param bool $usesUp without a response, something may be used up
     * @throws AssayException
     */
    private function askOnce(
        string $path,
        #[\SensitiveParameter] array $request,
        int $success,
        ?callable $read = null,
        bool $usesUp = true,
    ): mixed {
        $read ??= fn () => null;
        return $this->read($this->post($path, $request, $this->finishTimeout, true), $success, $read, $usesUp);
    }

    private function read(#[\SensitiveParameter] array $posted, int $success, callable $read, bool $usesUp): mixed
    {
        [$status, $retryAfter, $answer] = $posted;
        try {
            if ($status === $success) {
                return $read($answer);
            }
        } catch (\Error) {
            // The response is not from Assay.
            $answer = [];
        }
        // A response without `spent` is not Assay's, and the request may have arrived.
        $spent = $usesUp && ($answer['spent'] ?? null) !== false;
        $more = [$spent, $retryAfter, $answer['provider_error'] ?? null, $answer['context'] ?? null];
        throw new AssayException($status, $answer['code'] ?? null, $answer['request_id'] ?? null, ...$more);
    }

    /**
     * @param bool $once over a new connection, which Assay has not closed as idle. On a kept one that was closed, curl
     *     resends a request, which is safe for those without side effects
     * @return array{int, ?int, array<string, mixed>} the status, `Retry-After` in seconds, and the answer's members: none if it
     *     is not a JSON object. Without an answer the status is 0, and `spent` says whether the request was sent
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
