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

/** Nobody can say just now; the same request may succeed after so many seconds. */
final class Unavailable
{
    public function __construct(public readonly int $retryAfter)
    {
    }
}

/** A mistake of ours or in Assay's configuration (400, 401, 404, …), or a failure of Assay's (500). */
final class AssayException extends \RuntimeException
{
    public function __construct(
        public readonly int $status,
        public readonly ?string $problem,
        public readonly ?string $requestId,
    ) {
        parent::__construct("Assay answered $status $problem, request $requestId");
    }
}

/** Asks Assay whose ID Token it is. PHP 8.1 or later with its curl extension. */
final class Client
{
    private readonly \CurlHandle $curl;

    /**
     * @param string $url may be `unix:/path`
     * @param int $timeout seconds; a little longer than Assay waits for a provider's keys
     */
    public function __construct(string $url = 'http://127.0.0.1:8080', ?string $apiKey = null, int $timeout = 6)
    {
        // The handle keeps the connection for as long as this object lives.
        $this->curl = curl_init();
        if (str_starts_with($url, 'unix:')) {
            curl_setopt($this->curl, CURLOPT_UNIX_SOCKET_PATH, substr($url, 5));
            $url = 'http://localhost';
        }
        $headers = ['Content-Type: application/json'];
        if ($apiKey !== null) {
            $headers[] = "Authorization: Bearer $apiKey";
        }
        curl_setopt_array($this->curl, [
            CURLOPT_URL => "$url/v1/verify",
            CURLOPT_HTTPHEADER => $headers,
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_TIMEOUT => $timeout,
            CURLOPT_PROXY => '', // None: the token is for Assay alone.
        ]);
    }

    /**
     * @param array<string, mixed> $more `audience`, `max_age`, `access_token`, `code`, `user`
     * @throws AssayException
     */
    public function verify(
        string $provider,
        #[\SensitiveParameter] string $idToken,
        #[\SensitiveParameter] ?string $nonce,
        array $more = [],
    ): Verified|Refused|Unavailable {
        $request = ['provider' => $provider, 'id_token' => $idToken] + $more;
        if ($nonce !== null) {
            $request['nonce'] = $nonce;
        }
        $retryAfter = 1;
        curl_setopt_array($this->curl, [
            CURLOPT_POSTFIELDS => json_encode($request, JSON_THROW_ON_ERROR),
            CURLOPT_HEADERFUNCTION => function ($_, string $line) use (&$retryAfter): int {
                if (preg_match('/^Retry-After: *(\d+)/i', $line, $found)) {
                    $retryAfter = (int) $found[1];
                }
                return strlen($line);
            },
        ]);
        $body = curl_exec($this->curl);
        if ($body === false) {
            return new Unavailable(1);
        }
        $status = curl_getinfo($this->curl, CURLINFO_RESPONSE_CODE);
        $answer = json_decode($body, associative: true);
        try {
            return match ($status) {
                200 => new Verified(new Identity(...$answer['identity'] ?? [])),
                422 => new Refused($answer['code'] ?? null, $answer['claim'] ?? null, $answer['request_id'] ?? null),
                503 => new Unavailable($retryAfter),
                default => throw new AssayException($status, $answer['code'] ?? null, $answer['request_id'] ?? null),
            };
        } catch (\TypeError | \ArgumentCountError) {
            // Whoever answered, it was not Assay.
            throw new AssayException($status, null, null);
        }
    }
}
