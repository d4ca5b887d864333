# frozen_string_literal: true

# Generated from openapi.yaml by clients/generate.py: do not edit.

class Assay

  # The user who signed in, in the same form for every provider. Store users under (issuer, subject), never under
  # email.
  # - provider: The provider's id in the settings.
  # - issuer: The provider's canonical issuer, even if the token has one of issuer_aliases. If the issuer
  # differs by tenant, the tenant's issuer.
  # - subject: The claim sub. It identifies the user at this issuer; compare it byte for byte.
  # - email: One email address, as in the token. It may change, and may be reassigned to another user.
  # - email_verified: Whether the provider states that it verified the address; null if it does not say, or if
  # the claim is not an address.
  # - email_trust: How far the address can be trusted. Link accounts by address only if it is authoritative. One
  # of: authoritative, verified, unverified.
  # - is_private_email: Whether the address is a relay that hides the user's own: the provider states it, or the
  # address is in one of private_email_domains, such as Apple's relay domains. null if there is no address, or
  # if a provider without such domains does not say.
  # - name: The full name.
  # - given_name: The given name.
  # - family_name: The family name.
  # - name_source: The source of the names: the signed token, the client with the request's unsigned user, or,
  # only in a finish with the setting user_info, the provider's endpoint. null if there are no names. One of:
  # token, client, user_info.
  # - preferred_username: The user's name at the provider; not unique.
  # - picture: The claim picture, or the one that identity in the settings names. Assay does not vet the URL.
  # - locale: The claim locale, or the one that identity in the settings names.
  # - real_user_status: Apple's estimate of whether the user is a person; null for other providers, and if Apple
  # does not say. One of: unsupported, unknown, likely_real.
  # - transfer_subject: Apple's transfer_sub, which identifies a user after an app was transferred to another
  # team; null for other providers, unless identity in the settings names a claim.
  # - tenant: The organization that the user belongs to at the provider, such as Microsoft's tid.
  # - hosted_domain: Google's hd; null for other providers, unless identity in the settings names a claim.
  # - connection: The request's connection; only for a provider with issuers: any. Store its users under
  # (connection, issuer, subject): two customers may name the same issuer.
  Identity = Struct.new(:provider, :issuer, :subject, :email, :email_verified, :email_trust, :is_private_email,
    :name, :given_name, :family_name, :name_source, :preferred_username, :picture, :locale, :real_user_status,
    :transfer_subject, :tenant, :hosted_domain, :connection, keyword_init: true)
  Identity.extend(Model)
  Identity.include(Printed)
  Identity.describe({ provider: "string", issuer: "string", subject: "string", email: "string?", email_verified:
    "boolean?", email_trust: "string?", is_private_email: "boolean?", name: "string?", given_name: "string?",
    family_name: "string?", name_source: "string?", preferred_username: "string?", picture: "string?", locale:
    "string?", real_user_status: "string?", transfer_subject: "string?", tenant: "string?", hosted_domain:
    "string?", connection: "string?" }, [])

  # How the token was encrypted; only if it was. The other members are those of the signed token inside.
  # - algorithm: The outer header's alg. One of: ECDH-ES, ECDH-ES+A128KW, ECDH-ES+A192KW, ECDH-ES+A256KW, RSA-
  # OAEP, RSA-OAEP-256.
  # - content: The outer header's enc. One of: A128GCM, A192GCM, A256GCM, A128CBC-HS256, A192CBC-HS384, A256CBC-
  # HS512.
  # - key_id: The outer header's kid.
  Encryption = Struct.new(:algorithm, :content, :key_id, keyword_init: true)
  Encryption.extend(Model)
  Encryption.include(Printed)
  Encryption.describe({ algorithm: "string", content: "string", key_id: "string?" }, [])

  # Other claims of the token, all verified.
  # - audience: The claim aud, always as a list; empty only for a provider with audiences: none and
  # authorized_parties, and for an AWS load balancer.
  # - authorized_party: The claim azp.
  # - issued_at: The claim iat.
  # - expires_at: The claim exp.
  # - not_before: The claim nbf.
  # - auth_time: The claim auth_time; 0 is a time, and does not mean absence.
  # - token_id: The claim jti.
  # - session_id: The claim sid.
  # - acr: The claim acr: how strong the authentication was.
  # - amr: The claim amr: the methods of authentication.
  # - algorithm: The algorithm of the signature. One of: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384,
  # ES512, EdDSA, Ed25519, Ed448.
  # - key_id: The header's kid.
  # - nonce_match: How the token's nonce matched the raw one: by its lower-case hexadecimal SHA-256, by its
  # base64url SHA-256, or exactly. null if no nonce was checked. One of: sha256_hex, sha256_base64url, plain.
  # - encryption: How the token was encrypted; only if it was. The other members are those of the signed token
  # inside.
  Token = Struct.new(:audience, :authorized_party, :issued_at, :expires_at, :not_before, :auth_time, :token_id,
    :session_id, :acr, :amr, :algorithm, :key_id, :nonce_match, :encryption, keyword_init: true)
  Token.extend(Model)
  Token.include(Printed)
  Token.describe({ audience: "strings", authorized_party: "string?", issued_at: "integer", expires_at: "integer",
    not_before: "integer?", auth_time: "integer?", token_id: "string?", session_id: "string?", acr: "string?", amr:
    "strings", algorithm: "string", key_id: "string?", nonce_match: "string?", encryption: "Encryption?" }, [])

  # Other claims of the access token, all verified.
  # - audience: The claim aud, always as a list; empty only for a provider with audiences: none, and for an AWS
  # load balancer.
  # - authorized_party: The claim azp.
  # - issued_at: The claim iat; null if there is none, as in an assertion of an AWS load balancer.
  # - expires_at: The claim exp; null only for an opaque token.
  # - not_before: The claim nbf.
  # - auth_time: The claim auth_time; 0 is a time, and does not mean absence.
  # - token_id: The claim jti.
  # - session_id: The claim sid.
  # - acr: The claim acr: how strong the authentication was.
  # - amr: The claim amr: the methods of authentication.
  # - algorithm: null for an opaque token. One of: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384,
  # ES512, EdDSA, Ed25519, Ed448.
  # - key_id: The header's kid.
  # - nonce_match: How the token's nonce matched the raw one: by its lower-case hexadecimal SHA-256, by its
  # base64url SHA-256, or exactly. null if no nonce was checked. One of: sha256_hex, sha256_base64url, plain.
  AccessToken = Struct.new(:audience, :authorized_party, :issued_at, :expires_at, :not_before, :auth_time,
    :token_id, :session_id, :acr, :amr, :algorithm, :key_id, :nonce_match, keyword_init: true)
  AccessToken.extend(Model)
  AccessToken.include(Printed)
  AccessToken.describe({ audience: "strings", authorized_party: "string?", issued_at: "integer?", expires_at:
    "integer?", not_before: "integer?", auth_time: "integer?", token_id: "string?", session_id: "string?", acr:
    "string?", amr: "strings", algorithm: "string?", key_id: "string?", nonce_match: "string?" }, [])

  # Binding, a part of an answer.
  # - method: What proved the key; unchecked: nothing did, and the provider has unchecked_bindings: true. One
  # of: dpop, certificate, both, unchecked.
  # - thumbprint: The SHA-256 that the token names, in base64url: of the proof's key (jkt), or else of the
  # certificate (x5t#S256).
  Binding = Struct.new(:method, :thumbprint, keyword_init: true)
  Binding.extend(Model)
  Binding.include(Printed)
  Binding.describe({ method: "string", thumbprint: "string?" }, [])

  # What the access token grants.
  # - client_id: The client that the token was issued to. A machine's token may have it as identity.subject too.
  # null if the provider's tokens name no client.
  # - scopes: scope or scp, each scope once.
  # - roles: The bearer's roles.
  # - groups: The bearer's groups; null if there are too many for the provider to list, which is not the same as
  # none.
  # - entitlements: The bearer's entitlements or permissions.
  # - binding: How the key that the token is bound to (cnf) was proven; null for a token that is bound to none.
  Authorization = Struct.new(:client_id, :scopes, :roles, :groups, :entitlements, :binding, keyword_init: true)
  Authorization.extend(Model)
  Authorization.include(Printed)
  Authorization.describe({ client_id: "string?", scopes: "strings", roles: "strings", groups: "strings?",
    entitlements: "strings", binding: "Binding?" }, [])

  # Only for an opaque token, how old the provider's answer is.
  # - cached: Whether the answer was known before the request (introspection.cache).
  # - age_seconds: How long ago the provider was asked, in seconds.
  Introspection = Struct.new(:cached, :age_seconds, keyword_init: true)
  Introspection.extend(Model)
  Introspection.include(Printed)
  Introspection.describe({ cached: "boolean", age_seconds: "integer" }, [])

  # The source and age of the keys that verified the signature.
  # - source: network: fetched by this process. disk: fetched by an earlier process and read from
  # cache_directory. file: the configured jwks_file. One of: network, disk, file.
  # - age_seconds: Seconds since the keys were fetched.
  # - stale: Whether the keys are past their lifetime and still used because the provider can't be reached.
  Keys = Struct.new(:source, :age_seconds, :stale, keyword_init: true)
  Keys.extend(Model)
  Keys.include(Printed)
  Keys.describe({ source: "string", age_seconds: "integer", stale: "boolean" }, [])

  # The provider's tokens, for the backend only. Assay does not store them.
  # - access_token: The access token.
  # - token_type: The type of the access token, such as Bearer: a name or an absolute URI. Compare it case-
  # insensitively. null only from providers with the quirk no_token_type (LinkedIn); their tokens are bearer
  # tokens.
  # - expires_at: When the access token expires, in Unix seconds; null if the provider does not say.
  # - refresh_token: The new refresh token. If null, the previous one, if any, stays valid.
  # - scopes: The granted scopes; null if they are those requested.
  # - id_token: The ID Token as the provider returned it.
  # - binding: Only of clients with sender_constraint: dpop: the key of the grant, encrypted. Store the latest
  # beside the refresh token, and send it wherever a request has binding.
  Grant = Struct.new(:access_token, :token_type, :expires_at, :refresh_token, :scopes, :id_token, :binding,
    keyword_init: true)
  Grant.extend(Model)
  Grant.include(Printed)
  Grant.describe({ access_token: "string", token_type: "string?", expires_at: "integer?", refresh_token: "string?",
    scopes: "strings?", id_token: "string?", binding: "string?" }, [:access_token, :refresh_token, :id_token,
    :binding])

  # What happened.
  # - type: One of: consent_revoked, account_deleted, email_relay_disabled, email_relay_enabled, logged_out,
  # sessions_revoked, tokens_revoked, account_disabled, account_enabled, credential_change_required,
  # identifier_changed, identifier_recycled, verification, other.
  # - subject: The user, as in identity.subject; null if the event names no user, or a user of another issuer:
  # data then has what it says.
  # - session_id: The session, as in token.session_id.
  # - email
  # - is_private_email: Whether the address is a relay address.
  # - occurred_at: When it happened.
  # - reason: Why, in the provider's words.
  # - data: Everything else that the event says, as the provider wrote it. With other, the whole event; a
  # security event is then under its type, which is a URI.
  Event = Struct.new(:type, :subject, :session_id, :email, :is_private_email, :occurred_at, :reason, :data,
    keyword_init: true)
  Event.extend(Model)
  Event.include(Printed)
  Event.describe({ type: "string", subject: "string?", session_id: "string?", email: "string?", is_private_email:
    "boolean?", occurred_at: "integer?", reason: "string?", data: "object" }, [])

  # Who sent a notification.
  # - provider: The provider's id.
  # - issuer: The provider's canonical issuer, even if the notification has another spelling.
  # - kind: One of: apple, logout, security_event.
  # - id: The notification's jti: the same each time it is delivered.
  # - issued_at: The notification's iat.
  Notification = Struct.new(:provider, :issuer, :kind, :id, :issued_at, keyword_init: true)
  Notification.extend(Model)
  Notification.include(Printed)
  Notification.describe({ provider: "string", issuer: "string", kind: "string", id: "string", issued_at: "integer"
    }, [])

  # A problem within an answer.
  # - title: The problem in a few words, the same for each code.
  # - status: The HTTP status.
  # - detail: One sentence for people: what was found or expected, and what to do.
  # - code: What went wrong. Codes are stable. Those with 422 are roughly in the order of the checks, but
  # sign_in_invalid and sign_in_expired come first, and claim_missing and claim_invalid can come from any
  # check. One of: request_invalid, audience_not_configured, client_not_configured,
  # redirect_uri_not_configured, sign_in_not_supported, revocation_not_supported, sign_out_not_supported,
  # notifications_not_configured, url_not_allowed, caller_unauthenticated, caller_forbidden, not_found,
  # provider_unknown, resource_unknown, method_not_allowed, request_timeout, request_too_large,
  # content_type_unsupported, token_malformed, decryption_failed, encryption_required, header_unsupported,
  # algorithm_not_allowed, key_not_found, key_unsuitable, signature_invalid, issuer_mismatch,
  # audience_mismatch, authorized_party_mismatch, token_expired, token_not_yet_valid, token_too_old,
  # auth_time_too_old, session_revoked, claim_missing, claim_invalid, groups_overage, nonce_required,
  # nonce_missing, nonce_mismatch, at_hash_missing, at_hash_mismatch, c_hash_missing, c_hash_mismatch,
  # subject_mismatch, scope_missing, token_inactive, binding_required, binding_missing, binding_mismatch,
  # dpop_proof_invalid, dpop_nonce_required, dpop_proof_replayed, token_missing, nonce_replayed,
  # binding_invalid, sign_in_invalid, sign_in_expired, sign_in_replayed, state_mismatch,
  # redirect_uri_mismatch, response_issuer_mismatch, response_invalid, acr_mismatch, sign_in_denied,
  # grant_invalid, provider_refused, headers_too_large, internal, client_rejected, provider_answer_invalid,
  # provider_unavailable, keys_unavailable, request_unknown, store_unavailable, overloaded, shutting_down.
  Problem = Struct.new(:title, :status, :detail, :code, keyword_init: true)
  Problem.extend(Model)
  Problem.include(Printed)
  Problem.describe({ title: "string", status: "integer", detail: "string", code: "string" }, [:code])

  # Only in a 422 to a request with resource. How to answer the client that sent the token, or none.
  # - status: The HTTP status of your response.
  # - www_authenticate: The value of its one header WWW-Authenticate (RFC 6750, RFC 9449, RFC 9728).
  Challenge = Struct.new(:status, :www_authenticate, keyword_init: true)
  Challenge.extend(Model)
  Challenge.include(Printed)
  Challenge.describe({ status: "integer", www_authenticate: "string" }, [])

  # A sign-in that has begun. The app keeps sign_in, and gives the provider nonce_sha256 (Apple) or nonce.
  # - sign_in: Opaque, encrypted handle of this sign-in. Send it to POST /v1/sign-ins/finish.
  # - nonce: The raw nonce; null if the provider's nonces are not checked.
  # - nonce_sha256: The nonce's SHA-256 in lower-case hexadecimal, the form for Apple.
  # - expires_at: Expiry of the sign-in.
  BegunSignIn = Struct.new(:sign_in, :nonce, :nonce_sha256, :expires_at, keyword_init: true)
  BegunSignIn.extend(Model)
  BegunSignIn.include(Printed)
  BegunSignIn.describe({ sign_in: "string", nonce: "string", nonce_sha256: "string", expires_at: "integer" },
    [:sign_in, :nonce, :nonce_sha256])

  # A sign-in in the browser that has begun. Redirect to authorization_url, and keep sign_in in a cookie.
  # - sign_in: Opaque, encrypted handle of this sign-in. Send it to POST /v1/sign-ins/finish.
  # - state: The state that the provider returns in its response; null if native. End the name of the cookie
  # that holds sign_in with it.
  # - authorization_url: The URL to redirect the browser to; null if native.
  # - expires_at: Expiry of the sign-in.
  # - request_expires_at: Until when authorization_url can be used. There only if the request was pushed or
  # signed: redirect the browser at once, and begin anew if it comes later.
  BegunBrowserSignIn = Struct.new(:sign_in, :state, :authorization_url, :expires_at, :request_expires_at,
    keyword_init: true)
  BegunBrowserSignIn.extend(Model)
  BegunBrowserSignIn.include(Printed)
  BegunBrowserSignIn.describe({ sign_in: "string", state: "string", authorization_url: "string", expires_at:
    "integer", request_expires_at: "integer?" }, [:sign_in, :state, :authorization_url])

  # A verified sign-in.
  # - identity: The user who signed in, in the same form for every provider. Store users under (issuer,
  # subject), never under email.
  # - token: Other claims of the token, all verified.
  # - keys: The source and age of the keys that verified the signature.
  # - claims: Only with include_claims: the token's Claims Set, as its original JSON text, so that no number is
  # rounded.
  Verified = Struct.new(:identity, :token, :keys, :claims, keyword_init: true)
  Verified.extend(Model)
  Verified.include(Printed)
  Verified.describe({ identity: "Identity", token: "Token", keys: "Keys", claims: "object?" }, [:claims])

  # The response of POST /v1/verify, plus context and grant.
  # - identity: The user who signed in, in the same form for every provider. Store users under (issuer,
  # subject), never under email.
  # - token: Other claims of the token, all verified.
  # - keys: The source and age of the keys that verified the signature.
  # - claims: Only with include_claims: the token's Claims Set, as its original JSON text, so that no number is
  # rounded.
  # - context: The context that the sign-in began with.
  # - unverified_claims: The names of claims that the UserInfo response passes on from another party
  # (_claim_names). None of them is in identity. Absent if there are none.
  # - grant: The provider's tokens for the code; null if no code was exchanged.
  FinishedSignIn = Struct.new(:identity, :token, :keys, :claims, :context, :unverified_claims, :grant, keyword_init:
    true)
  FinishedSignIn.extend(Model)
  FinishedSignIn.include(Printed)
  FinishedSignIn.describe({ identity: "Identity", token: "Token", keys: "Keys", claims: "object?", context:
    "string?", unverified_claims: "strings?", grant: "Grant?" }, [:claims, :context])

  # New tokens and, if an ID Token is among them, its identity.
  # - grant: The provider's tokens, for the backend only. Assay does not store them.
  # - identity: null if the provider returned no ID Token, or if it could not be verified.
  # - token: null if identity is.
  # - keys: null if identity is.
  # - claims: Only with include_claims: the token's Claims Set, as its original JSON text, so that no number is
  # rounded.
  # - problem: keys_unavailable if the provider returned an ID Token, but Assay has no keys to verify it. The
  # grant is still valid.
  Refreshed = Struct.new(:grant, :identity, :token, :keys, :claims, :problem, keyword_init: true)
  Refreshed.extend(Model)
  Refreshed.include(Printed)
  Refreshed.describe({ grant: "Grant", identity: "Identity?", token: "Token?", keys: "Keys?", claims: "object?",
    problem: "Problem?" }, [:claims])

  # Where to send the browser.
  # - logout_url: null if it would have over 2,000 characters, or the hint came encrypted.
  # - endpoint: The provider's end_session_endpoint.
  # - parameters: The fields of a form that posts to endpoint; without those that have no value.
  # - state: What the browser comes back with; null without post_logout_redirect_uri.
  SignOut = Struct.new(:logout_url, :endpoint, :parameters, :state, keyword_init: true)
  SignOut.extend(Model)
  SignOut.include(Printed)
  SignOut.describe({ logout_url: "string?", endpoint: "string", parameters: "texts", state: "string?" },
    [:logout_url, :parameters, :state])

  # A DPoP proof.
  # - dpop: The value of the header DPoP, for one call.
  Proof = Struct.new(:dpop, keyword_init: true)
  Proof.extend(Model)
  Proof.include(Printed)
  Proof.describe({ dpop: "string" }, [:dpop])

  # A verified access token.
  # - identity: null for an opaque token if the provider does not say whose it is.
  # - token: Other claims of the access token, all verified.
  # - authorization: What the access token grants.
  # - keys: null for an opaque token, unless the provider's answer was signed.
  # - introspection: Only for an opaque token, how old the provider's answer is.
  # - claims: Only with include_claims: the token's Claims Set, or the provider's answer about an opaque token,
  # as its original JSON text, so that no number is rounded.
  # - dpop_nonce: Only in responses of POST /v1/access-tokens/verify, and only where the settings have nonce:
  # required for the call's DPoP proofs: for all, for its resource or for the token's provider (any of the
  # resource's, if that is not known). Send it to the client in the header DPoP-Nonce: its next proof must
  # have it. A nonce lives five minutes.
  VerifiedAccessToken = Struct.new(:identity, :token, :authorization, :keys, :introspection, :claims, :dpop_nonce,
    keyword_init: true)
  VerifiedAccessToken.extend(Model)
  VerifiedAccessToken.include(Printed)
  VerifiedAccessToken.describe({ identity: "Identity?", token: "AccessToken", authorization: "Authorization", keys:
    "Keys?", introspection: "Introspection?", claims: "object?", dpop_nonce: "string?" }, [:claims])

  # A verified notification.
  # - notification: Who sent it.
  # - events
  # - keys: The source and age of the keys that verified the signature.
  VerifiedNotification = Struct.new(:notification, :events, :keys, keyword_init: true)
  VerifiedNotification.extend(Model)
  VerifiedNotification.include(Printed)
  VerifiedNotification.describe({ notification: "Notification", events: "[Event]", keys: "Keys" }, [])

  # The codes of problems. Assay may add codes.
  module Code
    REQUEST_INVALID = "request_invalid"
    AUDIENCE_NOT_CONFIGURED = "audience_not_configured"
    CLIENT_NOT_CONFIGURED = "client_not_configured"
    REDIRECT_URI_NOT_CONFIGURED = "redirect_uri_not_configured"
    SIGN_IN_NOT_SUPPORTED = "sign_in_not_supported"
    REVOCATION_NOT_SUPPORTED = "revocation_not_supported"
    SIGN_OUT_NOT_SUPPORTED = "sign_out_not_supported"
    NOTIFICATIONS_NOT_CONFIGURED = "notifications_not_configured"
    URL_NOT_ALLOWED = "url_not_allowed"
    CALLER_UNAUTHENTICATED = "caller_unauthenticated"
    CALLER_FORBIDDEN = "caller_forbidden"
    NOT_FOUND = "not_found"
    PROVIDER_UNKNOWN = "provider_unknown"
    RESOURCE_UNKNOWN = "resource_unknown"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    REQUEST_TIMEOUT = "request_timeout"
    REQUEST_TOO_LARGE = "request_too_large"
    CONTENT_TYPE_UNSUPPORTED = "content_type_unsupported"
    TOKEN_MALFORMED = "token_malformed"
    DECRYPTION_FAILED = "decryption_failed"
    ENCRYPTION_REQUIRED = "encryption_required"
    HEADER_UNSUPPORTED = "header_unsupported"
    ALGORITHM_NOT_ALLOWED = "algorithm_not_allowed"
    KEY_NOT_FOUND = "key_not_found"
    KEY_UNSUITABLE = "key_unsuitable"
    SIGNATURE_INVALID = "signature_invalid"
    ISSUER_MISMATCH = "issuer_mismatch"
    AUDIENCE_MISMATCH = "audience_mismatch"
    AUTHORIZED_PARTY_MISMATCH = "authorized_party_mismatch"
    TOKEN_EXPIRED = "token_expired"
    TOKEN_NOT_YET_VALID = "token_not_yet_valid"
    TOKEN_TOO_OLD = "token_too_old"
    AUTH_TIME_TOO_OLD = "auth_time_too_old"
    SESSION_REVOKED = "session_revoked"
    CLAIM_MISSING = "claim_missing"
    CLAIM_INVALID = "claim_invalid"
    GROUPS_OVERAGE = "groups_overage"
    NONCE_REQUIRED = "nonce_required"
    NONCE_MISSING = "nonce_missing"
    NONCE_MISMATCH = "nonce_mismatch"
    AT_HASH_MISSING = "at_hash_missing"
    AT_HASH_MISMATCH = "at_hash_mismatch"
    C_HASH_MISSING = "c_hash_missing"
    C_HASH_MISMATCH = "c_hash_mismatch"
    SUBJECT_MISMATCH = "subject_mismatch"
    SCOPE_MISSING = "scope_missing"
    TOKEN_INACTIVE = "token_inactive"
    BINDING_REQUIRED = "binding_required"
    BINDING_MISSING = "binding_missing"
    BINDING_MISMATCH = "binding_mismatch"
    DPOP_PROOF_INVALID = "dpop_proof_invalid"
    DPOP_NONCE_REQUIRED = "dpop_nonce_required"
    DPOP_PROOF_REPLAYED = "dpop_proof_replayed"
    TOKEN_MISSING = "token_missing"
    NONCE_REPLAYED = "nonce_replayed"
    BINDING_INVALID = "binding_invalid"
    SIGN_IN_INVALID = "sign_in_invalid"
    SIGN_IN_EXPIRED = "sign_in_expired"
    SIGN_IN_REPLAYED = "sign_in_replayed"
    STATE_MISMATCH = "state_mismatch"
    REDIRECT_URI_MISMATCH = "redirect_uri_mismatch"
    RESPONSE_ISSUER_MISMATCH = "response_issuer_mismatch"
    RESPONSE_INVALID = "response_invalid"
    ACR_MISMATCH = "acr_mismatch"
    SIGN_IN_DENIED = "sign_in_denied"
    GRANT_INVALID = "grant_invalid"
    PROVIDER_REFUSED = "provider_refused"
    HEADERS_TOO_LARGE = "headers_too_large"
    INTERNAL = "internal"
    CLIENT_REJECTED = "client_rejected"
    PROVIDER_ANSWER_INVALID = "provider_answer_invalid"
    PROVIDER_UNAVAILABLE = "provider_unavailable"
    KEYS_UNAVAILABLE = "keys_unavailable"
    REQUEST_UNKNOWN = "request_unknown"
    STORE_UNAVAILABLE = "store_unavailable"
    OVERLOADED = "overloaded"
    SHUTTING_DOWN = "shutting_down"

    # Every code that this version knows.
    ALL = [
      REQUEST_INVALID,
      AUDIENCE_NOT_CONFIGURED,
      CLIENT_NOT_CONFIGURED,
      REDIRECT_URI_NOT_CONFIGURED,
      SIGN_IN_NOT_SUPPORTED,
      REVOCATION_NOT_SUPPORTED,
      SIGN_OUT_NOT_SUPPORTED,
      NOTIFICATIONS_NOT_CONFIGURED,
      URL_NOT_ALLOWED,
      CALLER_UNAUTHENTICATED,
      CALLER_FORBIDDEN,
      NOT_FOUND,
      PROVIDER_UNKNOWN,
      RESOURCE_UNKNOWN,
      METHOD_NOT_ALLOWED,
      REQUEST_TIMEOUT,
      REQUEST_TOO_LARGE,
      CONTENT_TYPE_UNSUPPORTED,
      TOKEN_MALFORMED,
      DECRYPTION_FAILED,
      ENCRYPTION_REQUIRED,
      HEADER_UNSUPPORTED,
      ALGORITHM_NOT_ALLOWED,
      KEY_NOT_FOUND,
      KEY_UNSUITABLE,
      SIGNATURE_INVALID,
      ISSUER_MISMATCH,
      AUDIENCE_MISMATCH,
      AUTHORIZED_PARTY_MISMATCH,
      TOKEN_EXPIRED,
      TOKEN_NOT_YET_VALID,
      TOKEN_TOO_OLD,
      AUTH_TIME_TOO_OLD,
      SESSION_REVOKED,
      CLAIM_MISSING,
      CLAIM_INVALID,
      GROUPS_OVERAGE,
      NONCE_REQUIRED,
      NONCE_MISSING,
      NONCE_MISMATCH,
      AT_HASH_MISSING,
      AT_HASH_MISMATCH,
      C_HASH_MISSING,
      C_HASH_MISMATCH,
      SUBJECT_MISMATCH,
      SCOPE_MISSING,
      TOKEN_INACTIVE,
      BINDING_REQUIRED,
      BINDING_MISSING,
      BINDING_MISMATCH,
      DPOP_PROOF_INVALID,
      DPOP_NONCE_REQUIRED,
      DPOP_PROOF_REPLAYED,
      TOKEN_MISSING,
      NONCE_REPLAYED,
      BINDING_INVALID,
      SIGN_IN_INVALID,
      SIGN_IN_EXPIRED,
      SIGN_IN_REPLAYED,
      STATE_MISMATCH,
      REDIRECT_URI_MISMATCH,
      RESPONSE_ISSUER_MISMATCH,
      RESPONSE_INVALID,
      ACR_MISMATCH,
      SIGN_IN_DENIED,
      GRANT_INVALID,
      PROVIDER_REFUSED,
      HEADERS_TOO_LARGE,
      INTERNAL,
      CLIENT_REJECTED,
      PROVIDER_ANSWER_INVALID,
      PROVIDER_UNAVAILABLE,
      KEYS_UNAVAILABLE,
      REQUEST_UNKNOWN,
      STORE_UNAVAILABLE,
      OVERLOADED,
      SHUTTING_DOWN,
    ].freeze
  end

  # What a fake client answers, by call: the examples of the contract.
  EXAMPLES = "{\"resource_metadata\":{\"resource\":\"https://mcp.example.com/mcp\",\"authorization_servers\":[\"https://auth.example.com\"],\"bearer_methods_supported\":[\"header\"],\"resource_name\":\"Tools\",\"scopes_supported\":[\"mcp:tools\"]},\"begin\":{\"sign_in\":\"AUf5Wc1Jk0xQnJgq0m3c2n8bQ1yPq6T0bXb5uQm7y3k9w0Yd1N2mJk4hQ0Zb8sVtR6e2c1oXfLrA5iUj7pKd3gHnTwEz\",\"nonce\":\"mE7q2vYc9KpT4sWx1ZbN6hRj8LdFg3Qa\",\"nonce_sha256\":\"2fa2d26d37a48bf22be86a7754df9749e11609aca24a3840b8e0076a39ce9846\",\"state\":null,\"authorization_url\":null,\"expires_at\":1763716920},\"begin_in_browser\":{\"sign_in\":\"AkRvu7pXc1mJ0sQ9bZtYw2dLhN6gK4eT8xVfC3iUaMoPqSr5WnEyBzDjHl0_7c2f1Jk0xQnJgq0m3c2n8bQ1yPq6T0bXb5uQm7y3k9w0Yd1N2mJk4hQ0\",\"nonce\":\"Qn5pVhT2rK8sXw1eYj6uLgM3bZc7DfA9\",\"state\":\"k3JvN8pQ2sXw7RzT1bYcUg\",\"expires_at\":1763716920,\"nonce_sha256\":\"2398d9779382c92a1081e7f080bf50cdab59ab70fc0d7465f1d835e77e09c9c2\",\"authorization_url\":\"https://accounts.google.com/o/oauth2/v2/auth?response_type=code&client_id=1045-web.apps.example.com&redirect_uri=https%3A%2F%2Fexample.com%2Fcallback%2Fgoogle&scope=openid%20email%20profile&state=k3JvN8pQ2sXw7RzT1bYcUg&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&nonce=Qn5pVhT2rK8sXw1eYj6uLgM3bZc7DfA9\"},\"finish\":{\"identity\":{\"provider\":\"google\",\"issuer\":\"https://accounts.google.com\",\"subject\":\"110248495921238986420\",\"email\":\"ada@example.com\",\"email_verified\":true,\"email_trust\":\"authoritative\",\"is_private_email\":null,\"name\":\"Ada Lovelace\",\"given_name\":\"Ada\",\"family_name\":\"Lovelace\",\"name_source\":\"token\",\"preferred_username\":null,\"picture\":\"https://images.example.com/ada.png\",\"locale\":null,\"real_user_status\":null,\"transfer_subject\":null,\"tenant\":null,\"hosted_domain\":\"example.com\"},\"token\":{\"audience\":[\"1045-web.apps.example.com\"],\"authorized_party\":\"1045-web.apps.example.com\",\"issued_at\":1763716320,\"expires_at\":1763719920,\"not_before\":null,\"auth_time\":null,\"token_id\":\"3f0c5a9e7d\",\"session_id\":null,\"acr\":null,\"amr\":[],\"algorithm\":\"RS256\",\"key_id\":\"5b3706960e3e60024a2655e78cfa63f87c97d309\",\"nonce_match\":\"plain\"},\"keys\":{\"source\":\"network\",\"age_seconds\":4,\"stale\":false},\"context\":\"/basket\",\"grant\":null},\"finish_in_browser\":{\"identity\":{\"provider\":\"google\",\"issuer\":\"https://accounts.google.com\",\"subject\":\"110248495921238986420\",\"email\":\"ada@example.com\",\"email_verified\":true,\"email_trust\":\"authoritative\",\"is_private_email\":null,\"name\":\"Ada Lovelace\",\"given_name\":\"Ada\",\"family_name\":\"Lovelace\",\"name_source\":\"token\",\"preferred_username\":null,\"picture\":\"https://images.example.com/ada.png\",\"locale\":null,\"real_user_status\":null,\"transfer_subject\":null,\"tenant\":null,\"hosted_domain\":\"example.com\"},\"token\":{\"audience\":[\"1045-web.apps.example.com\"],\"authorized_party\":\"1045-web.apps.example.com\",\"issued_at\":1763716320,\"expires_at\":1763719920,\"not_before\":null,\"auth_time\":null,\"token_id\":\"3f0c5a9e7d\",\"session_id\":null,\"acr\":null,\"amr\":[],\"algorithm\":\"RS256\",\"key_id\":\"5b3706960e3e60024a2655e78cfa63f87c97d309\",\"nonce_match\":\"plain\"},\"keys\":{\"source\":\"network\",\"age_seconds\":4,\"stale\":false},\"context\":\"/basket\",\"grant\":{\"access_token\":\"ya29.a0AcM612xRfX4s\",\"token_type\":\"Bearer\",\"expires_at\":1763719920,\"refresh_token\":\"1//0gLrV2kQx9wY7nT\",\"scopes\":[\"openid\",\"email\",\"profile\"],\"id_token\":\"eyJ.example.token\"}},\"refresh\":{\"grant\":{\"access_token\":\"a9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b4.0.mtyqz.Qn5pVhT2rK8sXw1eYj6uLg\",\"token_type\":\"Bearer\",\"expires_at\":1763719920,\"refresh_token\":null,\"scopes\":null,\"id_token\":null},\"identity\":null,\"token\":null,\"keys\":null,\"problem\":null},\"verify\":{\"identity\":{\"provider\":\"apple\",\"issuer\":\"https://appleid.apple.com\",\"subject\":\"001234.5e7fd0c1a2b3498c8d6e0f1a2b3c4d5e.0219\",\"email\":\"dpdcnf87nu@privaterelay.appleid.com\",\"email_verified\":true,\"email_trust\":\"authoritative\",\"is_private_email\":true,\"name\":\"Ada Lovelace\",\"given_name\":\"Ada\",\"family_name\":\"Lovelace\",\"name_source\":\"client\",\"preferred_username\":null,\"picture\":null,\"locale\":null,\"real_user_status\":\"likely_real\",\"transfer_subject\":null,\"tenant\":null,\"hosted_domain\":null},\"token\":{\"audience\":[\"com.example.app\"],\"authorized_party\":null,\"issued_at\":1763716320,\"expires_at\":1763802720,\"not_before\":null,\"auth_time\":1763716320,\"token_id\":null,\"session_id\":null,\"acr\":null,\"amr\":[],\"algorithm\":\"RS256\",\"key_id\":\"Ey3tWUrUrC\",\"nonce_match\":\"sha256_hex\"},\"keys\":{\"source\":\"network\",\"age_seconds\":312,\"stale\":false}},\"verify_notification\":{\"notification\":{\"provider\":\"apple\",\"issuer\":\"https://appleid.apple.com\",\"kind\":\"apple\",\"id\":\"uC3oPbPDeZ8Zx0v2f8hYAg\",\"issued_at\":1763716320},\"events\":[{\"type\":\"email_relay_disabled\",\"subject\":\"001234.5e7fd0c1a2b3498c8d6e0f1a2b3c4d5e.0219\",\"session_id\":null,\"email\":\"dpdcnf87nu@privaterelay.appleid.com\",\"is_private_email\":true,\"occurred_at\":1763716299,\"reason\":null,\"data\":{}}],\"keys\":{\"source\":\"network\",\"age_seconds\":4,\"stale\":false}},\"verify_access_token\":{\"identity\":{\"provider\":\"api\",\"issuer\":\"https://login.example.com/\",\"subject\":\"5ba552d67\",\"email\":null,\"email_verified\":null,\"email_trust\":null,\"is_private_email\":null,\"name\":null,\"given_name\":null,\"family_name\":null,\"name_source\":null,\"preferred_username\":null,\"picture\":null,\"locale\":null,\"real_user_status\":null,\"transfer_subject\":null,\"tenant\":null,\"hosted_domain\":null},\"token\":{\"audience\":[\"https://api.example.com/\"],\"authorized_party\":null,\"issued_at\":1763716320,\"expires_at\":1763719920,\"not_before\":null,\"auth_time\":null,\"token_id\":\"dbe39bf3a3ba4238\",\"session_id\":null,\"acr\":null,\"amr\":[],\"algorithm\":\"RS256\",\"key_id\":\"api-2025\",\"nonce_match\":null},\"authorization\":{\"client_id\":\"s6BhdRkqt3\",\"scopes\":[\"orders:read\",\"orders:write\"],\"roles\":[],\"groups\":[\"staff\"],\"entitlements\":[],\"binding\":null},\"keys\":{\"source\":\"network\",\"age_seconds\":4,\"stale\":false}},\"sign_out\":{\"logout_url\":\"https://login.acme.example/logout?client_id=1045-web&post_logout_redirect_uri=https%3A%2F%2Fexample.com%2Fsigned-out&state=k3JvN8pQ2sXw7RzT1bYcUg\",\"endpoint\":\"https://login.acme.example/logout\",\"parameters\":{\"client_id\":\"1045-web\",\"post_logout_redirect_uri\":\"https://example.com/signed-out\",\"state\":\"k3JvN8pQ2sXw7RzT1bYcUg\"},\"state\":\"k3JvN8pQ2sXw7RzT1bYcUg\"},\"proof\":{\"dpop\":\"eyJ.example.token\"}}"
end
