<?php

// Generated from openapi.yaml by clients/generate.py: do not edit.

declare(strict_types=1);

namespace Assay;

/** The user who signed in, in the same form for every provider. Store users under (issuer, subject), never under email. */
final class Identity
{
    use Model;

    private const KINDS = ['provider' => 'string', 'issuer' => 'string', 'subject' => 'string', 'email' => 'string?', 'email_verified' => 'boolean?', 'email_trust' => 'string?', 'is_private_email' => 'boolean?', 'name' => 'string?', 'given_name' => 'string?', 'family_name' => 'string?', 'name_source' => 'string?', 'preferred_username' => 'string?', 'picture' => 'string?', 'locale' => 'string?', 'real_user_status' => 'string?', 'transfer_subject' => 'string?', 'tenant' => 'string?', 'hosted_domain' => 'string?', 'connection' => 'string?'];
    private const SECRETS = [];

    public function __construct(
        /** The provider's id in the settings. */
        public readonly string $provider,
        /** The provider's canonical issuer, even if the token has one of issuer_aliases. If the issuer differs by tenant, the tenant's issuer. */
        public readonly string $issuer,
        /** The claim sub. It identifies the user at this issuer; compare it byte for byte. */
        public readonly string $subject,
        /** One email address, as in the token. It may change, and may be reassigned to another user. */
        public readonly ?string $email,
        /** Whether the provider states that it verified the address; null if it does not say, or if the claim is not an address. */
        public readonly ?bool $emailVerified,
        /** How far the address can be trusted. Link accounts by address only if it is authoritative. One of: authoritative, verified, unverified. */
        public readonly ?string $emailTrust,
        /** Whether the address is a relay that hides the user's own: the provider states it, or the address is in one of private_email_domains, such as Apple's relay domains. null if there is no address, or if a provider without such domains does not say. */
        public readonly ?bool $isPrivateEmail,
        /** The full name. */
        public readonly ?string $name,
        /** The given name. */
        public readonly ?string $givenName,
        /** The family name. */
        public readonly ?string $familyName,
        /** The source of the names: the signed token, the client with the request's unsigned user, or, only in a finish with the setting user_info, the provider's endpoint. null if there are no names. One of: token, client, user_info. */
        public readonly ?string $nameSource,
        /** The user's name at the provider; not unique. */
        public readonly ?string $preferredUsername,
        /** The claim picture, or the one that identity in the settings names. Assay does not vet the URL. */
        public readonly ?string $picture,
        /** The claim locale, or the one that identity in the settings names. */
        public readonly ?string $locale,
        /** Apple's estimate of whether the user is a person; null for other providers, and if Apple does not say. One of: unsupported, unknown, likely_real. */
        public readonly ?string $realUserStatus,
        /** Apple's transfer_sub, which identifies a user after an app was transferred to another team; null for other providers, unless identity in the settings names a claim. */
        public readonly ?string $transferSubject,
        /** The organization that the user belongs to at the provider, such as Microsoft's tid. */
        public readonly ?string $tenant,
        /** Google's hd; null for other providers, unless identity in the settings names a claim. */
        public readonly ?string $hostedDomain,
        /** The request's connection; only for a provider with issuers: any. Store its users under (connection, issuer, subject): two customers may name the same issuer. */
        public readonly ?string $connection,
    ) {
    }
}

/** How the token was encrypted; only if it was. The other members are those of the signed token inside. */
final class Encryption
{
    use Model;

    private const KINDS = ['algorithm' => 'string', 'content' => 'string', 'key_id' => 'string?'];
    private const SECRETS = [];

    public function __construct(
        /** The outer header's alg. One of: ECDH-ES, ECDH-ES+A128KW, ECDH-ES+A192KW, ECDH-ES+A256KW, RSA-OAEP, RSA-OAEP-256. */
        public readonly string $algorithm,
        /** The outer header's enc. One of: A128GCM, A192GCM, A256GCM, A128CBC-HS256, A192CBC-HS384, A256CBC-HS512. */
        public readonly string $content,
        /** The outer header's kid. */
        public readonly ?string $keyId,
    ) {
    }
}

/** Other claims of the token, all verified. */
final class Token
{
    use Model;

    private const KINDS = ['audience' => 'strings', 'authorized_party' => 'string?', 'issued_at' => 'integer', 'expires_at' => 'integer', 'not_before' => 'integer?', 'auth_time' => 'integer?', 'token_id' => 'string?', 'session_id' => 'string?', 'acr' => 'string?', 'amr' => 'strings', 'algorithm' => 'string', 'key_id' => 'string?', 'nonce_match' => 'string?', 'encryption' => 'Encryption?'];
    private const SECRETS = [];

