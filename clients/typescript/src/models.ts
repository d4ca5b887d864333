// Generated from openapi.yaml by clients/generate.py: do not edit.

/** The user who signed in, in the same form for every provider. Store users under (issuer, subject), never under email. */
export interface Identity {
  /** The provider's id in the settings. */
  provider: string;
  /** The provider's canonical issuer, even if the token has one of issuer_aliases. If the issuer differs by tenant, the tenant's issuer. */
  issuer: string;
  /** The claim sub. It identifies the user at this issuer; compare it byte for byte. */
  subject: string;
  /** One email address, as in the token. It may change, and may be reassigned to another user. */
  email: string | null;
  /** Whether the provider states that it verified the address; null if it does not say, or if the claim is not an address. */
  email_verified: boolean | null;
  /** How far the address can be trusted. Link accounts by address only if it is authoritative. One of: authoritative, verified, unverified. */
  email_trust: string | null;
  /** Whether the address is a relay that hides the user's own: the provider states it, or the address is in one of private_email_domains, such as Apple's relay domains. null if there is no address, or if a provider without such domains does not say. */
  is_private_email: boolean | null;
  /** The full name. */
  name: string | null;
  /** The given name. */
  given_name: string | null;
  /** The family name. */
  family_name: string | null;
  /** The source of the names: the signed token, the client with the request's unsigned user, or, only in a finish with the setting user_info, the provider's endpoint. null if there are no names. One of: token, client, user_info. */
  name_source: string | null;
  /** The user's name at the provider; not unique. */
  preferred_username: string | null;
  /** The claim picture, or the one that identity in the settings names. Assay does not vet the URL. */
  picture: string | null;
  /** The claim locale, or the one that identity in the settings names. */
  locale: string | null;
  /** Apple's estimate of whether the user is a person; null for other providers, and if Apple does not say. One of: unsupported, unknown, likely_real. */
  real_user_status: string | null;
  /** Apple's transfer_sub, which identifies a user after an app was transferred to another team; null for other providers, unless identity in the settings names a claim. */
  transfer_subject: string | null;
  /** The organization that the user belongs to at the provider, such as Microsoft's tid. */
  tenant: string | null;
  /** Google's hd; null for other providers, unless identity in the settings names a claim. */
  hosted_domain: string | null;
  /** The request's connection; only for a provider with issuers: any. Store its users under (connection, issuer, subject): two customers may name the same issuer. */
  connection: string | null;
}

/** How the token was encrypted; only if it was. The other members are those of the signed token inside. */
export interface Encryption {
  /** The outer header's alg. One of: ECDH-ES, ECDH-ES+A128KW, ECDH-ES+A192KW, ECDH-ES+A256KW, RSA-OAEP, RSA-OAEP-256. */
  algorithm: string;
  /** The outer header's enc. One of: A128GCM, A192GCM, A256GCM, A128CBC-HS256, A192CBC-HS384, A256CBC-HS512. */
  content: string;
  /** The outer header's kid. */
  key_id: string | null;
}

/** Other claims of the token, all verified. */
export interface Token {
  /** The claim aud, always as a list; empty only for a provider with audiences: none and authorized_parties, and for an AWS load balancer. */
  audience: string[];
  /** The claim azp. */
  authorized_party: string | null;
  /** The claim iat. */
  issued_at: number;
  /** The claim exp. */
  expires_at: number;
  /** The claim nbf. */
  not_before: number | null;
  /** The claim auth_time; 0 is a time, and does not mean absence. */
  auth_time: number | null;
  /** The claim jti. */
  token_id: string | null;
  /** The claim sid. */
  session_id: string | null;
  /** The claim acr: how strong the authentication was. */
  acr: string | null;
  /** The claim amr: the methods of authentication. */
  amr: string[];
  /** The algorithm of the signature. One of: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519, Ed448. */
  algorithm: string;
  /** The header's kid. */
  key_id: string | null;
  /** How the token's nonce matched the raw one: by its lower-case hexadecimal SHA-256, by its base64url SHA-256, or exactly. null if no nonce was checked. One of: sha256_hex, sha256_base64url, plain. */
  nonce_match: string | null;
  /** How the token was encrypted; only if it was. The other members are those of the signed token inside. */
  encryption: Encryption | null;
}

/** Other claims of the access token, all verified. */
export interface AccessToken {
  /** The claim aud, always as a list; empty only for a provider with audiences: none, and for an AWS load balancer. */
  audience: string[];
  /** The claim azp. */
  authorized_party: string | null;
  /** The claim iat; null if there is none, as in an assertion of an AWS load balancer. */
  issued_at: number | null;
  /** The claim exp; null only for an opaque token. */
  expires_at: number | null;
  /** The claim nbf. */
  not_before: number | null;
  /** The claim auth_time; 0 is a time, and does not mean absence. */
  auth_time: number | null;
  /** The claim jti. */
  token_id: string | null;
  /** The claim sid. */
  session_id: string | null;
  /** The claim acr: how strong the authentication was. */
  acr: string | null;
  /** The claim amr: the methods of authentication. */
  amr: string[];
  /** null for an opaque token. One of: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519, Ed448. */
  algorithm: string | null;
  /** The header's kid. */
  key_id: string | null;
  /** How the token's nonce matched the raw one: by its lower-case hexadecimal SHA-256, by its base64url SHA-256, or exactly. null if no nonce was checked. One of: sha256_hex, sha256_base64url, plain. */
  nonce_match: string | null;
}

export interface Binding {
  /** What proved the key; unchecked: nothing did, and the provider has unchecked_bindings: true. One of: dpop, certificate, both, unchecked. */
  method: string;
  /** The SHA-256 that the token names, in base64url: of the proof's key (jkt), or else of the certificate (x5t#S256). */
  thumbprint: string | null;
}

/** What the access token grants. */
export interface Authorization {
  /** The client that the token was issued to. A machine's token may have it as identity.subject too. null if the provider's tokens name no client. */
  client_id: string | null;
  /** scope or scp, each scope once. */
  scopes: string[];
  /** The bearer's roles. */
  roles: string[];
  /** The bearer's groups; null if there are too many for the provider to list, which is not the same as none. */
  groups: string[] | null;
  /** The bearer's entitlements or permissions. */
  entitlements: string[];
  /** How the key that the token is bound to (cnf) was proven; null for a token that is bound to none. */
  binding: Binding | null;
}

