"""The types of requests and answers. Generated from openapi.yaml by clients/generate.py: do not edit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypedDict


@dataclass(frozen=True, kw_only=True)
class Identity:
    """The user who signed in, in the same form for every provider. Store users under (issuer, subject), never under email."""

    # The provider's id in the settings.
    provider: str
    # The provider's canonical issuer, even if the token has one of issuer_aliases. If the issuer differs by tenant,
    # the tenant's issuer.
    issuer: str
    # The claim sub. It identifies the user at this issuer; compare it byte for byte.
    subject: str
    # One email address, as in the token. It may change, and may be reassigned to another user.
    email: str | None = None
    # Whether the provider states that it verified the address; null if it does not say, or if the claim is not an
    # address.
    email_verified: bool | None = None
    # How far the address can be trusted. Link accounts by address only if it is authoritative. One of:
    # authoritative, verified, unverified.
    email_trust: str | None = None
    # Whether the address is a relay that hides the user's own: the provider states it, or the address is in one of
    # private_email_domains, such as Apple's relay domains. null if there is no address, or if a provider without
    # such domains does not say.
    is_private_email: bool | None = None
    # The full name.
    name: str | None = None
    # The given name.
    given_name: str | None = None
    # The family name.
    family_name: str | None = None
    # The source of the names: the signed token, the client with the request's unsigned user, or, only in a finish
    # with the setting user_info, the provider's endpoint. null if there are no names. One of: token, client,
    # user_info.
    name_source: str | None = None
    # The user's name at the provider; not unique.
    preferred_username: str | None = None
    # The claim picture, or the one that identity in the settings names. Assay does not vet the URL.
    picture: str | None = None
    # The claim locale, or the one that identity in the settings names.
    locale: str | None = None
    # Apple's estimate of whether the user is a person; null for other providers, and if Apple does not say. One of:
    # unsupported, unknown, likely_real.
    real_user_status: str | None = None
    # Apple's transfer_sub, which identifies a user after an app was transferred to another team; null for other
    # providers, unless identity in the settings names a claim.
    transfer_subject: str | None = None
    # The organization that the user belongs to at the provider, such as Microsoft's tid.
    tenant: str | None = None
    # Google's hd; null for other providers, unless identity in the settings names a claim.
    hosted_domain: str | None = None
    # The request's connection; only for a provider with issuers: any. Store its users under (connection, issuer,
    # subject): two customers may name the same issuer.
    connection: str | None = None


@dataclass(frozen=True, kw_only=True)
class Encryption:
    """How the token was encrypted; only if it was. The other members are those of the signed token inside."""

    # The outer header's alg. One of: ECDH-ES, ECDH-ES+A128KW, ECDH-ES+A192KW, ECDH-ES+A256KW, RSA-OAEP, RSA-
    # OAEP-256.
    algorithm: str
    # The outer header's enc. One of: A128GCM, A192GCM, A256GCM, A128CBC-HS256, A192CBC-HS384, A256CBC-HS512.
    content: str
    # The outer header's kid.
    key_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Token:
    """Other claims of the token, all verified."""

    # The claim aud, always as a list; empty only for a provider with audiences: none and authorized_parties, and
    # for an AWS load balancer.
    audience: list[str]
    # The claim azp.
    authorized_party: str | None = None
    # The claim iat.
    issued_at: int
    # The claim exp.
    expires_at: int
    # The claim nbf.
    not_before: int | None = None
    # The claim auth_time; 0 is a time, and does not mean absence.
    auth_time: int | None = None
    # The claim jti.
    token_id: str | None = None
    # The claim sid.
    session_id: str | None = None
    # The claim acr: how strong the authentication was.
    acr: str | None = None
    # The claim amr: the methods of authentication.
    amr: list[str]
    # The algorithm of the signature. One of: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA,
    # Ed25519, Ed448.
    algorithm: str
    # The header's kid.
    key_id: str | None = None
    # How the token's nonce matched the raw one: by its lower-case hexadecimal SHA-256, by its base64url SHA-256, or
    # exactly. null if no nonce was checked. One of: sha256_hex, sha256_base64url, plain.
    nonce_match: str | None = None
    # How the token was encrypted; only if it was. The other members are those of the signed token inside.
    encryption: Encryption | None = None


@dataclass(frozen=True, kw_only=True)
class AccessToken:
    """Other claims of the access token, all verified."""

    # The claim aud, always as a list; empty only for a provider with audiences: none, and for an AWS load balancer.
    audience: list[str]
    # The claim azp.
    authorized_party: str | None = None
    # The claim iat; null if there is none, as in an assertion of an AWS load balancer.
    issued_at: int | None = None
    # The claim exp; null only for an opaque token.
    expires_at: int | None = None
    # The claim nbf.
    not_before: int | None = None
    # The claim auth_time; 0 is a time, and does not mean absence.
    auth_time: int | None = None
    # The claim jti.
    token_id: str | None = None
    # The claim sid.
    session_id: str | None = None
    # The claim acr: how strong the authentication was.
    acr: str | None = None
    # The claim amr: the methods of authentication.
    amr: list[str]
    # null for an opaque token. One of: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA,
    # Ed25519, Ed448.
    algorithm: str | None = None
    # The header's kid.
    key_id: str | None = None
    # How the token's nonce matched the raw one: by its lower-case hexadecimal SHA-256, by its base64url SHA-256, or
    # exactly. null if no nonce was checked. One of: sha256_hex, sha256_base64url, plain.
    nonce_match: str | None = None


@dataclass(frozen=True, kw_only=True)
class Binding:
    """Binding."""

    # What proved the key; unchecked: nothing did, and the provider has unchecked_bindings: true. One of: dpop,
    # certificate, both, unchecked.
    method: str
    # The SHA-256 that the token names, in base64url: of the proof's key (jkt), or else of the certificate
    # (x5t#S256).
    thumbprint: str | None = None


@dataclass(frozen=True, kw_only=True)
class Authorization:
    """What the access token grants."""

    # The client that the token was issued to. A machine's token may have it as identity.subject too. null if the
    # provider's tokens name no client.
    client_id: str | None = None
    # scope or scp, each scope once.
    scopes: list[str]
    # The bearer's roles.
    roles: list[str]
    # The bearer's groups; null if there are too many for the provider to list, which is not the same as none.
    groups: list[str] | None = None
    # The bearer's entitlements or permissions.
    entitlements: list[str]
    # How the key that the token is bound to (cnf) was proven; null for a token that is bound to none.
    binding: Binding | None = None


@dataclass(frozen=True, kw_only=True)
class Introspection:
    """Only for an opaque token, how old the provider's answer is."""

    # Whether the answer was known before the request (introspection.cache).
    cached: bool
    # How long ago the provider was asked, in seconds.
    age_seconds: int