    public function __construct(
        /** @var list<string> The claim aud, always as a list; empty only for a provider with audiences: none and authorized_parties, and for an AWS load balancer. */
        public readonly array $audience,
        /** The claim azp. */
        public readonly ?string $authorizedParty,
        /** The claim iat. */
        public readonly int $issuedAt,
        /** The claim exp. */
        public readonly int $expiresAt,
        /** The claim nbf. */
        public readonly ?int $notBefore,
        /** The claim auth_time; 0 is a time, and does not mean absence. */
        public readonly ?int $authTime,
        /** The claim jti. */
        public readonly ?string $tokenId,
        /** The claim sid. */
        public readonly ?string $sessionId,
        /** The claim acr: how strong the authentication was. */
        public readonly ?string $acr,
        /** @var list<string> The claim amr: the methods of authentication. */
        public readonly array $amr,
        /** The algorithm of the signature. One of: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519, Ed448. */
        public readonly string $algorithm,
        /** The header's kid. */
        public readonly ?string $keyId,
        /** How the token's nonce matched the raw one: by its lower-case hexadecimal SHA-256, by its base64url SHA-256, or exactly. null if no nonce was checked. One of: sha256_hex, sha256_base64url, plain. */
        public readonly ?string $nonceMatch,
        /** How the token was encrypted; only if it was. The other members are those of the signed token inside. */
        public readonly ?Encryption $encryption,
    ) {
    }
}

/** Other claims of the access token, all verified. */
final class AccessToken
{
    use Model;

    private const KINDS = ['audience' => 'strings', 'authorized_party' => 'string?', 'issued_at' => 'integer?', 'expires_at' => 'integer?', 'not_before' => 'integer?', 'auth_time' => 'integer?', 'token_id' => 'string?', 'session_id' => 'string?', 'acr' => 'string?', 'amr' => 'strings', 'algorithm' => 'string?', 'key_id' => 'string?', 'nonce_match' => 'string?'];
    private const SECRETS = [];

    public function __construct(
        /** @var list<string> The claim aud, always as a list; empty only for a provider with audiences: none, and for an AWS load balancer. */
        public readonly array $audience,
        /** The claim azp. */
        public readonly ?string $authorizedParty,
        /** The claim iat; null if there is none, as in an assertion of an AWS load balancer. */
        public readonly ?int $issuedAt,
        /** The claim exp; null only for an opaque token. */
        public readonly ?int $expiresAt,
        /** The claim nbf. */
        public readonly ?int $notBefore,
        /** The claim auth_time; 0 is a time, and does not mean absence. */
        public readonly ?int $authTime,
        /** The claim jti. */
        public readonly ?string $tokenId,
        /** The claim sid. */
        public readonly ?string $sessionId,
        /** The claim acr: how strong the authentication was. */
        public readonly ?string $acr,
        /** @var list<string> The claim amr: the methods of authentication. */
        public readonly array $amr,
        /** null for an opaque token. One of: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519, Ed448. */
        public readonly ?string $algorithm,
        /** The header's kid. */
        public readonly ?string $keyId,
        /** How the token's nonce matched the raw one: by its lower-case hexadecimal SHA-256, by its base64url SHA-256, or exactly. null if no nonce was checked. One of: sha256_hex, sha256_base64url, plain. */
        public readonly ?string $nonceMatch,
    ) {
    }
}

/** A part of an answer. */
final class Binding
{
    use Model;

    private const KINDS = ['method' => 'string', 'thumbprint' => 'string?'];
    private const SECRETS = [];

    public function __construct(
        /** What proved the key; unchecked: nothing did, and the provider has unchecked_bindings: true. One of: dpop, certificate, both, unchecked. */
        public readonly string $method,
        /** The SHA-256 that the token names, in base64url: of the proof's key (jkt), or else of the certificate (x5t#S256). */
        public readonly ?string $thumbprint,
    ) {
    }
}

/** What the access token grants. */
final class Authorization
{
    use Model;

    private const KINDS = ['client_id' => 'string?', 'scopes' => 'strings', 'roles' => 'strings', 'groups' => 'strings?', 'entitlements' => 'strings', 'binding' => 'Binding?'];
    private const SECRETS = [];

    public function __construct(
        /** The client that the token was issued to. A machine's token may have it as identity.subject too. null if the provider's tokens name no client. */
        public readonly ?string $clientId,
        /** @var list<string> scope or scp, each scope once. */
        public readonly array $scopes,
        /** @var list<string> The bearer's roles. */
        public readonly array $roles,
        /** @var list<string>|null The bearer's groups; null if there are too many for the provider to list, which is not the same as none. */
        public readonly ?array $groups,
        /** @var list<string> The bearer's entitlements or permissions. */
        public readonly array $entitlements,
        /** How the key that the token is bound to (cnf) was proven; null for a token that is bound to none. */
        public readonly ?Binding $binding,
    ) {
    }
}

/** Only for an opaque token, how old the provider's answer is. */
final class Introspection
{
    use Model;

    private const KINDS = ['cached' => 'boolean', 'age_seconds' => 'integer'];
    private const SECRETS = [];

    public function __construct(
        /** Whether the answer was known before the request (introspection.cache). */
        public readonly bool $cached,
        /** How long ago the provider was asked, in seconds. */
        public readonly int $ageSeconds,
    ) {
    }
}

/** The source and age of the keys that verified the signature. */
final class Keys
{
    use Model;

    private const KINDS = ['source' => 'string', 'age_seconds' => 'integer', 'stale' => 'boolean'];
    private const SECRETS = [];

