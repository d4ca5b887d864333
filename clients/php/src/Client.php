<?php

declare(strict_types=1);

namespace Assay;

use InvalidArgumentException;
use RuntimeException;
use SensitiveParameter;

/**
 * Verifies ID Tokens and finishes sign-ins with Assay.
 *
 * Every call throws AssayException. A call is sent again only if nothing was used up: because the connection could not be opened,
 * or Assay answered 503 and says so; and calls that use nothing up, also after a lost answer. Retry-After is honoured, and no
 * attempt starts later than $retryFor seconds after the call. So a call takes at most $retryFor seconds and one timeout.
 *
 * Options have the names of openapi.yaml: $assay->begin('apple', context: '/basket').
 */
class Client
{
    /** Before these, nothing has been used up. */
    private const EARLY = [Code::KEYS_UNAVAILABLE, Code::OVERLOADED, Code::SHUTTING_DOWN];

    private readonly Transport $transport;

    /**
     * $url may be unix:/path. Times are in seconds.
     *
     * $apiKeyFile is read for each call, so the key can be changed without a restart. $finishTimeout is for calls that wait for a
     * provider: finish, refresh, revoke. With $retryFor 0, there are no retries. $caFile: CA certificates to trust instead of the
     * system's (PEM).
     */
    public function __construct(
        string $url = 'http://127.0.0.1:8080',
        #[SensitiveParameter] private readonly ?string $apiKey = null,
        private readonly ?string $apiKeyFile = null,
        private readonly float $timeout = 6,
        private readonly float $finishTimeout = 12,
        private readonly float $retryFor = 5,
        ?string $caFile = null,
        ?Transport $transport = null,
    ) {
        if ($apiKey !== null && $apiKeyFile !== null) {
            throw new InvalidArgumentException('give either apiKey or apiKeyFile');
        }
        $this->transport = $transport ?? new HttpTransport($url, $caFile);
    }

    /** Begins the sign-in of an app. Options: audience, max_age, subject, issuer, context, expires_in. */
    public function begin(string $provider, mixed ...$options): BegunSignIn
    {
        return $this->call('/v1/sign-ins', ['provider' => $provider, ...$options], BegunSignIn::class, success: 201);
    }

    /**
     * Begins a sign-in in the browser. The client of the provider's settings must list $redirectUri.
     *
     * Options: as for begin, and scopes, prompt, login_hint, ui_locales, acr_values, require_acr, claims, resource,
     * id_token_hint, response_mode.
     */
    public function beginInBrowser(string $provider, string $redirectUri, mixed ...$options): BegunBrowserSignIn
    {
        $members = ['provider' => $provider, 'redirect_uri' => $redirectUri, ...$options];
        return $this->call('/v1/sign-ins', $members, BegunBrowserSignIn::class, success: 201);
    }

    /**
     * Finishes the sign-in of an app. An ID Token or a code is required.
     *
     * Options: code, access_token, redirect_uri, user, include_claims.
     */
    public function finish(
        #[SensitiveParameter] string $signIn,
        #[SensitiveParameter] ?string $idToken = null,
        #[SensitiveParameter] mixed ...$options,
    ): FinishedSignIn {
        $members = ['sign_in' => $signIn, ...($idToken === null ? [] : ['id_token' => $idToken]), ...$options];
        return $this->call('/v1/sign-ins/finish', $members, FinishedSignIn::class, usesUp: true);
    }

    /**
     * Finishes a sign-in in the browser. Option: include_claims.
     *
     * @param array<string, string> $response all parameters that $redirectUri received
     */
    public function finishInBrowser(
        #[SensitiveParameter] string $signIn,
        #[SensitiveParameter] array $response,
        string $redirectUri,
        mixed ...$options,
    ): FinishedSignIn {
        $members = ['sign_in' => $signIn, 'response' => (object) $response, 'redirect_uri' => $redirectUri, ...$options];
        return $this->call('/v1/sign-ins/finish', $members, FinishedSignIn::class, usesUp: true);
    }