/** Only for an opaque token, how old the provider's answer is. */
export interface Introspection {
  /** Whether the answer was known before the request (introspection.cache). */
  cached: boolean;
  /** How long ago the provider was asked, in seconds. */
  age_seconds: number;
}

/** The source and age of the keys that verified the signature. */
export interface Keys {
  /** network: fetched by this process. disk: fetched by an earlier process and read from cache_directory. file: the configured jwks_file. One of: network, disk, file. */
  source: string;
  /** Seconds since the keys were fetched. */
  age_seconds: number;
  /** Whether the keys are past their lifetime and still used because the provider can't be reached. */
  stale: boolean;
}

/** The provider's tokens, for the backend only. Assay does not store them. */
export interface Grant {
  /** The access token. */
  access_token: string;
  /** The type of the access token, such as Bearer: a name or an absolute URI. Compare it case-insensitively. null only from providers with the quirk no_token_type (LinkedIn); their tokens are bearer tokens. */
  token_type: string | null;
  /** When the access token expires, in Unix seconds; null if the provider does not say. */
  expires_at: number | null;
  /** The new refresh token. If null, the previous one, if any, stays valid. */
  refresh_token: string | null;
  /** The granted scopes; null if they are those requested. */
  scopes: string[] | null;
  /** The ID Token as the provider returned it. */
  id_token: string | null;
  /** Only of clients with sender_constraint: dpop: the key of the grant, encrypted. Store the latest beside the refresh token, and send it wherever a request has binding. */
  binding: string | null;
}

/** What happened. */
export interface Event {
  /** One of: consent_revoked, account_deleted, email_relay_disabled, email_relay_enabled, logged_out, sessions_revoked, tokens_revoked, account_disabled, account_enabled, credential_change_required, identifier_changed, identifier_recycled, verification, other. */
  type: string;
  /** The user, as in identity.subject; null if the event names no user, or a user of another issuer: data then has what it says. */
  subject: string | null;
  /** The session, as in token.session_id. */
  session_id: string | null;
  email: string | null;
  /** Whether the address is a relay address. */
  is_private_email: boolean | null;
  /** When it happened. */
  occurred_at: number | null;
  /** Why, in the provider's words. */
  reason: string | null;
  /** Everything else that the event says, as the provider wrote it. With other, the whole event; a security event is then under its type, which is a URI. */
  data: Record<string, unknown>;
}

/** Who sent a notification. */
export interface Notification {
  /** The provider's id. */
  provider: string;
  /** The provider's canonical issuer, even if the notification has another spelling. */
  issuer: string;
  /** One of: apple, logout, security_event. */
  kind: string;
  /** The notification's jti: the same each time it is delivered. */
  id: string;
  /** The notification's iat. */
  issued_at: number;
}

/** A problem within an answer. */
export interface Problem {
  /** The problem in a few words, the same for each code. */
  title: string;
  /** The HTTP status. */
  status: number;
  /** One sentence for people: what was found or expected, and what to do. */
  detail: string;
  /** What went wrong. Codes are stable. Those with 422 are roughly in the order of the checks, but sign_in_invalid and sign_in_expired come first, and claim_missing and claim_invalid can come from any check. One of: request_invalid, audience_not_configured, client_not_configured, redirect_uri_not_configured, sign_in_not_supported, revocation_not_supported, sign_out_not_supported, notifications_not_configured, url_not_allowed, caller_unauthenticated, caller_forbidden, not_found, provider_unknown, resource_unknown, method_not_allowed, request_timeout, request_too_large, content_type_unsupported, token_malformed, decryption_failed, encryption_required, header_unsupported, algorithm_not_allowed, key_not_found, key_unsuitable, signature_invalid, issuer_mismatch, audience_mismatch, authorized_party_mismatch, token_expired, token_not_yet_valid, token_too_old, auth_time_too_old, session_revoked, claim_missing, claim_invalid, groups_overage, nonce_required, nonce_missing, nonce_mismatch, at_hash_missing, at_hash_mismatch, c_hash_missing, c_hash_mismatch, subject_mismatch, scope_missing, token_inactive, binding_required, binding_missing, binding_mismatch, dpop_proof_invalid, dpop_nonce_required, dpop_proof_replayed, token_missing, nonce_replayed, binding_invalid, sign_in_invalid, sign_in_expired, sign_in_replayed, state_mismatch, redirect_uri_mismatch, response_issuer_mismatch, response_invalid, acr_mismatch, sign_in_denied, grant_invalid, provider_refused, headers_too_large, internal, client_rejected, provider_answer_invalid, provider_unavailable, keys_unavailable, request_unknown, store_unavailable, overloaded, shutting_down. */
  code: string;
}

/** Only in a 422 to a request with resource. How to answer the client that sent the token, or none. */
export interface Challenge {
  /** The HTTP status of your response. */
  status: number;
  /** The value of its one header WWW-Authenticate (RFC 6750, RFC 9449, RFC 9728). */
  www_authenticate: string;
}

/** A sign-in that has begun. The app keeps sign_in, and gives the provider nonce_sha256 (Apple) or nonce. */
export interface BegunSignIn {
  /** Opaque, encrypted handle of this sign-in. Send it to POST /v1/sign-ins/finish. */
  sign_in: string;
  /** The raw nonce; null if the provider's nonces are not checked. */
  nonce: string;
  /** The nonce's SHA-256 in lower-case hexadecimal, the form for Apple. */
  nonce_sha256: string;
  /** Expiry of the sign-in. */
  expires_at: number;
}

/** A sign-in in the browser that has begun. Redirect to authorization_url, and keep sign_in in a cookie. */
export interface BegunBrowserSignIn {
  /** Opaque, encrypted handle of this sign-in. Send it to POST /v1/sign-ins/finish. */
  sign_in: string;
  /** The state that the provider returns in its response; null if native. End the name of the cookie that holds sign_in with it. */
  state: string;
  /** The URL to redirect the browser to; null if native. */
  authorization_url: string;
  /** Expiry of the sign-in. */
  expires_at: number;
  /** Until when authorization_url can be used. There only if the request was pushed or signed: redirect the browser at once, and begin anew if it comes later. */
  request_expires_at: number | null;
}