    public function __construct(
        /** network: fetched by this process. disk: fetched by an earlier process and read from cache_directory. file: the configured jwks_file. One of: network, disk, file. */
        public readonly string $source,
        /** Seconds since the keys were fetched. */
        public readonly int $ageSeconds,
        /** Whether the keys are past their lifetime and still used because the provider can't be reached. */
        public readonly bool $stale,
    ) {
    }
}

/** The provider's tokens, for the backend only. Assay does not store them. */
final class Grant
{
    use Model;

    private const KINDS = ['access_token' => 'string', 'token_type' => 'string?', 'expires_at' => 'integer?', 'refresh_token' => 'string?', 'scopes' => 'strings?', 'id_token' => 'string?', 'binding' => 'string?'];
    private const SECRETS = ['accessToken', 'refreshToken', 'idToken', 'binding'];

    public function __construct(
        /** The access token. */
        public readonly string $accessToken,
        /** The type of the access token, such as Bearer: a name or an absolute URI. Compare it case-insensitively. null only from providers with the quirk no_token_type (LinkedIn); their tokens are bearer tokens. */
        public readonly ?string $tokenType,
        /** When the access token expires, in Unix seconds; null if the provider does not say. */
        public readonly ?int $expiresAt,
        /** The new refresh token. If null, the previous one, if any, stays valid. */
        public readonly ?string $refreshToken,
        /** @var list<string>|null The granted scopes; null if they are those requested. */
        public readonly ?array $scopes,
        /** The ID Token as the provider returned it. */
        public readonly ?string $idToken,
        /** Only of clients with sender_constraint: dpop: the key of the grant, encrypted. Store the latest beside the refresh token, and send it wherever a request has binding. */
        public readonly ?string $binding,
    ) {
    }
}

/** What happened. */
final class Event
{
    use Model;

    private const KINDS = ['type' => 'string', 'subject' => 'string?', 'session_id' => 'string?', 'email' => 'string?', 'is_private_email' => 'boolean?', 'occurred_at' => 'integer?', 'reason' => 'string?', 'data' => 'object'];
    private const SECRETS = [];

    public function __construct(
        /** One of: consent_revoked, account_deleted, email_relay_disabled, email_relay_enabled, logged_out, sessions_revoked, tokens_revoked, account_disabled, account_enabled, credential_change_required, identifier_changed, identifier_recycled, verification, other. */
        public readonly string $type,
        /** The user, as in identity.subject; null if the event names no user, or a user of another issuer: data then has what it says. */
        public readonly ?string $subject,
        /** The session, as in token.session_id. */
        public readonly ?string $sessionId,
        public readonly ?string $email,
        /** Whether the address is a relay address. */
        public readonly ?bool $isPrivateEmail,
        /** When it happened. */
        public readonly ?int $occurredAt,
        /** Why, in the provider's words. */
        public readonly ?string $reason,
        /** @var array<string, mixed> Everything else that the event says, as the provider wrote it. With other, the whole event; a security event is then under its type, which is a URI. */
        public readonly array $data,
    ) {
    }
}

/** Who sent a notification. */
final class Notification
{
    use Model;

    private const KINDS = ['provider' => 'string', 'issuer' => 'string', 'kind' => 'string', 'id' => 'string', 'issued_at' => 'integer'];
    private const SECRETS = [];

    public function __construct(
        /** The provider's id. */
        public readonly string $provider,
        /** The provider's canonical issuer, even if the notification has another spelling. */
        public readonly string $issuer,
        /** One of: apple, logout, security_event. */
        public readonly string $kind,
        /** The notification's jti: the same each time it is delivered. */
        public readonly string $id,
        /** The notification's iat. */
        public readonly int $issuedAt,
    ) {
    }
}

/** A problem within an answer. */
final class Problem
{
    use Model;

    private const KINDS = ['title' => 'string', 'status' => 'integer', 'detail' => 'string', 'code' => 'string'];
    private const SECRETS = ['code'];

    public function __construct(
        /** The problem in a few words, the same for each code. */
        public readonly string $title,
        /** The HTTP status. */
        public readonly int $status,
        /** One sentence for people: what was found or expected, and what to do. */
        public readonly string $detail,
        /** What went wrong. Codes are stable. Those with 422 are roughly in the order of the checks, but sign_in_invalid and sign_in_expired come first, and claim_missing and claim_invalid can come from any check. One of: request_invalid, audience_not_configured, client_not_configured, redirect_uri_not_configured, sign_in_not_supported, revocation_not_supported, sign_out_not_supported, notifications_not_configured, url_not_allowed, caller_unauthenticated, caller_forbidden, not_found, provider_unknown, resource_unknown, method_not_allowed, request_timeout, request_too_large, content_type_unsupported, token_malformed, decryption_failed, encryption_required, header_unsupported, algorithm_not_allowed, key_not_found, key_unsuitable, signature_invalid, issuer_mismatch, audience_mismatch, authorized_party_mismatch, token_expired, token_not_yet_valid, token_too_old, auth_time_too_old, session_revoked, claim_missing, claim_invalid, groups_overage, nonce_required, nonce_missing, nonce_mismatch, at_hash_missing, at_hash_mismatch, c_hash_missing, c_hash_mismatch, subject_mismatch, scope_missing, token_inactive, binding_required, binding_missing, binding_mismatch, dpop_proof_invalid, dpop_nonce_required, dpop_proof_replayed, token_missing, nonce_replayed, binding_invalid, sign_in_invalid, sign_in_expired, sign_in_replayed, state_mismatch, redirect_uri_mismatch, response_issuer_mismatch, response_invalid, acr_mismatch, sign_in_denied, grant_invalid, provider_refused, headers_too_large, internal, client_rejected, provider_answer_invalid, provider_unavailable, keys_unavailable, request_unknown, store_unavailable, overloaded, shutting_down. */
        public readonly string $code,
    ) {
    }
}