    /**
     * Redeems a refresh token. Store $refreshed->grant->refreshToken, if there is one, before anything else.
     *
     * Options: binding, issuer, audience, scopes, include_claims.
     */
    public function refresh(
        string $provider,
        #[SensitiveParameter] string $refreshToken,
        string $subject,
        mixed ...$options,
    ): Refreshed {
        $members = ['provider' => $provider, 'refresh_token' => $refreshToken, 'subject' => $subject, ...$options];
        return $this->call('/v1/grants/refresh', $members, Refreshed::class, usesUp: true);
    }

    /** Revokes a token. It is safe to revoke one again. Options: token_type_hint, audience, binding. */
    public function revoke(string $provider, #[SensitiveParameter] string $token, mixed ...$options): void
    {
        $members = ['provider' => $provider, 'token' => $token, ...$options];
        $this->call('/v1/grants/revoke', $members, null, success: 204, slow: true);
    }

    /** Exchanges the code of a native sign-in, and revokes its tokens. Options: redirect_uri, audience, subject, issuer. */
    public function revokeCode(string $provider, #[SensitiveParameter] string $code, mixed ...$options): void
    {
        $members = ['provider' => $provider, 'code' => $code, ...$options];
        $this->call('/v1/grants/revoke', $members, null, success: 204, usesUp: true);
    }

    /**
     * Makes the DPoP proof for a call with the access token of a bound grant. Each call needs a new one.
     *
     * Options: audience, nonce.
     */
    public function proof(
        string $provider,
        #[SensitiveParameter] string $binding,
        #[SensitiveParameter] string $accessToken,
        string $method,
        string $url,
        mixed ...$options,
    ): Proof {
        $members = ['provider' => $provider, 'binding' => $binding, 'access_token' => $accessToken];
        $members += ['method' => $method, 'url' => $url, ...$options];
        return $this->call('/v1/grants/proof', $members, Proof::class);
    }

    /**
     * Where the user signs out at the provider. End your own session first.
     *
     * Options: audience, id_token_hint, post_logout_redirect_uri, logout_hint, ui_locales.
     */
    public function signOut(string $provider, #[SensitiveParameter] mixed ...$options): SignOut
    {
        return $this->call('/v1/sign-outs', ['provider' => $provider, ...$options], SignOut::class);
    }

    /**
     * Verifies an ID Token, without begin and finish. $nonce: null only if the sign-in has none. $singleUse: the provider has
     * nonce.single_use in Assay's settings.
     *
     * Options: provider, audience, max_age, authenticated_after, subject, issuer, access_token, code, user, include_claims.
     */
    public function verify(
        #[SensitiveParameter] string $idToken,
        #[SensitiveParameter] ?string $nonce,
        bool $singleUse = false,
        #[SensitiveParameter] mixed ...$options,
    ): Verified {
        $members = ['id_token' => $idToken, ...($nonce === null ? [] : ['nonce' => $nonce]), ...$options];
        return $this->call('/v1/verify', $members, Verified::class, usesUp: $singleUse, slow: false);
    }

    /**
     * Verifies an access token that your API got.
     *
     * Options: provider, audience, subject, issuer, authenticated_after, scopes, include_claims, certificate, and dpop, an array of
     * proof, method, url and scheme, which can be used once.
     */
    public function verifyAccessToken(
        #[SensitiveParameter] string $token,
        #[SensitiveParameter] mixed ...$options,
    ): VerifiedAccessToken {
        $usesUp = !empty($options['dpop']);
        $members = ['token' => $token, ...$options];
        return $this->call('/v1/access-tokens/verify', $members, VerifiedAccessToken::class, usesUp: $usesUp, slow: false);
    }

    /**
     * The metadata of a resource of Assay's settings (RFC 9728). Serve it as it is.
     *
     * @return array<string, mixed>
     */
    public function resourceMetadata(string $resource): array
    {
        return $this->call('/v1/resources/' . rawurlencode($resource) . '/metadata', null, ResourceMetadata::class);
    }

    /**
     * Verifies what a provider sent: $token, or $payload, the body that Apple sent.
     *
     * Options, for a provider with issuers: any: connection, issuer, audience, claim_values, email_domains.
     */
    public function verifyNotification(
        #[SensitiveParameter] ?string $token = null,
        #[SensitiveParameter] mixed $payload = null,
        ?string $provider = null,
        mixed ...$options,
    ): VerifiedNotification {
        $members = ['token' => $token, 'payload' => $payload, 'provider' => $provider, ...$options];
        $members = array_filter($members, fn ($each) => $each !== null);
        return $this->call('/v1/notifications/verify', $members, VerifiedNotification::class);
    }

    /** @return array<string, mixed> without the API key */
    public function __debugInfo(): array
    {
        return [];
    }

    private function call(
        string $path,
        #[SensitiveParameter] ?array $members,
        ?string $model,
        int $success = 200,
        bool $usesUp = false,
        ?bool $slow = null,
    ): mixed {
        [$body, $headers] = ['', $this->authorization()];
        if ($members !== null) {
            $body = json_encode((object) $members, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
            $headers[] = 'Content-Type: application/json';
        }
        $timeout = ($slow ?? $usesUp) ? $this->finishTimeout : $this->timeout;
        $end = $this->transport->now() + $this->retryFor;
        $lost = 0;
        while (true) {
            try {
                $reply = $this->transport->send($path, $body, $headers, $timeout, $usesUp);
                if ($reply->status === $success) {
                    return $this->read($reply, $model, $usesUp);
                }
                $problem = $this->problem($reply, $usesUp);
                $wait = $problem->retryAfter ?? 1;
            } catch (NoAnswer $failure) {
                $problem = AssayException::of(0, ['detail' => $failure->detail, 'spent' => $usesUp && $failure->sent]);
                $wait = min(0.05 * (2 ** $lost++ - 1), 1);
            }
            if (!$problem->mayRetry() || $this->transport->now() + $wait > $end) {
                throw $problem;
            }
            $this->transport->sleep($wait);
        }
    }

    /** @return list<string> */
    private function authorization(): array
    {
        $key = $this->apiKey;
        if ($this->apiKeyFile !== null) {
            $text = @file_get_contents($this->apiKeyFile);
            $key = trim((string) $text);
            if ($key === '') {
                throw new RuntimeException("the API key's file $this->apiKeyFile is empty, or can't be read");
            }
        }
        return $key === null ? [] : ["Authorization: Bearer $key"];
    }

    private function read(Reply $reply, ?string $model, bool $usesUp): mixed
    {
        try {
            return $model === null ? null : $model::of(json_decode($reply->body, true));
        } catch (NotAssays) {
            throw AssayException::of($reply->status, ['spent' => $usesUp]);
        }
    }

    private function problem(Reply $reply, bool $usesUp): AssayException
    {
        $members = json_decode($reply->body, true);
        $members = is_array($members) ? $members : [];
        $names = ['code', 'detail', 'request_id', 'claim', 'provider_error', 'context', 'dpop_nonce'];
        $known = array_filter($members, fn ($value, $name) => in_array($name, $names, true) && is_string($value), ARRAY_FILTER_USE_BOTH);
        $code = $known['code'] ?? null;
        $spent = $members['spent'] ?? null;
        if (!is_bool($spent)) {
            // Assay's verifications don't say. What is not Assay's answer may stand in the place of one.
            $spent = $code === null || ($reply->status === 503 && !in_array($code, self::EARLY, true));
            // A verification needs the store only for a single-use nonce or a proof.
            $usesUp = $usesUp || $code === Code::STORE_UNAVAILABLE;
        }
        try {
            $known['challenge'] = Challenge::of($members['challenge'] ?? null);
        } catch (NotAssays) {
            // None, or not Assay's.
        }
        $more = ['spent' => $usesUp && $spent, 'retry_after' => $reply->retryAfter, 'members' => $members];
        return AssayException::of($reply->status, $more + $known);
    }
}