/** A verified sign-in. */
export interface Verified {
  /** The user who signed in, in the same form for every provider. Store users under (issuer, subject), never under email. */
  identity: Identity;
  /** Other claims of the token, all verified. */
  token: Token;
  /** The source and age of the keys that verified the signature. */
  keys: Keys;
  /** Only with include_claims: the token's Claims Set, as its original JSON text, so that no number is rounded. */
  claims: Record<string, unknown> | null;
}

/** The response of POST /v1/verify, plus context and grant. */
export interface FinishedSignIn {
  /** The user who signed in, in the same form for every provider. Store users under (issuer, subject), never under email. */
  identity: Identity;
  /** Other claims of the token, all verified. */
  token: Token;
  /** The source and age of the keys that verified the signature. */
  keys: Keys;
  /** Only with include_claims: the token's Claims Set, as its original JSON text, so that no number is rounded. */
  claims: Record<string, unknown> | null;
  /** The context that the sign-in began with. */
  context: string | null;
  /** The names of claims that the UserInfo response passes on from another party (_claim_names). None of them is in identity. Absent if there are none. */
  unverified_claims: string[] | null;
  /** The provider's tokens for the code; null if no code was exchanged. */
  grant: Grant | null;
}

/** New tokens and, if an ID Token is among them, its identity. */
export interface Refreshed {
  /** The provider's tokens, for the backend only. Assay does not store them. */
  grant: Grant;
  /** null if the provider returned no ID Token, or if it could not be verified. */
  identity: Identity | null;
  /** null if identity is. */
  token: Token | null;
  /** null if identity is. */
  keys: Keys | null;
  /** Only with include_claims: the token's Claims Set, as its original JSON text, so that no number is rounded. */
  claims: Record<string, unknown> | null;
  /** keys_unavailable if the provider returned an ID Token, but Assay has no keys to verify it. The grant is still valid. */
  problem: Problem | null;
}

/** Where to send the browser. */
export interface SignOut {
  /** null if it would have over 2,000 characters, or the hint came encrypted. */
  logout_url: string | null;
  /** The provider's end_session_endpoint. */
  endpoint: string;
  /** The fields of a form that posts to endpoint; without those that have no value. */
  parameters: Record<string, string>;
  /** What the browser comes back with; null without post_logout_redirect_uri. */
  state: string | null;
}

/** A DPoP proof. */
export interface Proof {
  /** The value of the header DPoP, for one call. */
  dpop: string;
}

/** A verified access token. */
export interface VerifiedAccessToken {
  /** null for an opaque token if the provider does not say whose it is. */
  identity: Identity | null;
  /** Other claims of the access token, all verified. */
  token: AccessToken;
  /** What the access token grants. */
  authorization: Authorization;
  /** null for an opaque token, unless the provider's answer was signed. */
  keys: Keys | null;
  /** Only for an opaque token, how old the provider's answer is. */
  introspection: Introspection | null;
  /** Only with include_claims: the token's Claims Set, or the provider's answer about an opaque token, as its original JSON text, so that no number is rounded. */
  claims: Record<string, unknown> | null;
  /** Only in responses of POST /v1/access-tokens/verify, and only where the settings have nonce: required for the call's DPoP proofs: for all, for its resource or for the token's provider (any of the resource's, if that is not known). Send it to the client in the header DPoP-Nonce: its next proof must have it. A nonce lives five minutes. */
  dpop_nonce: string | null;
}

/** A verified notification. */
export interface VerifiedNotification {
  /** Who sent it. */
  notification: Notification;
  events: Event[];
  /** The source and age of the keys that verified the signature. */
  keys: Keys;
}

/** A DPoP proof of a request (RFC 9449). */
export interface Dpop {
  /** The value of the request's one header DPoP, at most 8 KiB. If it has several, refuse it yourself. */
  proof: string;
  /** The request's method. */
  method: string;
  /** The URL that the client called: https, or http for a loopback host. Its query and fragment are ignored. */
  url: string;
  /** The scheme of the request's Authorization, in any case: DPoP, or else the token is refused as binding_required. */
  scheme: string;
}

export interface BeginOptions {
  /** Client ID that the token must be issued to. Default: the provider's first audience, or with redirect_uri the first client that lists it. With connection, the client ID at the connection's issuer, which is required. */
  audience?: string;
  /** Maximum age of the user's authentication, in seconds, when the sign-in begins. It is taken from auth_time. A native token without auth_time is judged by iat, which is always recent: to prove re-authentication, also list auth_time in the provider's required_claims. In the browser, auth_time is required (claim_missing). */
  max_age?: number;
  /** The identity.subject of the only user who can finish it (subject_mismatch). It must not be null. */
  subject?: string;
  /** With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an issuer for each tenant, because subjects are unique only per issuer. It must not be null. */
  issuer?: string;
  /** The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it together with issuer and audience, all three as the backend's database has them. It comes back as identity.connection. */
  connection?: string;
  /** Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must not be null. */
  claim_values?: Record<string, unknown>;
  /** The domains that this connection may speak for, because the backend has proved that they are this customer's. email_trust is unverified for addresses in all others. Only together with connection. */
  email_domains?: string[];
  /** At most 512 bytes that the finish returns, such as where to continue. Assay does not validate it: check a return URL before you begin. */
  context?: string;
  /** Lifetime of the sign-in, in seconds. */
  expires_in?: number;
}