/** Only in a 422 to a request with resource. How to answer the client that sent the token, or none. */
final class Challenge
{
    use Model;

    private const KINDS = ['status' => 'integer', 'www_authenticate' => 'string'];
    private const SECRETS = [];

    public function __construct(
        /** The HTTP status of your response. */
        public readonly int $status,
        /** The value of its one header WWW-Authenticate (RFC 6750, RFC 9449, RFC 9728). */
        public readonly string $wwwAuthenticate,
    ) {
    }
}

/** A sign-in that has begun. The app keeps sign_in, and gives the provider nonce_sha256 (Apple) or nonce. */
final class BegunSignIn
{
    use Model;

    private const KINDS = ['sign_in' => 'string', 'nonce' => 'string', 'nonce_sha256' => 'string', 'expires_at' => 'integer'];
    private const SECRETS = ['signIn', 'nonce', 'nonceSha256'];

    public function __construct(
        /** Opaque, encrypted handle of this sign-in. Send it to POST /v1/sign-ins/finish. */
        public readonly string $signIn,
        /** The raw nonce; null if the provider's nonces are not checked. */
        public readonly string $nonce,
        /** The nonce's SHA-256 in lower-case hexadecimal, the form for Apple. */
        public readonly string $nonceSha256,
        /** Expiry of the sign-in. */
        public readonly int $expiresAt,
    ) {
    }
}

/** A sign-in in the browser that has begun. Redirect to authorization_url, and keep sign_in in a cookie. */
final class BegunBrowserSignIn
{
    use Model;

    private const KINDS = ['sign_in' => 'string', 'state' => 'string', 'authorization_url' => 'string', 'expires_at' => 'integer', 'request_expires_at' => 'integer?'];
    private const SECRETS = ['signIn', 'state', 'authorizationUrl'];

    public function __construct(
        /** Opaque, encrypted handle of this sign-in. Send it to POST /v1/sign-ins/finish. */
        public readonly string $signIn,
        /** The state that the provider returns in its response; null if native. End the name of the cookie that holds sign_in with it. */
        public readonly string $state,
        /** The URL to redirect the browser to; null if native. */
        public readonly string $authorizationUrl,
        /** Expiry of the sign-in. */
        public readonly int $expiresAt,
        /** Until when authorization_url can be used. There only if the request was pushed or signed: redirect the browser at once, and begin anew if it comes later. */
        public readonly ?int $requestExpiresAt,
    ) {
    }
}

/** A verified sign-in. */
final class Verified
{
    use Model;

    private const KINDS = ['identity' => 'Identity', 'token' => 'Token', 'keys' => 'Keys', 'claims' => 'object?'];
    private const SECRETS = ['claims'];

    public function __construct(
        /** The user who signed in, in the same form for every provider. Store users under (issuer, subject), never under email. */
        public readonly Identity $identity,
        /** Other claims of the token, all verified. */
        public readonly Token $token,
        /** The source and age of the keys that verified the signature. */
        public readonly Keys $keys,
        /** @var array<string, mixed>|null Only with include_claims: the token's Claims Set, as its original JSON text, so that no number is rounded. */
        public readonly ?array $claims,
    ) {
    }
}

/** The response of POST /v1/verify, plus context and grant. */
final class FinishedSignIn
{
    use Model;

    private const KINDS = ['identity' => 'Identity', 'token' => 'Token', 'keys' => 'Keys', 'claims' => 'object?', 'context' => 'string?', 'unverified_claims' => 'strings?', 'grant' => 'Grant?'];
    private const SECRETS = ['claims', 'context'];

    public function __construct(
        /** The user who signed in, in the same form for every provider. Store users under (issuer, subject), never under email. */
        public readonly Identity $identity,
        /** Other claims of the token, all verified. */
        public readonly Token $token,
        /** The source and age of the keys that verified the signature. */
        public readonly Keys $keys,
        /** @var array<string, mixed>|null Only with include_claims: the token's Claims Set, as its original JSON text, so that no number is rounded. */
        public readonly ?array $claims,
        /** The context that the sign-in began with. */
        public readonly ?string $context,
        /** @var list<string>|null The names of claims that the UserInfo response passes on from another party (_claim_names). None of them is in identity. Absent if there are none. */
        public readonly ?array $unverifiedClaims,
        /** The provider's tokens for the code; null if no code was exchanged. */
        public readonly ?Grant $grant,
    ) {
    }
}

