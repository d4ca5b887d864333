<?php

declare(strict_types=1);

namespace Assay;

use RuntimeException;

/**
 * A call that failed. Its message is for the log: it has no token, no handle and no nonce.
 *
 * If it is neither Refused nor Unavailable, the caller, the settings or the provider is at fault: raise an alert.
 */
class AssayException extends RuntimeException
{
    /**
     * @param int $status the HTTP status; 0 if there was no answer
     * @param ?string $problem one of Code; null if there was no answer, or if it was not Assay's (getCode() is PHP's own)
     * @param ?string $detail for people; it may change
     * @param bool $spent the sign-in, code, token, nonce or proof is, or may be, used up: never send it again
     * @param ?int $retryAfter seconds before the same request may succeed
     * @param ?string $claim the claim that is missing or invalid
     * @param ?string $providerError the provider's error code
     * @param ?string $context the begin call's, if the user or the provider ended the sign-in: don't log it
     * @param ?Challenge $challenge how to answer the client that sent an access token; only for a call with resource
     * @param ?string $dpopNonce what the next proof of this client must have, as DPoP-Nonce of your response
     * @param array<string, mixed> $members the whole problem, for members that this version does not know
     */
    final public function __construct(
        public readonly int $status,
        public readonly ?string $problem = null,
        public readonly ?string $detail = null,
        public readonly ?string $requestId = null,
        public readonly bool $spent = false,
        public readonly ?int $retryAfter = null,
        public readonly ?string $claim = null,
        public readonly ?string $providerError = null,
        public readonly ?string $context = null,
        public readonly ?Challenge $challenge = null,
        public readonly ?string $dpopNonce = null,
        public readonly array $members = [],
    ) {
        parent::__construct(match (true) {
            $status === 0 => 'Assay did not answer' . ($spent ? ', but may have got the request' : '')
                . ($detail === null ? '' : ": $detail"),
            $problem === null => "The answer with status $status is not one of Assay's",
            default => "Assay answered $status $problem: $detail (request $requestId)",
        });
    }

    /**
     * @internal
     * @param array<string, mixed> $members
     */
    public static function of(int $status, array $members): self
    {
        $kind = match (true) {
            // A refusal without a code is not Assay's.
            $status === 422 && isset($members['code']) => Refused::class,
            $status === 503, $status === 0 => Unavailable::class,
            default => self::class,
        };
        return new $kind(
            $status,
            $members['code'] ?? null,
            $members['detail'] ?? null,
            $members['request_id'] ?? null,
            $members['spent'],
            $members['retry_after'] ?? null,
            $members['claim'] ?? null,
            $members['provider_error'] ?? null,
            $members['context'] ?? null,
            $members['challenge'] ?? null,
            $members['dpop_nonce'] ?? null,
            $members['members'] ?? [],
        );
    }

    /** Whether the same request may be sent again, after $retryAfter seconds. The client did so, for as long as it may. */
    public function mayRetry(): bool
    {
        return !$this->spent && ($this->status === 0 || $this->status === 503);
    }
}