export interface BeginBrowserOptions {
  /** Client ID that the token must be issued to. Default: the provider's first audience, or with redirect_uri the first client that lists it. With connection, the client ID at the connection's issuer, which is required. */
  audience?: string;
  /** Only together with redirect_uri: the scopes to request. openid is added, except at Apple. Default: the client's scopes. It must not be null. */
  scopes?: string[];
  /** Only together with redirect_uri; a parameter of the authorization URL. */
  prompt?: string;
  /** Only together with redirect_uri; a parameter of the authorization URL. */
  login_hint?: string;
  /** Only together with redirect_uri; a parameter of the authorization URL. */
  ui_locales?: string;
  /** Only together with redirect_uri; a parameter of the authorization URL. */
  acr_values?: string;
  /** Whether the token's acr must be one of acr_values, which are then required (acr_mismatch). */
  require_acr?: boolean;
  /** Only together with redirect_uri: at most 4096 bytes, sent to the provider as they are (OpenID Connect Core, section 5.5). An essential acr in id_token with value or values is checked at the finish (acr_mismatch), and an essential auth_time must be there (claim_missing). */
  claims?: Record<string, unknown>;
  /** Only together with redirect_uri: what the access token is for (RFC 8707), together at most 512 bytes. The token endpoint is told too. */
  resource?: string[];
  /** Only together with redirect_uri: an ID Token of the user, which may have expired. It is verified first, and sent to the provider; only this user can finish the sign-in (subject_mismatch). If it came encrypted, the client's requests must be pushed. */
  id_token_hint?: string;
  /** Only together with redirect_uri; a parameter of the authorization URL. Apple posts its response (form_post) if scopes are requested; so does a provider whose client has response_type: code id_token. With jwt, query.jwt and form_post.jwt, the response must be signed (JARM); otherwise it is response_invalid. One of: query, form_post, jwt, query.jwt, form_post.jwt. */
  response_mode?: string;
  /** Maximum age of the user's authentication, in seconds, when the sign-in begins. It is taken from auth_time. A native token without auth_time is judged by iat, which is always recent: to prove re-authentication, also list auth_time in the provider's required_claims. In the browser, auth_time is required (claim_missing). */
  max_age?: number;
  /** The identity.subject of the only user who can finish it (subject_mismatch). It must not be null. */
  subject?: string;
  /** With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an issuer for each tenant, because subjects are unique only per issuer. It must not be null. */
  issuer?: string;
  /** The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it together with issuer and audience, all three as the backend's database has them. It comes back as identity.connection. */
  connection?: string;
  /** How the client of the connection authenticates to its provider: required for calls to the provider's endpoints if the request names a connection, or the sign-in began with one; its ID is the connection's audience. Nothing keeps the secret after the request. */
  client?: Record<string, unknown>;
  /** Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must not be null. */
  claim_values?: Record<string, unknown>;
  /** The domains that this connection may speak for, because the backend has proved that they are this customer's. email_trust is unverified for addresses in all others. Only together with connection. */
  email_domains?: string[];
  /** At most 512 bytes that the finish returns, such as where to continue. Assay does not validate it: check a return URL before you begin. */
  context?: string;
  /** Lifetime of the sign-in, in seconds. */
  expires_in?: number;
}

export interface FinishOptions {
  /** The authorization code that the app got. It is exchanged if the audience has a client; otherwise it is only compared with c_hash. */
  code?: string;
  /** The access token that came with the ID Token, to be checked against at_hash. Only together with id_token. */
  access_token?: string;
  /** In the browser: the address that received the response, which must be the one that the sign-in began with. Native: the redirect URI, if any, that the SDK got the code with. The client must list it; it is sent with the code. Required with response and connection. */
  redirect_uri?: string;
  /** Required if the sign-in began with a connection, and refused otherwise: the same one, as the backend's session for this browser or app has it. If it is another, the answer is sign_in_invalid, and nothing is sent to a provider: the browser may have swapped sign_in. */
  connection?: string;
  /** How the client of the connection authenticates to its provider: required for calls to the provider's endpoints if the request names a connection, or the sign-in began with one; its ID is the connection's audience. Nothing keeps the secret after the request. */
  client?: Record<string, unknown>;
  /** The object user that Apple sent with the token; null at every sign-in but the first. */
  user?: Record<string, unknown>;
  /** Whether the response includes the token's raw claims, as claims. */
  include_claims?: boolean;
}

export interface FinishBrowserOptions {
  /** Required if the sign-in began with a connection, and refused otherwise: the same one, as the backend's session for this browser or app has it. If it is another, the answer is sign_in_invalid, and nothing is sent to a provider: the browser may have swapped sign_in. */
  connection?: string;
  /** How the client of the connection authenticates to its provider: required for calls to the provider's endpoints if the request names a connection, or the sign-in began with one; its ID is the connection's audience. Nothing keeps the secret after the request. */
  client?: Record<string, unknown>;
  /** Whether the response includes the token's raw claims, as claims. */
  include_claims?: boolean;
}

export interface RefreshOptions {
  /** The latest grant.binding of the grant that the token belongs to. Required if the client has sender_constraint: dpop (not beside code). */
  binding?: string;
  /** With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an issuer for each tenant, because subjects are unique only per issuer. It must not be null. */
  issuer?: string;
  /** The client that the token was issued to. Required if the provider has several clients. */
  audience?: string;
  /** The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it together with issuer and audience, all three as the backend's database has them. It comes back as identity.connection. */
  connection?: string;
  /** Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must not be null. */
  claim_values?: Record<string, unknown>;
  /** The domains that this connection may speak for, because the backend has proved that they are this customer's. email_trust is unverified for addresses in all others. Only together with connection. */
  email_domains?: string[];
  /** How the client of the connection authenticates to its provider: required for calls to the provider's endpoints if the request names a connection, or the sign-in began with one; its ID is the connection's audience. Nothing keeps the secret after the request. */
  client?: Record<string, unknown>;
  /** The scopes to request, a subset of those granted. If absent, all of them. */
  scopes?: string[];
  /** Whether the response includes the ID Token's raw claims, as claims. */
  include_claims?: boolean;
}

export interface RevokeOptions {
  /** The type of token. Only together with token. One of: refresh_token, access_token. */
  token_type_hint?: string;
  /** The latest grant.binding of the grant that the token belongs to. Required if the client has sender_constraint: dpop (not beside code). */
  binding?: string;
  /** The client that it was issued to. Required if the provider has several clients. */
  audience?: string;
  /** With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an issuer for each tenant, because subjects are unique only per issuer. It must not be null. */
  issuer?: string;
  /** The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it together with issuer and audience, all three as the backend's database has them. It comes back as identity.connection. */
  connection?: string;
  /** Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must not be null. */
  claim_values?: Record<string, unknown>;
  /** The domains that this connection may speak for, because the backend has proved that they are this customer's. email_trust is unverified for addresses in all others. Only together with connection. */
  email_domains?: string[];
  /** How the client of the connection authenticates to its provider: required for calls to the provider's endpoints if the request names a connection, or the sign-in began with one; its ID is the connection's audience. Nothing keeps the secret after the request. */
  client?: Record<string, unknown>;
}