/** New tokens and, if an ID Token is among them, its identity. */
final class Refreshed
{
    use Model;

    private const KINDS = ['grant' => 'Grant', 'identity' => 'Identity?', 'token' => 'Token?', 'keys' => 'Keys?', 'claims' => 'object?', 'problem' => 'Problem?'];
    private const SECRETS = ['claims'];

    public function __construct(
        /** The provider's tokens, for the backend only. Assay does not store them. */
        public readonly Grant $grant,
        /** null if the provider returned no ID Token, or if it could not be verified. */
        public readonly ?Identity $identity,
        /** null if identity is. */
        public readonly ?Token $token,
        /** null if identity is. */
        public readonly ?Keys $keys,
        /** @var array<string, mixed>|null Only with include_claims: the token's Claims Set, as its original JSON text, so that no number is rounded. */
        public readonly ?array $claims,
        /** keys_unavailable if the provider returned an ID Token, but Assay has no keys to verify it. The grant is still valid. */
        public readonly ?Problem $problem,
    ) {
    }
}

/** Where to send the browser. */
final class SignOut
{
    use Model;

    private const KINDS = ['logout_url' => 'string?', 'endpoint' => 'string', 'parameters' => 'texts', 'state' => 'string?'];
    private const SECRETS = ['logoutUrl', 'parameters', 'state'];

    public function __construct(
        /** null if it would have over 2,000 characters, or the hint came encrypted. */
        public readonly ?string $logoutUrl,
        /** The provider's end_session_endpoint. */
        public readonly string $endpoint,
        /** @var array<string, string> The fields of a form that posts to endpoint; without those that have no value. */
        public readonly array $parameters,
        /** What the browser comes back with; null without post_logout_redirect_uri. */
        public readonly ?string $state,
    ) {
    }
}

/** A DPoP proof. */
final class Proof
{
    use Model;

    private const KINDS = ['dpop' => 'string'];
    private const SECRETS = ['dpop'];

    public function __construct(
        /** The value of the header DPoP, for one call. */
        public readonly string $dpop,
    ) {
    }
}

/** A verified access token. */
final class VerifiedAccessToken
{
    use Model;

    private const KINDS = ['identity' => 'Identity?', 'token' => 'AccessToken', 'authorization' => 'Authorization', 'keys' => 'Keys?', 'introspection' => 'Introspection?', 'claims' => 'object?', 'dpop_nonce' => 'string?'];
    private const SECRETS = ['claims'];

    public function __construct(
        /** null for an opaque token if the provider does not say whose it is. */
        public readonly ?Identity $identity,
        /** Other claims of the access token, all verified. */
        public readonly AccessToken $token,
        /** What the access token grants. */
        public readonly Authorization $authorization,
        /** null for an opaque token, unless the provider's answer was signed. */
        public readonly ?Keys $keys,
        /** Only for an opaque token, how old the provider's answer is. */
        public readonly ?Introspection $introspection,
        /** @var array<string, mixed>|null Only with include_claims: the token's Claims Set, or the provider's answer about an opaque token, as its original JSON text, so that no number is rounded. */
        public readonly ?array $claims,
        /** Only in responses of POST /v1/access-tokens/verify, and only where the settings have nonce: required for the call's DPoP proofs: for all, for its resource or for the token's provider (any of the resource's, if that is not known). Send it to the client in the header DPoP-Nonce: its next proof must have it. A nonce lives five minutes. */
        public readonly ?string $dpopNonce,
    ) {
    }
}

/** A verified notification. */
final class VerifiedNotification
{
    use Model;

    private const KINDS = ['notification' => 'Notification', 'events' => '[Event]', 'keys' => 'Keys'];
    private const SECRETS = [];

    public function __construct(
        /** Who sent it. */
        public readonly Notification $notification,
        /** @var list<Event> */
        public readonly array $events,
        /** The source and age of the keys that verified the signature. */
        public readonly Keys $keys,
    ) {
    }
}