@dataclass(frozen=True, kw_only=True)
class Keys:
    """The source and age of the keys that verified the signature."""

    # network: fetched by this process. disk: fetched by an earlier process and read from cache_directory. file: the
    # configured jwks_file. One of: network, disk, file.
    source: str
    # Seconds since the keys were fetched.
    age_seconds: int
    # Whether the keys are past their lifetime and still used because the provider can't be reached.
    stale: bool


@dataclass(frozen=True, kw_only=True)
class Grant:
    """The provider's tokens, for the backend only. Assay does not store them."""

    # The access token.
    access_token: str = field(repr=False)
    # The type of the access token, such as Bearer: a name or an absolute URI. Compare it case-insensitively. null
    # only from providers with the quirk no_token_type (LinkedIn); their tokens are bearer tokens.
    token_type: str | None = None
    # When the access token expires, in Unix seconds; null if the provider does not say.
    expires_at: int | None = None
    # The new refresh token. If null, the previous one, if any, stays valid.
    refresh_token: str | None = field(default=None, repr=False)
    # The granted scopes; null if they are those requested.
    scopes: list[str] | None = None
    # The ID Token as the provider returned it.
    id_token: str | None = field(default=None, repr=False)
    # Only of clients with sender_constraint: dpop: the key of the grant, encrypted. Store the latest beside the
    # refresh token, and send it wherever a request has binding.
    binding: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Event:
    """What happened."""

    # One of: consent_revoked, account_deleted, email_relay_disabled, email_relay_enabled, logged_out,
    # sessions_revoked, tokens_revoked, account_disabled, account_enabled, credential_change_required,
    # identifier_changed, identifier_recycled, verification, other.
    type: str
    # The user, as in identity.subject; null if the event names no user, or a user of another issuer: data then has
    # what it says.
    subject: str | None = None
    # The session, as in token.session_id.
    session_id: str | None = None
    email: str | None = None
    # Whether the address is a relay address.
    is_private_email: bool | None = None
    # When it happened.
    occurred_at: int | None = None
    # Why, in the provider's words.
    reason: str | None = None
    # Everything else that the event says, as the provider wrote it. With other, the whole event; a security event
    # is then under its type, which is a URI.
    data: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Notification:
    """Who sent a notification."""

    # The provider's id.
    provider: str
    # The provider's canonical issuer, even if the notification has another spelling.
    issuer: str
    # One of: apple, logout, security_event.
    kind: str
    # The notification's jti: the same each time it is delivered.
    id: str
    # The notification's iat.
    issued_at: int


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A problem within an answer."""

    # The problem in a few words, the same for each code.
    title: str
    # The HTTP status.
    status: int
    # One sentence for people: what was found or expected, and what to do.
    detail: str
    # What went wrong. Codes are stable. Those with 422 are roughly in the order of the checks, but sign_in_invalid
    # and sign_in_expired come first, and claim_missing and claim_invalid can come from any check. One of:
    # request_invalid, audience_not_configured, client_not_configured, redirect_uri_not_configured,
    # sign_in_not_supported, revocation_not_supported, sign_out_not_supported, notifications_not_configured,
    # url_not_allowed, caller_unauthenticated, caller_forbidden, not_found, provider_unknown, resource_unknown,
    # method_not_allowed, request_timeout, request_too_large, content_type_unsupported, token_malformed,
    # decryption_failed, encryption_required, header_unsupported, algorithm_not_allowed, key_not_found,
    # key_unsuitable, signature_invalid, issuer_mismatch, audience_mismatch, authorized_party_mismatch,
    # token_expired, token_not_yet_valid, token_too_old, auth_time_too_old, session_revoked, claim_missing,
    # claim_invalid, groups_overage, nonce_required, nonce_missing, nonce_mismatch, at_hash_missing,
    # at_hash_mismatch, c_hash_missing, c_hash_mismatch, subject_mismatch, scope_missing, token_inactive,
    # binding_required, binding_missing, binding_mismatch, dpop_proof_invalid, dpop_nonce_required,
    # dpop_proof_replayed, token_missing, nonce_replayed, binding_invalid, sign_in_invalid, sign_in_expired,
    # sign_in_replayed, state_mismatch, redirect_uri_mismatch, response_issuer_mismatch, response_invalid,
    # acr_mismatch, sign_in_denied, grant_invalid, provider_refused, headers_too_large, internal, client_rejected,
    # provider_answer_invalid, provider_unavailable, keys_unavailable, request_unknown, store_unavailable,
    # overloaded, shutting_down.
    code: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Challenge:
    """Only in a 422 to a request with resource. How to answer the client that sent the token, or none."""

    # The HTTP status of your response.
    status: int
    # The value of its one header WWW-Authenticate (RFC 6750, RFC 9449, RFC 9728).
    www_authenticate: str


@dataclass(frozen=True, kw_only=True)
class BegunSignIn:
    """A sign-in that has begun. The app keeps sign_in, and gives the provider nonce_sha256 (Apple) or nonce."""

    # Opaque, encrypted handle of this sign-in. Send it to POST /v1/sign-ins/finish.
    sign_in: str = field(repr=False)
    # The raw nonce; null if the provider's nonces are not checked.
    nonce: str = field(repr=False)
    # The nonce's SHA-256 in lower-case hexadecimal, the form for Apple.
    nonce_sha256: str = field(repr=False)
    # Expiry of the sign-in.
    expires_at: int


@dataclass(frozen=True, kw_only=True)
class BegunBrowserSignIn:
    """A sign-in in the browser that has begun. Redirect to authorization_url, and keep sign_in in a cookie."""

    # Opaque, encrypted handle of this sign-in. Send it to POST /v1/sign-ins/finish.
    sign_in: str = field(repr=False)
    # The state that the provider returns in its response; null if native. End the name of the cookie that holds
    # sign_in with it.
    state: str = field(repr=False)
    # The URL to redirect the browser to; null if native.
    authorization_url: str = field(repr=False)
    # Expiry of the sign-in.
    expires_at: int
    # Until when authorization_url can be used. There only if the request was pushed or signed: redirect the browser
    # at once, and begin anew if it comes later.
    request_expires_at: int | None = None


@dataclass(frozen=True, kw_only=True)
class Verified:
    """A verified sign-in."""

    # The user who signed in, in the same form for every provider. Store users under (issuer, subject), never under
    # email.
    identity: Identity
    # Other claims of the token, all verified.
    token: Token
    # The source and age of the keys that verified the signature.
    keys: Keys
    # Only with include_claims: the token's Claims Set, as its original JSON text, so that no number is rounded.
    claims: dict[str, Any] | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class FinishedSignIn:
    """The response of POST /v1/verify, plus context and grant."""

    # The user who signed in, in the same form for every provider. Store users under (issuer, subject), never under
    # email.
    identity: Identity
    # Other claims of the token, all verified.
    token: Token
    # The source and age of the keys that verified the signature.
    keys: Keys
    # Only with include_claims: the token's Claims Set, as its original JSON text, so that no number is rounded.
    claims: dict[str, Any] | None = field(default=None, repr=False)
    # The context that the sign-in began with.
    context: str | None = field(default=None, repr=False)
    # The names of claims that the UserInfo response passes on from another party (_claim_names). None of them is in
    # identity. Absent if there are none.
    unverified_claims: list[str] | None = None
    # The provider's tokens for the code; null if no code was exchanged.
    grant: Grant | None = None


@dataclass(frozen=True, kw_only=True)
class Refreshed:
    """New tokens and, if an ID Token is among them, its identity."""

    # The provider's tokens, for the backend only. Assay does not store them.
    grant: Grant
    # null if the provider returned no ID Token, or if it could not be verified.
    identity: Identity | None = None
    # null if identity is.
    token: Token | None = None
    # null if identity is.
    keys: Keys | None = None
    # Only with include_claims: the token's Claims Set, as its original JSON text, so that no number is rounded.
    claims: dict[str, Any] | None = field(default=None, repr=False)
    # keys_unavailable if the provider returned an ID Token, but Assay has no keys to verify it. The grant is still
    # valid.
    problem: Problem | None = None


@dataclass(frozen=True, kw_only=True)
class SignOut:
    """Where to send the browser."""

    # null if it would have over 2,000 characters, or the hint came encrypted.
    logout_url: str | None = field(default=None, repr=False)
    # The provider's end_session_endpoint.
    endpoint: str
    # The fields of a form that posts to endpoint; without those that have no value.
    parameters: dict[str, str] = field(repr=False)
    # What the browser comes back with; null without post_logout_redirect_uri.
    state: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Proof:
    """A DPoP proof."""

    # The value of the header DPoP, for one call.
    dpop: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class VerifiedAccessToken:
    """A verified access token."""

    # null for an opaque token if the provider does not say whose it is.
    identity: Identity | None = None
    # Other claims of the access token, all verified.
    token: AccessToken
    # What the access token grants.
    authorization: Authorization
    # null for an opaque token, unless the provider's answer was signed.
    keys: Keys | None = None
    # Only for an opaque token, how old the provider's answer is.
    introspection: Introspection | None = None
    # Only with include_claims: the token's Claims Set, or the provider's answer about an opaque token, as its
    # original JSON text, so that no number is rounded.
    claims: dict[str, Any] | None = field(default=None, repr=False)
    # Only in responses of POST /v1/access-tokens/verify, and only where the settings have nonce: required for the
    # call's DPoP proofs: for all, for its resource or for the token's provider (any of the resource's, if that is
    # not known). Send it to the client in the header DPoP-Nonce: its next proof must have it. A nonce lives five
    # minutes.
    dpop_nonce: str | None = None


@dataclass(frozen=True, kw_only=True)
class VerifiedNotification:
    """A verified notification."""

    # Who sent it.
    notification: Notification
    events: list[Event]
    # The source and age of the keys that verified the signature.
    keys: Keys


class Dpop(TypedDict):
    """A DPoP proof of a request (RFC 9449)."""

    # The value of the request's one header DPoP, at most 8 KiB. If it has several, refuse it yourself.
    proof: str
    # The request's method.
    method: str
    # The URL that the client called: https, or http for a loopback host. Its query and fragment are ignored.
    url: str
    # The scheme of the request's Authorization, in any case: DPoP, or else the token is refused as
    # binding_required.
    scheme: str


class BeginOptions(TypedDict, total=False):
    """Options of a call."""

    # Client ID that the token must be issued to. Default: the provider's first audience, or with redirect_uri the
    # first client that lists it. With connection, the client ID at the connection's issuer, which is required.
    audience: str
    # Maximum age of the user's authentication, in seconds, when the sign-in begins. It is taken from auth_time. A
    # native token without auth_time is judged by iat, which is always recent: to prove re-authentication, also list
    # auth_time in the provider's required_claims. In the browser, auth_time is required (claim_missing).
    max_age: int
    # The identity.subject of the only user who can finish it (subject_mismatch). It must not be null.
    subject: str
    # With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with
    # port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer
    # that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the
    # identity.issuer of subject; only together with subject, and required if the provider has an issuer for each
    # tenant, because subjects are unique only per issuer. It must not be null.
    issuer: str
    # The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it
    # together with issuer and audience, all three as the backend's database has them. It comes back as
    # identity.connection.
    connection: str
    # Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each
    # claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must
    # not be null.
    claim_values: dict[str, Any]
    # The domains that this connection may speak for, because the backend has proved that they are this customer's.
    # email_trust is unverified for addresses in all others. Only together with connection.
    email_domains: list[str]
    # At most 512 bytes that the finish returns, such as where to continue. Assay does not validate it: check a
    # return URL before you begin.
    context: str
    # Lifetime of the sign-in, in seconds.
    expires_in: int


class BeginBrowserOptions(TypedDict, total=False):
    """Options of a call."""

    # Client ID that the token must be issued to. Default: the provider's first audience, or with redirect_uri the
    # first client that lists it. With connection, the client ID at the connection's issuer, which is required.
    audience: str
    # Only together with redirect_uri: the scopes to request. openid is added, except at Apple. Default: the
    # client's scopes. It must not be null.
    scopes: list[str]
    # Only together with redirect_uri; a parameter of the authorization URL.
    prompt: str
    # Only together with redirect_uri; a parameter of the authorization URL.
    login_hint: str
    # Only together with redirect_uri; a parameter of the authorization URL.
    ui_locales: str
    # Only together with redirect_uri; a parameter of the authorization URL.
    acr_values: str
    # Whether the token's acr must be one of acr_values, which are then required (acr_mismatch).
    require_acr: bool
    # Only together with redirect_uri: at most 4096 bytes, sent to the provider as they are (OpenID Connect Core,
    # section 5.5). An essential acr in id_token with value or values is checked at the finish (acr_mismatch), and
    # an essential auth_time must be there (claim_missing).
    claims: dict[str, Any]
    # Only together with redirect_uri: what the access token is for (RFC 8707), together at most 512 bytes. The
    # token endpoint is told too.
    resource: list[str]
    # Only together with redirect_uri: an ID Token of the user, which may have expired. It is verified first, and
    # sent to the provider; only this user can finish the sign-in (subject_mismatch). If it came encrypted, the
    # client's requests must be pushed.
    id_token_hint: str
    # Only together with redirect_uri; a parameter of the authorization URL. Apple posts its response (form_post) if
    # scopes are requested; so does a provider whose client has response_type: code id_token. With jwt, query.jwt
    # and form_post.jwt, the response must be signed (JARM); otherwise it is response_invalid. One of: query,
    # form_post, jwt, query.jwt, form_post.jwt.
    response_mode: str
    # Maximum age of the user's authentication, in seconds, when the sign-in begins. It is taken from auth_time. A
    # native token without auth_time is judged by iat, which is always recent: to prove re-authentication, also list
    # auth_time in the provider's required_claims. In the browser, auth_time is required (claim_missing).
    max_age: int
    # The identity.subject of the only user who can finish it (subject_mismatch). It must not be null.
    subject: str
    # With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with
    # port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer
    # that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the
    # identity.issuer of subject; only together with subject, and required if the provider has an issuer for each
    # tenant, because subjects are unique only per issuer. It must not be null.
    issuer: str
    # The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it
    # together with issuer and audience, all three as the backend's database has them. It comes back as
    # identity.connection.
    connection: str
    # How the client of the connection authenticates to its provider: required for calls to the provider's endpoints
    # if the request names a connection, or the sign-in began with one; its ID is the connection's audience. Nothing
    # keeps the secret after the request.
    client: dict[str, Any]
    # Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each
    # claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must
    # not be null.
    claim_values: dict[str, Any]
    # The domains that this connection may speak for, because the backend has proved that they are this customer's.
    # email_trust is unverified for addresses in all others. Only together with connection.
    email_domains: list[str]
    # At most 512 bytes that the finish returns, such as where to continue. Assay does not validate it: check a
    # return URL before you begin.
    context: str
    # Lifetime of the sign-in, in seconds.
    expires_in: int


class FinishOptions(TypedDict, total=False):
    """Options of a call."""

    # The authorization code that the app got. It is exchanged if the audience has a client; otherwise it is only
    # compared with c_hash.
    code: str
    # The access token that came with the ID Token, to be checked against at_hash. Only together with id_token.
    access_token: str
    # In the browser: the address that received the response, which must be the one that the sign-in began with.
    # Native: the redirect URI, if any, that the SDK got the code with. The client must list it; it is sent with the
    # code. Required with response and connection.
    redirect_uri: str
    # Required if the sign-in began with a connection, and refused otherwise: the same one, as the backend's session
    # for this browser or app has it. If it is another, the answer is sign_in_invalid, and nothing is sent to a
    # provider: the browser may have swapped sign_in.
    connection: str
    # How the client of the connection authenticates to its provider: required for calls to the provider's endpoints
    # if the request names a connection, or the sign-in began with one; its ID is the connection's audience. Nothing
    # keeps the secret after the request.
    client: dict[str, Any]
    # The object user that Apple sent with the token; null at every sign-in but the first.
    user: dict[str, Any]
    # Whether the response includes the token's raw claims, as claims.
    include_claims: bool


class FinishBrowserOptions(TypedDict, total=False):
    """Options of a call."""

    # Required if the sign-in began with a connection, and refused otherwise: the same one, as the backend's session
    # for this browser or app has it. If it is another, the answer is sign_in_invalid, and nothing is sent to a
    # provider: the browser may have swapped sign_in.
    connection: str
    # How the client of the connection authenticates to its provider: required for calls to the provider's endpoints
    # if the request names a connection, or the sign-in began with one; its ID is the connection's audience. Nothing
    # keeps the secret after the request.
    client: dict[str, Any]
    # Whether the response includes the token's raw claims, as claims.
    include_claims: bool


class RefreshOptions(TypedDict, total=False):
    """Options of a call."""

    # The latest grant.binding of the grant that the token belongs to. Required if the client has sender_constraint:
    # dpop (not beside code).
    binding: str
    # With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with
    # port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer
    # that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the
    # identity.issuer of subject; only together with subject, and required if the provider has an issuer for each
    # tenant, because subjects are unique only per issuer. It must not be null.
    issuer: str
    # The client that the token was issued to. Required if the provider has several clients.
    audience: str
    # The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it
    # together with issuer and audience, all three as the backend's database has them. It comes back as
    # identity.connection.
    connection: str
    # Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each
    # claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must
    # not be null.
    claim_values: dict[str, Any]
    # The domains that this connection may speak for, because the backend has proved that they are this customer's.
    # email_trust is unverified for addresses in all others. Only together with connection.
    email_domains: list[str]
    # How the client of the connection authenticates to its provider: required for calls to the provider's endpoints
    # if the request names a connection, or the sign-in began with one; its ID is the connection's audience. Nothing
    # keeps the secret after the request.
    client: dict[str, Any]
    # The scopes to request, a subset of those granted. If absent, all of them.
    scopes: list[str]
    # Whether the response includes the ID Token's raw claims, as claims.
    include_claims: bool


class RevokeOptions(TypedDict, total=False):
    """Options of a call."""

    # The type of token. Only together with token. One of: refresh_token, access_token.
    token_type_hint: str
    # The latest grant.binding of the grant that the token belongs to. Required if the client has sender_constraint:
    # dpop (not beside code).
    binding: str
    # The client that it was issued to. Required if the provider has several clients.
    audience: str
    # With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with
    # port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer
    # that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the
    # identity.issuer of subject; only together with subject, and required if the provider has an issuer for each
    # tenant, because subjects are unique only per issuer. It must not be null.
    issuer: str
    # The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it
    # together with issuer and audience, all three as the backend's database has them. It comes back as
    # identity.connection.
    connection: str
    # Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each
    # claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must
    # not be null.
    claim_values: dict[str, Any]
    # The domains that this connection may speak for, because the backend has proved that they are this customer's.
    # email_trust is unverified for addresses in all others. Only together with connection.
    email_domains: list[str]
    # How the client of the connection authenticates to its provider: required for calls to the provider's endpoints
    # if the request names a connection, or the sign-in began with one; its ID is the connection's audience. Nothing
    # keeps the secret after the request.
    client: dict[str, Any]


class RevokeCodeOptions(TypedDict, total=False):
    """Options of a call."""

    # The client that it was issued to. Required if the provider has several clients.
    audience: str
    # The redirect URI, if any, that the app's SDK got the code with. Only together with code.
    redirect_uri: str
    # The user to whom the code must belong. Only together with code.
    subject: str
    # With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with
    # port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer
    # that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the
    # identity.issuer of subject; only together with subject, and required if the provider has an issuer for each
    # tenant, because subjects are unique only per issuer. It must not be null.
    issuer: str
    # The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it
    # together with issuer and audience, all three as the backend's database has them. It comes back as
    # identity.connection.
    connection: str
    # Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each
    # claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must
    # not be null.
    claim_values: dict[str, Any]
    # The domains that this connection may speak for, because the backend has proved that they are this customer's.
    # email_trust is unverified for addresses in all others. Only together with connection.
    email_domains: list[str]
    # How the client of the connection authenticates to its provider: required for calls to the provider's endpoints
    # if the request names a connection, or the sign-in began with one; its ID is the connection's audience. Nothing
    # keeps the secret after the request.
    client: dict[str, Any]


class VerifyOptions(TypedDict, total=False):
    """Options of a call."""

    # The id of a configured provider. If absent, the token's unverified iss selects the provider.
    provider: str
    # The client ID of this sign-in. Only this one of the provider's audiences is then accepted. It must be one of
    # them (audience_not_configured). With connection, the client ID at the connection's issuer, which is required.
    audience: str
    # The maximum number of seconds since the user last authenticated, for re-authentication. Compared with
    # auth_time, or with iat if the token has no auth_time. iat is always recent: to prove re-authentication, also
    # list auth_time in the provider's required_claims. Written without a fraction or an exponent.
    max_age: int
    # When this user's sessions were last revoked, as Unix time in seconds. If the user authenticated before that
    # (auth_time, or iat if the token has none), the token is refused with session_revoked. Store one such time for
    # each user to end all of their sessions at once. The clock skew is not applied. It must not be null.
    authenticated_after: int
    # For re-authentication and linking: the identity.subject of the expected user. A token of any other user is
    # refused with subject_mismatch, as the last check. It must not be null.
    subject: str
    # With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with
    # port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer
    # that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the
    # identity.issuer of subject; only together with subject, and required if the provider has an issuer for each
    # tenant, because subjects are unique only per issuer. It must not be null.
    issuer: str
    # The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it
    # together with issuer and audience, all three as the backend's database has them. It comes back as
    # identity.connection.
    connection: str
    # Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each
    # claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must
    # not be null.
    claim_values: dict[str, Any]
    # The domains that this connection may speak for, because the backend has proved that they are this customer's.
    # email_trust is unverified for addresses in all others. Only together with connection.
    email_domains: list[str]
    # The access token that was issued with the ID Token; checked against at_hash.
    access_token: str
    # The authorization code that was issued with the ID Token; checked against c_hash.
    code: str
    # The object user that Apple sent with the token; null at every sign-in but the first.
    user: dict[str, Any]
    # Whether the response includes the token's raw claims, as claims.
    include_claims: bool


class AccessTokenOptions(TypedDict, total=False):
    """Options of a call."""

    # The id of the resource that the token must be for, instead of provider and audience. It must not be null.
    resource: str
    # The id of a provider with tokens: access or tokens: opaque. If absent, the token's issuer selects it; an
    # opaque token names none.
    provider: str
    # The only audience to accept, one of the provider's audiences.
    audience: str
    # The identity.subject of the only user or machine to accept (subject_mismatch). It must not be null.
    subject: str
    # With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with
    # port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer
    # that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the
    # identity.issuer of subject; only together with subject, and required if the provider has an issuer for each
    # tenant, because subjects are unique only per issuer. It must not be null.
    issuer: str
    # When this user's sessions were last revoked, as Unix time in seconds. If the user authenticated before that
    # (auth_time, or iat if the token has none), the token is refused with session_revoked. Store one such time for
    # each user to end all of their sessions at once. The clock skew is not applied. It must not be null.
    authenticated_after: int
    # The scopes that the call needs. The token must grant them all (scope_missing). It must not be null.
    scopes: list[str]
    # Whether the response includes the token's raw claims, as claims.
    include_claims: bool
    # The client's certificate of the TLS connection, for a token that is bound to it (cnf with x5t#S256): in PEM,
    # which may be percent-encoded, or as base64 of its DER; or its SHA-256 in 43 characters of base64url. null and
    # an empty string mean that there is none.
    certificate: str
    # The request's DPoP proof, for a token that is bound to the key of such proofs (cnf with jkt). Only with the
    # setting dpop. null and an empty string mean that there is none.
    dpop: Dpop


class NotificationOptions(TypedDict, total=False):
    """Options of a call."""

    # The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it
    # together with issuer and audience, all three as the backend's database has them. It comes back as
    # identity.connection.
    connection: str
    # Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each
    # claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must
    # not be null.
    claim_values: dict[str, Any]
    # The domains that this connection may speak for, because the backend has proved that they are this customer's.
    # email_trust is unverified for addresses in all others. Only together with connection.
    email_domains: list[str]
    # With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with
    # port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer
    # that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the
    # identity.issuer of subject; only together with subject, and required if the provider has an issuer for each
    # tenant, because subjects are unique only per issuer. It must not be null.
    issuer: str
    # With connection, the client ID at the connection's issuer.
    audience: str


class SignOutOptions(TypedDict, total=False):
    """Options of a call."""

    # The client that the user signed in to. Default: the first client that lists post_logout_redirect_uri, or else
    # the provider's first client.
    audience: str
    # The ID Token of the sign-in, which may be encrypted or have expired.
    id_token_hint: str
    # Where the browser comes back to: one of the client's post_logout_redirect_uris, byte for byte
    # (redirect_uri_not_configured).
    post_logout_redirect_uri: str
    # Names the user in the provider's form, such as Microsoft's claim login_hint.
    logout_hint: str
    # Languages of the provider's page, separated by spaces.
    ui_locales: str
    # With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with
    # port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer
    # that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the
    # identity.issuer of subject; only together with subject, and required if the provider has an issuer for each
    # tenant, because subjects are unique only per issuer. It must not be null.
    issuer: str
    # The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it
    # together with issuer and audience, all three as the backend's database has them. It comes back as
    # identity.connection.
    connection: str
    # Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each
    # claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must
    # not be null.
    claim_values: dict[str, Any]
    # The domains that this connection may speak for, because the backend has proved that they are this customer's.
    # email_trust is unverified for addresses in all others. Only together with connection.
    email_domains: list[str]


class ProofOptions(TypedDict, total=False):
    """Options of a call."""

    # The client that the grant must be of; the binding's own by default.
    audience: str
    # The nonce that the API demands: the value of DPoP-Nonce.
    nonce: str