export interface RevokeCodeOptions {
  /** The client that it was issued to. Required if the provider has several clients. */
  audience?: string;
  /** The redirect URI, if any, that the app's SDK got the code with. Only together with code. */
  redirect_uri?: string;
  /** The user to whom the code must belong. Only together with code. */
  subject?: string;
  /** With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an issuer for each tenant, because subjects are unique only per issuer. It must not be null. */
  issuer?: string;
  /** The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it together with issuer and audience, all three as the backend's database has them. It comes back as identity.connection. */
  connection?: string;
  /** Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must not be null. */
  claim_values?: Record<string, unknown>;
  /** The domains that this connection may speak for, because the backend has proved that they are this customer's. email_trust is unverified for addresses in all others. Only together with connection. */
  email_domains?: string[];
  /** How the client of the connection authenticates to its provider: required for calls to the provider's endpoints if the request names a connection, or the sign-in began with one; its ID is the connection's audience. Nothing keeps the secret after the request. */
  client?: Record<string, unknown>;
}

export interface VerifyOptions {
  /** The id of a configured provider. If absent, the token's unverified iss selects the provider. */
  provider?: string;
  /** The client ID of this sign-in. Only this one of the provider's audiences is then accepted. It must be one of them (audience_not_configured). With connection, the client ID at the connection's issuer, which is required. */
  audience?: string;
  /** The maximum number of seconds since the user last authenticated, for re-authentication. Compared with auth_time, or with iat if the token has no auth_time. iat is always recent: to prove re-authentication, also list auth_time in the provider's required_claims. Written without a fraction or an exponent. */
  max_age?: number;
  /** When this user's sessions were last revoked, as Unix time in seconds. If the user authenticated before that (auth_time, or iat if the token has none), the token is refused with session_revoked. Store one such time for each user to end all of their sessions at once. The clock skew is not applied. It must not be null. */
  authenticated_after?: number;
  /** For re-authentication and linking: the identity.subject of the expected user. A token of any other user is refused with subject_mismatch, as the last check. It must not be null. */
  subject?: string;
  /** With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an issuer for each tenant, because subjects are unique only per issuer. It must not be null. */
  issuer?: string;
  /** The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it together with issuer and audience, all three as the backend's database has them. It comes back as identity.connection. */
  connection?: string;
  /** Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must not be null. */
  claim_values?: Record<string, unknown>;
  /** The domains that this connection may speak for, because the backend has proved that they are this customer's. email_trust is unverified for addresses in all others. Only together with connection. */
  email_domains?: string[];
  /** The access token that was issued with the ID Token; checked against at_hash. */
  access_token?: string;
  /** The authorization code that was issued with the ID Token; checked against c_hash. */
  code?: string;
  /** The object user that Apple sent with the token; null at every sign-in but the first. */
  user?: Record<string, unknown>;
  /** Whether the response includes the token's raw claims, as claims. */
  include_claims?: boolean;
}

export interface AccessTokenOptions {
  /** The id of the resource that the token must be for, instead of provider and audience. It must not be null. */
  resource?: string;
  /** The id of a provider with tokens: access or tokens: opaque. If absent, the token's issuer selects it; an opaque token names none. */
  provider?: string;
  /** The only audience to accept, one of the provider's audiences. */
  audience?: string;
  /** The identity.subject of the only user or machine to accept (subject_mismatch). It must not be null. */
  subject?: string;
  /** With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an issuer for each tenant, because subjects are unique only per issuer. It must not be null. */
  issuer?: string;
  /** When this user's sessions were last revoked, as Unix time in seconds. If the user authenticated before that (auth_time, or iat if the token has none), the token is refused with session_revoked. Store one such time for each user to end all of their sessions at once. The clock skew is not applied. It must not be null. */
  authenticated_after?: number;
  /** The scopes that the call needs. The token must grant them all (scope_missing). It must not be null. */
  scopes?: string[];
  /** Whether the response includes the token's raw claims, as claims. */
  include_claims?: boolean;
  /** The client's certificate of the TLS connection, for a token that is bound to it (cnf with x5t#S256): in PEM, which may be percent-encoded, or as base64 of its DER; or its SHA-256 in 43 characters of base64url. null and an empty string mean that there is none. */
  certificate?: string;
  /** The request's DPoP proof, for a token that is bound to the key of such proofs (cnf with jkt). Only with the setting dpop. null and an empty string mean that there is none. */
  dpop?: Dpop;
}

export interface NotificationOptions {
  /** The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it together with issuer and audience, all three as the backend's database has them. It comes back as identity.connection. */
  connection?: string;
  /** Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must not be null. */
  claim_values?: Record<string, unknown>;
  /** The domains that this connection may speak for, because the backend has proved that they are this customer's. email_trust is unverified for addresses in all others. Only together with connection. */
  email_domains?: string[];
  /** With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an issuer for each tenant, because subjects are unique only per issuer. It must not be null. */
  issuer?: string;
  /** With connection, the client ID at the connection's issuer. */
  audience?: string;
}

export interface SignOutOptions {
  /** The client that the user signed in to. Default: the first client that lists post_logout_redirect_uri, or else the provider's first client. */
  audience?: string;
  /** The ID Token of the sign-in, which may be encrypted or have expired. */
  id_token_hint?: string;
  /** Where the browser comes back to: one of the client's post_logout_redirect_uris, byte for byte (redirect_uri_not_configured). */
  post_logout_redirect_uri?: string;
  /** Names the user in the provider's form, such as Microsoft's claim login_hint. */
  logout_hint?: string;
  /** Languages of the provider's page, separated by spaces. */
  ui_locales?: string;
  /** With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an issuer for each tenant, because subjects are unique only per issuer. It must not be null. */
  issuer?: string;
  /** The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it together with issuer and audience, all three as the backend's database has them. It comes back as identity.connection. */
  connection?: string;
  /** Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must not be null. */
  claim_values?: Record<string, unknown>;
  /** The domains that this connection may speak for, because the backend has proved that they are this customer's. email_trust is unverified for addresses in all others. Only together with connection. */
  email_domains?: string[];
}