/** The codes of problems. Assay may add codes. */
final class Code
{
    public const REQUEST_INVALID = 'request_invalid';
    public const AUDIENCE_NOT_CONFIGURED = 'audience_not_configured';
    public const CLIENT_NOT_CONFIGURED = 'client_not_configured';
    public const REDIRECT_URI_NOT_CONFIGURED = 'redirect_uri_not_configured';
    public const SIGN_IN_NOT_SUPPORTED = 'sign_in_not_supported';
    public const REVOCATION_NOT_SUPPORTED = 'revocation_not_supported';
    public const SIGN_OUT_NOT_SUPPORTED = 'sign_out_not_supported';
    public const NOTIFICATIONS_NOT_CONFIGURED = 'notifications_not_configured';
    public const URL_NOT_ALLOWED = 'url_not_allowed';
    public const CALLER_UNAUTHENTICATED = 'caller_unauthenticated';
    public const CALLER_FORBIDDEN = 'caller_forbidden';
    public const NOT_FOUND = 'not_found';
    public const PROVIDER_UNKNOWN = 'provider_unknown';
    public const RESOURCE_UNKNOWN = 'resource_unknown';
    public const METHOD_NOT_ALLOWED = 'method_not_allowed';
    public const REQUEST_TIMEOUT = 'request_timeout';
    public const REQUEST_TOO_LARGE = 'request_too_large';
    public const CONTENT_TYPE_UNSUPPORTED = 'content_type_unsupported';
    public const TOKEN_MALFORMED = 'token_malformed';
    public const DECRYPTION_FAILED = 'decryption_failed';
    public const ENCRYPTION_REQUIRED = 'encryption_required';
    public const HEADER_UNSUPPORTED = 'header_unsupported';
    public const ALGORITHM_NOT_ALLOWED = 'algorithm_not_allowed';
    public const KEY_NOT_FOUND = 'key_not_found';
    public const KEY_UNSUITABLE = 'key_unsuitable';
    public const SIGNATURE_INVALID = 'signature_invalid';
    public const ISSUER_MISMATCH = 'issuer_mismatch';
    public const AUDIENCE_MISMATCH = 'audience_mismatch';
    public const AUTHORIZED_PARTY_MISMATCH = 'authorized_party_mismatch';
    public const TOKEN_EXPIRED = 'token_expired';
    public const TOKEN_NOT_YET_VALID = 'token_not_yet_valid';
    public const TOKEN_TOO_OLD = 'token_too_old';
    public const AUTH_TIME_TOO_OLD = 'auth_time_too_old';
    public const SESSION_REVOKED = 'session_revoked';
    public const CLAIM_MISSING = 'claim_missing';
    public const CLAIM_INVALID = 'claim_invalid';
    public const GROUPS_OVERAGE = 'groups_overage';
    public const NONCE_REQUIRED = 'nonce_required';
    public const NONCE_MISSING = 'nonce_missing';
    public const NONCE_MISMATCH = 'nonce_mismatch';
    public const AT_HASH_MISSING = 'at_hash_missing';
    public const AT_HASH_MISMATCH = 'at_hash_mismatch';
    public const C_HASH_MISSING = 'c_hash_missing';
    public const C_HASH_MISMATCH = 'c_hash_mismatch';
    public const SUBJECT_MISMATCH = 'subject_mismatch';
    public const SCOPE_MISSING = 'scope_missing';
    public const TOKEN_INACTIVE = 'token_inactive';
    public const BINDING_REQUIRED = 'binding_required';
    public const BINDING_MISSING = 'binding_missing';
    public const BINDING_MISMATCH = 'binding_mismatch';
    public const DPOP_PROOF_INVALID = 'dpop_proof_invalid';
    public const DPOP_NONCE_REQUIRED = 'dpop_nonce_required';
    public const DPOP_PROOF_REPLAYED = 'dpop_proof_replayed';
    public const TOKEN_MISSING = 'token_missing';
    public const NONCE_REPLAYED = 'nonce_replayed';
    public const BINDING_INVALID = 'binding_invalid';
    public const SIGN_IN_INVALID = 'sign_in_invalid';
    public const SIGN_IN_EXPIRED = 'sign_in_expired';
    public const SIGN_IN_REPLAYED = 'sign_in_replayed';
    public const STATE_MISMATCH = 'state_mismatch';
    public const REDIRECT_URI_MISMATCH = 'redirect_uri_mismatch';
    public const RESPONSE_ISSUER_MISMATCH = 'response_issuer_mismatch';
    public const RESPONSE_INVALID = 'response_invalid';
    public const ACR_MISMATCH = 'acr_mismatch';
    public const SIGN_IN_DENIED = 'sign_in_denied';
    public const GRANT_INVALID = 'grant_invalid';
    public const PROVIDER_REFUSED = 'provider_refused';
    public const HEADERS_TOO_LARGE = 'headers_too_large';
    public const INTERNAL = 'internal';
    public const CLIENT_REJECTED = 'client_rejected';
    public const PROVIDER_ANSWER_INVALID = 'provider_answer_invalid';
    public const PROVIDER_UNAVAILABLE = 'provider_unavailable';
    public const KEYS_UNAVAILABLE = 'keys_unavailable';
    public const REQUEST_UNKNOWN = 'request_unknown';
    public const STORE_UNAVAILABLE = 'store_unavailable';
    public const OVERLOADED = 'overloaded';
    public const SHUTTING_DOWN = 'shutting_down';