export interface ProofOptions {
  /** The client that the grant must be of; the binding's own by default. */
  audience?: string;
  /** The nonce that the API demands: the value of DPoP-Nonce. */
  nonce?: string;
}

/** What went wrong. Assay may add codes. */
export type ProblemCode =
  | "request_invalid"
  | "audience_not_configured"
  | "client_not_configured"
  | "redirect_uri_not_configured"
  | "sign_in_not_supported"
  | "revocation_not_supported"
  | "sign_out_not_supported"
  | "notifications_not_configured"
  | "url_not_allowed"
  | "caller_unauthenticated"
  | "caller_forbidden"
  | "not_found"
  | "provider_unknown"
  | "resource_unknown"
  | "method_not_allowed"
  | "request_timeout"
  | "request_too_large"
  | "content_type_unsupported"
  | "token_malformed"
  | "decryption_failed"
  | "encryption_required"
  | "header_unsupported"
  | "algorithm_not_allowed"
  | "key_not_found"
  | "key_unsuitable"
  | "signature_invalid"
  | "issuer_mismatch"
  | "audience_mismatch"
  | "authorized_party_mismatch"
  | "token_expired"
  | "token_not_yet_valid"
  | "token_too_old"
  | "auth_time_too_old"
  | "session_revoked"
  | "claim_missing"
  | "claim_invalid"
  | "groups_overage"
  | "nonce_required"
  | "nonce_missing"
  | "nonce_mismatch"
  | "at_hash_missing"
  | "at_hash_mismatch"
  | "c_hash_missing"
  | "c_hash_mismatch"
  | "subject_mismatch"
  | "scope_missing"
  | "token_inactive"
  | "binding_required"
  | "binding_missing"
  | "binding_mismatch"
  | "dpop_proof_invalid"
  | "dpop_nonce_required"
  | "dpop_proof_replayed"
  | "token_missing"
  | "nonce_replayed"
  | "binding_invalid"
  | "sign_in_invalid"
  | "sign_in_expired"
  | "sign_in_replayed"
  | "state_mismatch"
  | "redirect_uri_mismatch"
  | "response_issuer_mismatch"
  | "response_invalid"
  | "acr_mismatch"
  | "sign_in_denied"
  | "grant_invalid"
  | "provider_refused"
  | "headers_too_large"
  | "internal"
  | "client_rejected"
  | "provider_answer_invalid"
  | "provider_unavailable"
  | "keys_unavailable"
  | "request_unknown"
  | "store_unavailable"
  | "overloaded"
  | "shutting_down"
  | (string & {});

/** Every code that this version knows. */
export const problemCodes: readonly ProblemCode[] = [
  "request_invalid",
  "audience_not_configured",
  "client_not_configured",
  "redirect_uri_not_configured",
  "sign_in_not_supported",
  "revocation_not_supported",
  "sign_out_not_supported",
  "notifications_not_configured",
  "url_not_allowed",
  "caller_unauthenticated",
  "caller_forbidden",
  "not_found",
  "provider_unknown",
  "resource_unknown",
  "method_not_allowed",
  "request_timeout",
  "request_too_large",
  "content_type_unsupported",
  "token_malformed",
  "decryption_failed",
  "encryption_required",
  "header_unsupported",
  "algorithm_not_allowed",
  "key_not_found",
  "key_unsuitable",
  "signature_invalid",
  "issuer_mismatch",
  "audience_mismatch",
  "authorized_party_mismatch",
  "token_expired",
  "token_not_yet_valid",
  "token_too_old",
  "auth_time_too_old",
  "session_revoked",
  "claim_missing",
  "claim_invalid",
  "groups_overage",
  "nonce_required",
  "nonce_missing",
  "nonce_mismatch",
  "at_hash_missing",
  "at_hash_mismatch",
  "c_hash_missing",
  "c_hash_mismatch",
  "subject_mismatch",
  "scope_missing",
  "token_inactive",
  "binding_required",
  "binding_missing",
  "binding_mismatch",
  "dpop_proof_invalid",
  "dpop_nonce_required",
  "dpop_proof_replayed",
  "token_missing",
  "nonce_replayed",
  "binding_invalid",
  "sign_in_invalid",
  "sign_in_expired",
  "sign_in_replayed",
  "state_mismatch",
  "redirect_uri_mismatch",
  "response_issuer_mismatch",
  "response_invalid",
  "acr_mismatch",
  "sign_in_denied",
  "grant_invalid",
  "provider_refused",
  "headers_too_large",
  "internal",
  "client_rejected",
  "provider_answer_invalid",
  "provider_unavailable",
  "keys_unavailable",
  "request_unknown",
  "store_unavailable",
  "overloaded",
  "shutting_down",
];

/** The kind of each member; `?` if it may be null or absent. For reading answers. */
export const shapes: Record<string, Record<string, string>> = {
  "Identity": {
    "provider": "string",
    "issuer": "string",
    "subject": "string",
    "email": "string?",
    "email_verified": "boolean?",
    "email_trust": "string?",
    "is_private_email": "boolean?",
    "name": "string?",
    "given_name": "string?",
    "family_name": "string?",
    "name_source": "string?",
    "preferred_username": "string?",
    "picture": "string?",
    "locale": "string?",
    "real_user_status": "string?",
    "transfer_subject": "string?",
    "tenant": "string?",
    "hosted_domain": "string?",
    "connection": "string?"
  },
  "Encryption": {
    "algorithm": "string",
    "content": "string",
    "key_id": "string?"
  },
  "Token": {
    "audience": "strings",
    "authorized_party": "string?",
    "issued_at": "integer",
    "expires_at": "integer",
    "not_before": "integer?",
    "auth_time": "integer?",
    "token_id": "string?",
    "session_id": "string?",
    "acr": "string?",
    "amr": "strings",
    "algorithm": "string",
    "key_id": "string?",
    "nonce_match": "string?",
    "encryption": "Encryption?"
  },
  "AccessToken": {
    "audience": "strings",
    "authorized_party": "string?",
    "issued_at": "integer?",
    "expires_at": "integer?",
    "not_before": "integer?",
    "auth_time": "integer?",
    "token_id": "string?",
    "session_id": "string?",
    "acr": "string?",
    "amr": "strings",
    "algorithm": "string?",
    "key_id": "string?",
    "nonce_match": "string?"
  },
  "Binding": {
    "method": "string",
    "thumbprint": "string?"
  },
  "Authorization": {
    "client_id": "string?",
    "scopes": "strings",
    "roles": "strings",
    "groups": "strings?",
    "entitlements": "strings",
    "binding": "Binding?"
  },
  "Introspection": {
    "cached": "boolean",
    "age_seconds": "integer"
  },
  "Keys": {
    "source": "string",
    "age_seconds": "integer",
    "stale": "boolean"
  },
  "Grant": {
    "access_token": "string",
    "token_type": "string?",
    "expires_at": "integer?",
    "refresh_token": "string?",
    "scopes": "strings?",
    "id_token": "string?",
    "binding": "string?"
  },
  "Event": {
    "type": "string",
    "subject": "string?",
    "session_id": "string?",
    "email": "string?",
    "is_private_email": "boolean?",
    "occurred_at": "integer?",
    "reason": "string?",
    "data": "object"
  },
  "Notification": {
    "provider": "string",
    "issuer": "string",
    "kind": "string",
    "id": "string",
    "issued_at": "integer"
  },
  "Problem": {
    "title": "string",
    "status": "integer",
    "detail": "string",
    "code": "string"
  },
  "Challenge": {
    "status": "integer",
    "www_authenticate": "string"
  },
  "BegunSignIn": {
    "sign_in": "string",
    "nonce": "string",
    "nonce_sha256": "string",
    "expires_at": "integer"
  },
  "BegunBrowserSignIn": {
    "sign_in": "string",
    "state": "string",
    "authorization_url": "string",
    "expires_at": "integer",
    "request_expires_at": "integer?"
  },
  "Verified": {
    "identity": "Identity",
    "token": "Token",
    "keys": "Keys",
    "claims": "object?"
  },
  "FinishedSignIn": {
    "identity": "Identity",
    "token": "Token",
    "keys": "Keys",
    "claims": "object?",
    "context": "string?",
    "unverified_claims": "strings?",
    "grant": "Grant?"
  },
  "Refreshed": {
    "grant": "Grant",
    "identity": "Identity?",
    "token": "Token?",
    "keys": "Keys?",
    "claims": "object?",
    "problem": "Problem?"
  },
  "SignOut": {
    "logout_url": "string?",
    "endpoint": "string",
    "parameters": "texts",
    "state": "string?"
  },
  "Proof": {
    "dpop": "string"
  },
  "VerifiedAccessToken": {
    "identity": "Identity?",
    "token": "AccessToken",
    "authorization": "Authorization",
    "keys": "Keys?",
    "introspection": "Introspection?",
    "claims": "object?",
    "dpop_nonce": "string?"
  },
  "VerifiedNotification": {
    "notification": "Notification",
    "events": "[Event]",
    "keys": "Keys"
  }
};