    /** Every code that this version knows. */
    public const ALL = [
        self::REQUEST_INVALID,
        self::AUDIENCE_NOT_CONFIGURED,
        self::CLIENT_NOT_CONFIGURED,
        self::REDIRECT_URI_NOT_CONFIGURED,
        self::SIGN_IN_NOT_SUPPORTED,
        self::REVOCATION_NOT_SUPPORTED,
        self::SIGN_OUT_NOT_SUPPORTED,
        self::NOTIFICATIONS_NOT_CONFIGURED,
        self::URL_NOT_ALLOWED,
        self::CALLER_UNAUTHENTICATED,
        self::CALLER_FORBIDDEN,
        self::NOT_FOUND,
        self::PROVIDER_UNKNOWN,
        self::RESOURCE_UNKNOWN,
        self::METHOD_NOT_ALLOWED,
        self::REQUEST_TIMEOUT,
        self::REQUEST_TOO_LARGE,
        self::CONTENT_TYPE_UNSUPPORTED,
        self::TOKEN_MALFORMED,
        self::DECRYPTION_FAILED,
        self::ENCRYPTION_REQUIRED,
        self::HEADER_UNSUPPORTED,
        self::ALGORITHM_NOT_ALLOWED,
        self::KEY_NOT_FOUND,
        self::KEY_UNSUITABLE,
        self::SIGNATURE_INVALID,
        self::ISSUER_MISMATCH,
        self::AUDIENCE_MISMATCH,
        self::AUTHORIZED_PARTY_MISMATCH,
        self::TOKEN_EXPIRED,
        self::TOKEN_NOT_YET_VALID,
        self::TOKEN_TOO_OLD,
        self::AUTH_TIME_TOO_OLD,
        self::SESSION_REVOKED,
        self::CLAIM_MISSING,
        self::CLAIM_INVALID,
        self::GROUPS_OVERAGE,
        self::NONCE_REQUIRED,
        self::NONCE_MISSING,
        self::NONCE_MISMATCH,
        self::AT_HASH_MISSING,
        self::AT_HASH_MISMATCH,
        self::C_HASH_MISSING,
        self::C_HASH_MISMATCH,
        self::SUBJECT_MISMATCH,
        self::SCOPE_MISSING,
        self::TOKEN_INACTIVE,
        self::BINDING_REQUIRED,
        self::BINDING_MISSING,
        self::BINDING_MISMATCH,
        self::DPOP_PROOF_INVALID,
        self::DPOP_NONCE_REQUIRED,
        self::DPOP_PROOF_REPLAYED,
        self::TOKEN_MISSING,
        self::NONCE_REPLAYED,
        self::BINDING_INVALID,
        self::SIGN_IN_INVALID,
        self::SIGN_IN_EXPIRED,
        self::SIGN_IN_REPLAYED,
        self::STATE_MISMATCH,
        self::REDIRECT_URI_MISMATCH,
        self::RESPONSE_ISSUER_MISMATCH,
        self::RESPONSE_INVALID,
        self::ACR_MISMATCH,
        self::SIGN_IN_DENIED,
        self::GRANT_INVALID,
        self::PROVIDER_REFUSED,
        self::HEADERS_TOO_LARGE,
        self::INTERNAL,
        self::CLIENT_REJECTED,
        self::PROVIDER_ANSWER_INVALID,
        self::PROVIDER_UNAVAILABLE,
        self::KEYS_UNAVAILABLE,
        self::REQUEST_UNKNOWN,
        self::STORE_UNAVAILABLE,
        self::OVERLOADED,
        self::SHUTTING_DOWN,
    ];
}