/** What a fake client answers, by call: the examples of the contract. */
export const examples = "{\"resource_metadata\":{\"resource\":\"https://mcp.example.com/mcp\",\"authorization_servers\":[\"https://auth.example.com\"],\"bearer_methods_supported\":[\"header\"],\"resource_name\":\"Tools\",\"scopes_supported\":[\"mcp:tools\"]},\"begin\":{\"sign_in\":\"AUf5Wc1Jk0xQnJgq0m3c2n8bQ1yPq6T0bXb5uQm7y3k9w0Yd1N2mJk4hQ0Zb8sVtR6e2c1oXfLrA5iUj7pKd3gHnTwEz\",\"nonce\":\"mE7q2vYc9KpT4sWx1ZbN6hRj8LdFg3Qa\",\"nonce_sha256\":\"2fa2d26d37a48bf22be86a7754df9749e11609aca24a3840b8e0076a39ce9846\",\"state\":null,\"authorization_url\":null,\"expires_at\":1763716920},\"begin_in_browser\":{\"sign_in\":\"AkRvu7pXc1mJ0sQ9bZtYw2dLhN6gK4eT8xVfC3iUaMoPqSr5WnEyBzDjHl0_7c2f1Jk0xQnJgq0m3c2n8bQ1yPq6T0bXb5uQm7y3k9w0Yd1N2mJk4hQ0\",\"nonce\":\"Qn5pVhT2rK8sXw1eYj6uLgM3bZc7DfA9\",\"state\":\"k3JvN8pQ2sXw7RzT1bYcUg\",\"expires_at\":1763716920,\"nonce_sha256\":\"2398d9779382c92a1081e7f080bf50cdab59ab70fc0d7465f1d835e77e09c9c2\",\"authorization_url\":\"https://accounts.google.com/o/oauth2/v2/auth?response_type=code&client_id=1045-web.apps.example.com&redirect_uri=https%3A%2F%2Fexample.com%2Fcallback%2Fgoogle&scope=openid%20email%20profile&state=k3JvN8pQ2sXw7RzT1bYcUg&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&nonce=Qn5pVhT2rK8sXw1eYj6uLgM3bZc7DfA9\"},\"finish\":{\"identity\":{\"provider\":\"google\",\"issuer\":\"https://accounts.google.com\",\"subject\":\"110248495921238986420\",\"email\":\"ada@example.com\",\"email_verified\":true,\"email_trust\":\"authoritative\",\"is_private_email\":null,\"name\":\"Ada Lovelace\",\"given_name\":\"Ada\",\"family_name\":\"Lovelace\",\"name_source\":\"token\",\"preferred_username\":null,\"picture\":\"https://images.example.com/ada.png\",\"locale\":null,\"real_user_status\":null,\"transfer_subject\":null,\"tenant\":null,\"hosted_domain\":\"example.com\"},\"token\":{\"audience\":[\"1045-web.apps.example.com\"],\"authorized_party\":\"1045-web.apps.example.com\",\"issued_at\":1763716320,\"expires_at\":1763719920,\"not_before\":null,\"auth_time\":null,\"token_id\":\"3f0c5a9e7d\",\"session_id\":null,\"acr\":null,\"amr\":[],\"algorithm\":\"RS256\",\"key_id\":\"5b3706960e3e60024a2655e78cfa63f87c97d309\",\"nonce_match\":\"plain\"},\"keys\":{\"source\":\"network\",\"age_seconds\":4,\"stale\":false},\"context\":\"/basket\",\"grant\":null},\"finish_in_browser\":{\"identity\":{\"provider\":\"google\",\"issuer\":\"https://accounts.google.com\",\"subject\":\"110248495921238986420\",\"email\":\"ada@example.com\",\"email_verified\":true,\"email_trust\":\"authoritative\",\"is_private_email\":null,\"name\":\"Ada Lovelace\",\"given_name\":\"Ada\",\"family_name\":\"Lovelace\",\"name_source\":\"token\",\"preferred_username\":null,\"picture\":\"https://images.example.com/ada.png\",\"locale\":null,\"real_user_status\":null,\"transfer_subject\":null,\"tenant\":null,\"hosted_domain\":\"example.com\"},\"token\":{\"audience\":[\"1045-web.apps.example.com\"],\"authorized_party\":\"1045-web.apps.example.com\",\"issued_at\":1763716320,\"expires_at\":1763719920,\"not_before\":null,\"auth_time\":null,\"token_id\":\"3f0c5a9e7d\",\"session_id\":null,\"acr\":null,\"amr\":[],\"algorithm\":\"RS256\",\"key_id\":\"5b3706960e3e60024a2655e78cfa63f87c97d309\",\"nonce_match\":\"plain\"},\"keys\":{\"source\":\"network\",\"age_seconds\":4,\"stale\":false},\"context\":\"/basket\",\"grant\":{\"access_token\":\"ya29.a0AcM612xRfX4s\",\"token_type\":\"Bearer\",\"expires_at\":1763719920,\"refresh_token\":\"1//0gLrV2kQx9wY7nT\",\"scopes\":[\"openid\",\"email\",\"profile\"],\"id_token\":\"eyJ.example.token\"}},\"refresh\":{\"grant\":{\"access_token\":\"a9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b4.0.mtyqz.Qn5pVhT2rK8sXw1eYj6uLg\",\"token_type\":\"Bearer\",\"expires_at\":1763719920,\"refresh_token\":null,\"scopes\":null,\"id_token\":null},\"identity\":null,\"token\":null,\"keys\":null,\"problem\":null},\"verify\":{\"identity\":{\"provider\":\"apple\",\"issuer\":\"https://appleid.apple.com\",\"subject\":\"001234.5e7fd0c1a2b3498c8d6e0f1a2b3c4d5e.0219\",\"email\":\"dpdcnf87nu@privaterelay.appleid.com\",\"email_verified\":true,\"email_trust\":\"authoritative\",\"is_private_email\":true,\"name\":\"Ada Lovelace\",\"given_name\":\"Ada\",\"family_name\":\"Lovelace\",\"name_source\":\"client\",\"preferred_username\":null,\"picture\":null,\"locale\":null,\"real_user_status\":\"likely_real\",\"transfer_subject\":null,\"tenant\":null,\"hosted_domain\":null},\"token\":{\"audience\":[\"com.example.app\"],\"authorized_party\":null,\"issued_at\":1763716320,\"expires_at\":1763802720,\"not_before\":null,\"auth_time\":1763716320,\"token_id\":null,\"session_id\":null,\"acr\":null,\"amr\":[],\"algorithm\":\"RS256\",\"key_id\":\"Ey3tWUrUrC\",\"nonce_match\":\"sha256_hex\"},\"keys\":{\"source\":\"network\",\"age_seconds\":312,\"stale\":false}},\"verify_notification\":{\"notification\":{\"provider\":\"apple\",\"issuer\":\"https://appleid.apple.com\",\"kind\":\"apple\",\"id\":\"uC3oPbPDeZ8Zx0v2f8hYAg\",\"issued_at\":1763716320},\"events\":[{\"type\":\"email_relay_disabled\",\"subject\":\"001234.5e7fd0c1a2b3498c8d6e0f1a2b3c4d5e.0219\",\"session_id\":null,\"email\":\"dpdcnf87nu@privaterelay.appleid.com\",\"is_private_email\":true,\"occurred_at\":1763716299,\"reason\":null,\"data\":{}}],\"keys\":{\"source\":\"network\",\"age_seconds\":4,\"stale\":false}},\"verify_access_token\":{\"identity\":{\"provider\":\"api\",\"issuer\":\"https://login.example.com/\",\"subject\":\"5ba552d67\",\"email\":null,\"email_verified\":null,\"email_trust\":null,\"is_private_email\":null,\"name\":null,\"given_name\":null,\"family_name\":null,\"name_source\":null,\"preferred_username\":null,\"picture\":null,\"locale\":null,\"real_user_status\":null,\"transfer_subject\":null,\"tenant\":null,\"hosted_domain\":null},\"token\":{\"audience\":[\"https://api.example.com/\"],\"authorized_party\":null,\"issued_at\":1763716320,\"expires_at\":1763719920,\"not_before\":null,\"auth_time\":null,\"token_id\":\"dbe39bf3a3ba4238\",\"session_id\":null,\"acr\":null,\"amr\":[],\"algorithm\":\"RS256\",\"key_id\":\"api-2025\",\"nonce_match\":null},\"authorization\":{\"client_id\":\"s6BhdRkqt3\",\"scopes\":[\"orders:read\",\"orders:write\"],\"roles\":[],\"groups\":[\"staff\"],\"entitlements\":[],\"binding\":null},\"keys\":{\"source\":\"network\",\"age_seconds\":4,\"stale\":false}},\"sign_out\":{\"logout_url\":\"https://login.acme.example/logout?client_id=1045-web&post_logout_redirect_uri=https%3A%2F%2Fexample.com%2Fsigned-out&state=k3JvN8pQ2sXw7RzT1bYcUg\",\"endpoint\":\"https://login.acme.example/logout\",\"parameters\":{\"client_id\":\"1045-web\",\"post_logout_redirect_uri\":\"https://example.com/signed-out\",\"state\":\"k3JvN8pQ2sXw7RzT1bYcUg\"},\"state\":\"k3JvN8pQ2sXw7RzT1bYcUg\"},\"proof\":{\"dpop\":\"eyJ.example.token\"}}";