/** What a fake client answers, by call: the examples of the contract. */
final class Examples
{
    public const JSON = '{"resource_metadata":{"resource":"https://mcp.example.com/mcp","authorization_servers":["https://auth.example.com"],"bearer_methods_supported":["header"],"resource_name":"Tools","scopes_supported":["mcp:tools"]},"begin":{"sign_in":"AUf5Wc1Jk0xQnJgq0m3c2n8bQ1yPq6T0bXb5uQm7y3k9w0Yd1N2mJk4hQ0Zb8sVtR6e2c1oXfLrA5iUj7pKd3gHnTwEz","nonce":"mE7q2vYc9KpT4sWx1ZbN6hRj8LdFg3Qa","nonce_sha256":"2fa2d26d37a48bf22be86a7754df9749e11609aca24a3840b8e0076a39ce9846","state":null,"authorization_url":null,"expires_at":1763716920},"begin_in_browser":{"sign_in":"AkRvu7pXc1mJ0sQ9bZtYw2dLhN6gK4eT8xVfC3iUaMoPqSr5WnEyBzDjHl0_7c2f1Jk0xQnJgq0m3c2n8bQ1yPq6T0bXb5uQm7y3k9w0Yd1N2mJk4hQ0","nonce":"Qn5pVhT2rK8sXw1eYj6uLgM3bZc7DfA9","state":"k3JvN8pQ2sXw7RzT1bYcUg","expires_at":1763716920,"nonce_sha256":"2398d9779382c92a1081e7f080bf50cdab59ab70fc0d7465f1d835e77e09c9c2","authorization_url":"https://accounts.google.com/o/oauth2/v2/auth?response_type=code&client_id=1045-web.apps.example.com&redirect_uri=https%3A%2F%2Fexample.com%2Fcallback%2Fgoogle&scope=openid%20email%20profile&state=k3JvN8pQ2sXw7RzT1bYcUg&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&nonce=Qn5pVhT2rK8sXw1eYj6uLgM3bZc7DfA9"},"finish":{"identity":{"provider":"google","issuer":"https://accounts.google.com","subject":"110248495921238986420","email":"ada@example.com","email_verified":true,"email_trust":"authoritative","is_private_email":null,"name":"Ada Lovelace","given_name":"Ada","family_name":"Lovelace","name_source":"token","preferred_username":null,"picture":"https://images.example.com/ada.png","locale":null,"real_user_status":null,"transfer_subject":null,"tenant":null,"hosted_domain":"example.com"},"token":{"audience":["1045-web.apps.example.com"],"authorized_party":"1045-web.apps.example.com","issued_at":1763716320,"expires_at":1763719920,"not_before":null,"auth_time":null,"token_id":"3f0c5a9e7d","session_id":null,"acr":null,"amr":[],"algorithm":"RS256","key_id":"5b3706960e3e60024a2655e78cfa63f87c97d309","nonce_match":"plain"},"keys":{"source":"network","age_seconds":4,"stale":false},"context":"/basket","grant":null},"finish_in_browser":{"identity":{"provider":"google","issuer":"https://accounts.google.com","subject":"110248495921238986420","email":"ada@example.com","email_verified":true,"email_trust":"authoritative","is_private_email":null,"name":"Ada Lovelace","given_name":"Ada","family_name":"Lovelace","name_source":"token","preferred_username":null,"picture":"https://images.example.com/ada.png","locale":null,"real_user_status":null,"transfer_subject":null,"tenant":null,"hosted_domain":"example.com"},"token":{"audience":["1045-web.apps.example.com"],"authorized_party":"1045-web.apps.example.com","issued_at":1763716320,"expires_at":1763719920,"not_before":null,"auth_time":null,"token_id":"3f0c5a9e7d","session_id":null,"acr":null,"amr":[],"algorithm":"RS256","key_id":"5b3706960e3e60024a2655e78cfa63f87c97d309","nonce_match":"plain"},"keys":{"source":"network","age_seconds":4,"stale":false},"context":"/basket","grant":{"access_token":"ya29.a0AcM612xRfX4s","token_type":"Bearer","expires_at":1763719920,"refresh_token":"1//0gLrV2kQx9wY7nT","scopes":["openid","email","profile"],"id_token":"eyJ.example.token"}},"refresh":{"grant":{"access_token":"a9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b4.0.mtyqz.Qn5pVhT2rK8sXw1eYj6uLg","token_type":"Bearer","expires_at":1763719920,"refresh_token":null,"scopes":null,"id_token":null},"identity":null,"token":null,"keys":null,"problem":null},"verify":{"identity":{"provider":"apple","issuer":"https://appleid.apple.com","subject":"001234.5e7fd0c1a2b3498c8d6e0f1a2b3c4d5e.0219","email":"dpdcnf87nu@privaterelay.appleid.com","email_verified":true,"email_trust":"authoritative","is_private_email":true,"name":"Ada Lovelace","given_name":"Ada","family_name":"Lovelace","name_source":"client","preferred_username":null,"picture":null,"locale":null,"real_user_status":"likely_real","transfer_subject":null,"tenant":null,"hosted_domain":null},"token":{"audience":["com.example.app"],"authorized_party":null,"issued_at":1763716320,"expires_at":1763802720,"not_before":null,"auth_time":1763716320,"token_id":null,"session_id":null,"acr":null,"amr":[],"algorithm":"RS256","key_id":"Ey3tWUrUrC","nonce_match":"sha256_hex"},"keys":{"source":"network","age_seconds":312,"stale":false}},"verify_notification":{"notification":{"provider":"apple","issuer":"https://appleid.apple.com","kind":"apple","id":"uC3oPbPDeZ8Zx0v2f8hYAg","issued_at":1763716320},"events":[{"type":"email_relay_disabled","subject":"001234.5e7fd0c1a2b3498c8d6e0f1a2b3c4d5e.0219","session_id":null,"email":"dpdcnf87nu@privaterelay.appleid.com","is_private_email":true,"occurred_at":1763716299,"reason":null,"data":{}}],"keys":{"source":"network","age_seconds":4,"stale":false}},"verify_access_token":{"identity":{"provider":"api","issuer":"https://login.example.com/","subject":"5ba552d67","email":null,"email_verified":null,"email_trust":null,"is_private_email":null,"name":null,"given_name":null,"family_name":null,"name_source":null,"preferred_username":null,"picture":null,"locale":null,"real_user_status":null,"transfer_subject":null,"tenant":null,"hosted_domain":null},"token":{"audience":["https://api.example.com/"],"authorized_party":null,"issued_at":1763716320,"expires_at":1763719920,"not_before":null,"auth_time":null,"token_id":"dbe39bf3a3ba4238","session_id":null,"acr":null,"amr":[],"algorithm":"RS256","key_id":"api-2025","nonce_match":null},"authorization":{"client_id":"s6BhdRkqt3","scopes":["orders:read","orders:write"],"roles":[],"groups":["staff"],"entitlements":[],"binding":null},"keys":{"source":"network","age_seconds":4,"stale":false}},"sign_out":{"logout_url":"https://login.acme.example/logout?client_id=1045-web&post_logout_redirect_uri=https%3A%2F%2Fexample.com%2Fsigned-out&state=k3JvN8pQ2sXw7RzT1bYcUg","endpoint":"https://login.acme.example/logout","parameters":{"client_id":"1045-web","post_logout_redirect_uri":"https://example.com/signed-out","state":"k3JvN8pQ2sXw7RzT1bYcUg"},"state":"k3JvN8pQ2sXw7RzT1bYcUg"},"proof":{"dpop":"eyJ.example.token"}}';
}
