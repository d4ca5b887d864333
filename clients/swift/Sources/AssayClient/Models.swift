// Generated from openapi.yaml by clients/generate.py: do not edit.
// swift-format-ignore-file

/// The user who signed in, in the same form for every provider. Store users under (issuer, subject), never under
/// email.
public struct Identity: Codable, Sendable, Equatable {
    /// The provider's id in the settings.
    public var provider: String
    /// The provider's canonical issuer, even if the token has one of issuer_aliases. If the issuer differs by
    /// tenant, the tenant's issuer.
    public var issuer: String
    /// The claim sub. It identifies the user at this issuer; compare it byte for byte.
    public var subject: String
    /// One email address, as in the token. It may change, and may be reassigned to another user.
    public var email: String?
    /// Whether the provider states that it verified the address; null if it does not say, or if the claim is not an
    /// address.
    public var emailVerified: Bool?
    /// How far the address can be trusted. Link accounts by address only if it is authoritative. One of:
    /// authoritative, verified, unverified.
    public var emailTrust: String?
    /// Whether the address is a relay that hides the user's own: the provider states it, or the address is in one
    /// of private_email_domains, such as Apple's relay domains. null if there is no address, or if a provider
    /// without such domains does not say.
    public var isPrivateEmail: Bool?
    /// The full name.
    public var name: String?
    /// The given name.
    public var givenName: String?
    /// The family name.
    public var familyName: String?
    /// The source of the names: the signed token, the client with the request's unsigned user, or, only in a finish
    /// with the setting user_info, the provider's endpoint. null if there are no names. One of: token, client,
    /// user_info.
    public var nameSource: String?
    /// The user's name at the provider; not unique.
    public var preferredUsername: String?
    /// The claim picture, or the one that identity in the settings names. Assay does not vet the URL.
    public var picture: String?
    /// The claim locale, or the one that identity in the settings names.
    public var locale: String?
    /// Apple's estimate of whether the user is a person; null for other providers, and if Apple does not say. One
    /// of: unsupported, unknown, likely_real.
    public var realUserStatus: String?
    /// Apple's transfer_sub, which identifies a user after an app was transferred to another team; null for other
    /// providers, unless identity in the settings names a claim.
    public var transferSubject: String?
    /// The organization that the user belongs to at the provider, such as Microsoft's tid.
    public var tenant: String?
    /// Google's hd; null for other providers, unless identity in the settings names a claim.
    public var hostedDomain: String?
    /// The request's connection; only for a provider with issuers: any. Store its users under (connection, issuer,
    /// subject): two customers may name the same issuer.
    public var connection: String?

    enum CodingKeys: String, CodingKey {
        case provider, issuer, subject, email, emailVerified = "email_verified", emailTrust = "email_trust", isPrivateEmail = "is_private_email", name, givenName = "given_name", familyName = "family_name", nameSource = "name_source", preferredUsername = "preferred_username", picture, locale, realUserStatus = "real_user_status", transferSubject = "transfer_subject", tenant, hostedDomain = "hosted_domain", connection
    }
}

/// How the token was encrypted; only if it was. The other members are those of the signed token inside.
public struct Encryption: Codable, Sendable, Equatable {
    /// The outer header's alg. One of: ECDH-ES, ECDH-ES+A128KW, ECDH-ES+A192KW, ECDH-ES+A256KW, RSA-OAEP, RSA-
    /// OAEP-256.
    public var algorithm: String
    /// The outer header's enc. One of: A128GCM, A192GCM, A256GCM, A128CBC-HS256, A192CBC-HS384, A256CBC-HS512.
    public var content: String
    /// The outer header's kid.
    public var keyId: String?

    enum CodingKeys: String, CodingKey {
        case algorithm, content, keyId = "key_id"
    }
}

/// Other claims of the token, all verified.
public struct Token: Codable, Sendable, Equatable {
    /// The claim aud, always as a list; empty only for a provider with audiences: none and authorized_parties, and
    /// for an AWS load balancer.
    public var audience: [String]
    /// The claim azp.
    public var authorizedParty: String?
    /// The claim iat.
    public var issuedAt: Int64
    /// The claim exp.
    public var expiresAt: Int64
    /// The claim nbf.
    public var notBefore: Int64?
    /// The claim auth_time; 0 is a time, and does not mean absence.
    public var authTime: Int64?
    /// The claim jti.
    public var tokenId: String?
    /// The claim sid.
    public var sessionId: String?
    /// The claim acr: how strong the authentication was.
    public var acr: String?
    /// The claim amr: the methods of authentication.
    public var amr: [String]
    /// The algorithm of the signature. One of: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512,
    /// EdDSA, Ed25519, Ed448.
    public var algorithm: String
    /// The header's kid.
    public var keyId: String?
    /// How the token's nonce matched the raw one: by its lower-case hexadecimal SHA-256, by its base64url SHA-256,
    /// or exactly. null if no nonce was checked. One of: sha256_hex, sha256_base64url, plain.
    public var nonceMatch: String?
    /// How the token was encrypted; only if it was. The other members are those of the signed token inside.
    public var encryption: Encryption?

    enum CodingKeys: String, CodingKey {
        case audience, authorizedParty = "authorized_party", issuedAt = "issued_at", expiresAt = "expires_at", notBefore = "not_before", authTime = "auth_time", tokenId = "token_id", sessionId = "session_id", acr, amr, algorithm, keyId = "key_id", nonceMatch = "nonce_match", encryption
    }
}

/// Other claims of the access token, all verified.
public struct AccessToken: Codable, Sendable, Equatable {
    /// The claim aud, always as a list; empty only for a provider with audiences: none, and for an AWS load
    /// balancer.
    public var audience: [String]
    /// The claim azp.
    public var authorizedParty: String?
    /// The claim iat; null if there is none, as in an assertion of an AWS load balancer.
    public var issuedAt: Int64?
    /// The claim exp; null only for an opaque token.
    public var expiresAt: Int64?
    /// The claim nbf.
    public var notBefore: Int64?
    /// The claim auth_time; 0 is a time, and does not mean absence.
    public var authTime: Int64?
    /// The claim jti.
    public var tokenId: String?
    /// The claim sid.
    public var sessionId: String?
    /// The claim acr: how strong the authentication was.
    public var acr: String?
    /// The claim amr: the methods of authentication.
    public var amr: [String]
    /// null for an opaque token. One of: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA,
    /// Ed25519, Ed448.
    public var algorithm: String?
    /// The header's kid.
    public var keyId: String?
    /// How the token's nonce matched the raw one: by its lower-case hexadecimal SHA-256, by its base64url SHA-256,
    /// or exactly. null if no nonce was checked. One of: sha256_hex, sha256_base64url, plain.
    public var nonceMatch: String?

    enum CodingKeys: String, CodingKey {
        case audience, authorizedParty = "authorized_party", issuedAt = "issued_at", expiresAt = "expires_at", notBefore = "not_before", authTime = "auth_time", tokenId = "token_id", sessionId = "session_id", acr, amr, algorithm, keyId = "key_id", nonceMatch = "nonce_match"
    }
}

/// Binding, a part of an answer.
public struct Binding: Codable, Sendable, Equatable {
    /// What proved the key; unchecked: nothing did, and the provider has unchecked_bindings: true. One of: dpop,
    /// certificate, both, unchecked.
    public var method: String
    /// The SHA-256 that the token names, in base64url: of the proof's key (jkt), or else of the certificate
    /// (x5t#S256).
    public var thumbprint: String?

    enum CodingKeys: String, CodingKey {
        case method, thumbprint
    }
}

/// What the access token grants.
public struct Authorization: Codable, Sendable, Equatable {
    /// The client that the token was issued to. A machine's token may have it as identity.subject too. null if the
    /// provider's tokens name no client.
    public var clientId: String?
    /// scope or scp, each scope once.
    public var scopes: [String]
    /// The bearer's roles.
    public var roles: [String]
    /// The bearer's groups; null if there are too many for the provider to list, which is not the same as none.
    public var groups: [String]?
    /// The bearer's entitlements or permissions.
    public var entitlements: [String]
    /// How the key that the token is bound to (cnf) was proven; null for a token that is bound to none.
    public var binding: Binding?

    enum CodingKeys: String, CodingKey {
        case clientId = "client_id", scopes, roles, groups, entitlements, binding
    }
}

/// Only for an opaque token, how old the provider's answer is.
public struct Introspection: Codable, Sendable, Equatable {
    /// Whether the answer was known before the request (introspection.cache).
    public var cached: Bool
    /// How long ago the provider was asked, in seconds.
    public var ageSeconds: Int64

    enum CodingKeys: String, CodingKey {
        case cached, ageSeconds = "age_seconds"
    }
}

/// The source and age of the keys that verified the signature.
public struct Keys: Codable, Sendable, Equatable {
    /// network: fetched by this process. disk: fetched by an earlier process and read from cache_directory. file:
    /// the configured jwks_file. One of: network, disk, file.
    public var source: String
    /// Seconds since the keys were fetched.
    public var ageSeconds: Int64
    /// Whether the keys are past their lifetime and still used because the provider can't be reached.
    public var stale: Bool

    enum CodingKeys: String, CodingKey {
        case source, ageSeconds = "age_seconds", stale
    }
}

/// The provider's tokens, for the backend only. Assay does not store them.
public struct Grant: Codable, Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// The access token.
    public var accessToken: String
    /// The type of the access token, such as Bearer: a name or an absolute URI. Compare it case-insensitively. null
    /// only from providers with the quirk no_token_type (LinkedIn); their tokens are bearer tokens.
    public var tokenType: String?
    /// When the access token expires, in Unix seconds; null if the provider does not say.
    public var expiresAt: Int64?
    /// The new refresh token. If null, the previous one, if any, stays valid.
    public var refreshToken: String?
    /// The granted scopes; null if they are those requested.
    public var scopes: [String]?
    /// The ID Token as the provider returned it.
    public var idToken: String?
    /// Only of clients with sender_constraint: dpop: the key of the grant, encrypted. Store the latest beside the
    /// refresh token, and send it wherever a request has binding.
    public var binding: String?

    enum CodingKeys: String, CodingKey {
        case accessToken = "access_token", tokenType = "token_type", expiresAt = "expires_at", refreshToken = "refresh_token", scopes, idToken = "id_token", binding
    }

    /// Without secrets.
    public var description: String { "Grant(tokenType: \(tokenType as Any), expiresAt: \(expiresAt as Any), scopes: \(scopes as Any))" }
    public var customMirror: Mirror { Mirror(self, children: ["tokenType": tokenType as Any, "expiresAt": expiresAt as Any, "scopes": scopes as Any]) }
}

/// What happened.
public struct Event: Codable, Sendable, Equatable {
    /// One of: consent_revoked, account_deleted, email_relay_disabled, email_relay_enabled, logged_out,
    /// sessions_revoked, tokens_revoked, account_disabled, account_enabled, credential_change_required,
    /// identifier_changed, identifier_recycled, verification, other.
    public var type: String
    /// The user, as in identity.subject; null if the event names no user, or a user of another issuer: data then
    /// has what it says.
    public var subject: String?
    /// The session, as in token.session_id.
    public var sessionId: String?
    public var email: String?
    /// Whether the address is a relay address.
    public var isPrivateEmail: Bool?
    /// When it happened.
    public var occurredAt: Int64?
    /// Why, in the provider's words.
    public var reason: String?
    /// Everything else that the event says, as the provider wrote it. With other, the whole event; a security event
    /// is then under its type, which is a URI.
    public var data: [String: JSONValue]

    enum CodingKeys: String, CodingKey {
        case type, subject, sessionId = "session_id", email, isPrivateEmail = "is_private_email", occurredAt = "occurred_at", reason, data
    }
}

/// Who sent a notification.
public struct Notification: Codable, Sendable, Equatable {
    /// The provider's id.
    public var provider: String
    /// The provider's canonical issuer, even if the notification has another spelling.
    public var issuer: String
    /// One of: apple, logout, security_event.
    public var kind: String
    /// The notification's jti: the same each time it is delivered.
    public var id: String
    /// The notification's iat.
    public var issuedAt: Int64

    enum CodingKeys: String, CodingKey {
        case provider, issuer, kind, id, issuedAt = "issued_at"
    }
}

/// A problem within an answer.
public struct Problem: Codable, Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// The problem in a few words, the same for each code.
    public var title: String
    /// The HTTP status.
    public var status: Int64
    /// One sentence for people: what was found or expected, and what to do.
    public var detail: String
    /// What went wrong. Codes are stable. Those with 422 are roughly in the order of the checks, but
    /// sign_in_invalid and sign_in_expired come first, and claim_missing and claim_invalid can come from any check.
    /// One of: request_invalid, audience_not_configured, client_not_configured, redirect_uri_not_configured,
    /// sign_in_not_supported, revocation_not_supported, sign_out_not_supported, notifications_not_configured,
    /// url_not_allowed, caller_unauthenticated, caller_forbidden, not_found, provider_unknown, resource_unknown,
    /// method_not_allowed, request_timeout, request_too_large, content_type_unsupported, token_malformed,
    /// decryption_failed, encryption_required, header_unsupported, algorithm_not_allowed, key_not_found,
    /// key_unsuitable, signature_invalid, issuer_mismatch, audience_mismatch, authorized_party_mismatch,
    /// token_expired, token_not_yet_valid, token_too_old, auth_time_too_old, session_revoked, claim_missing,
    /// claim_invalid, groups_overage, nonce_required, nonce_missing, nonce_mismatch, at_hash_missing,
    /// at_hash_mismatch, c_hash_missing, c_hash_mismatch, subject_mismatch, scope_missing, token_inactive,
    /// binding_required, binding_missing, binding_mismatch, dpop_proof_invalid, dpop_nonce_required,
    /// dpop_proof_replayed, token_missing, nonce_replayed, binding_invalid, sign_in_invalid, sign_in_expired,
    /// sign_in_replayed, state_mismatch, redirect_uri_mismatch, response_issuer_mismatch, response_invalid,
    /// acr_mismatch, sign_in_denied, grant_invalid, provider_refused, headers_too_large, internal, client_rejected,
    /// provider_answer_invalid, provider_unavailable, keys_unavailable, request_unknown, store_unavailable,
    /// overloaded, shutting_down.
    public var code: String

    enum CodingKeys: String, CodingKey {
        case title, status, detail, code
    }

    /// Without secrets.
    public var description: String { "Problem(title: \(title), status: \(status), detail: \(detail))" }
    public var customMirror: Mirror { Mirror(self, children: ["title": title as Any, "status": status as Any, "detail": detail as Any]) }
}

/// Only in a 422 to a request with resource. How to answer the client that sent the token, or none.
public struct Challenge: Codable, Sendable, Equatable {
    /// The HTTP status of your response.
    public var status: Int64
    /// The value of its one header WWW-Authenticate (RFC 6750, RFC 9449, RFC 9728).
    public var wwwAuthenticate: String

    enum CodingKeys: String, CodingKey {
        case status, wwwAuthenticate = "www_authenticate"
    }
}

/// A sign-in that has begun. The app keeps sign_in, and gives the provider nonce_sha256 (Apple) or nonce.
public struct BegunSignIn: Codable, Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// Opaque, encrypted handle of this sign-in. Send it to POST /v1/sign-ins/finish.
    public var signIn: String
    /// The raw nonce; null if the provider's nonces are not checked.
    public var nonce: String
    /// The nonce's SHA-256 in lower-case hexadecimal, the form for Apple.
    public var nonceSha256: String
    /// Expiry of the sign-in.
    public var expiresAt: Int64

    enum CodingKeys: String, CodingKey {
        case signIn = "sign_in", nonce, nonceSha256 = "nonce_sha256", expiresAt = "expires_at"
    }

    /// Without secrets.
    public var description: String { "BegunSignIn(expiresAt: \(expiresAt))" }
    public var customMirror: Mirror { Mirror(self, children: ["expiresAt": expiresAt as Any]) }
}

/// A sign-in in the browser that has begun. Redirect to authorization_url, and keep sign_in in a cookie.
public struct BegunBrowserSignIn: Codable, Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// Opaque, encrypted handle of this sign-in. Send it to POST /v1/sign-ins/finish.
    public var signIn: String
    /// The state that the provider returns in its response; null if native. End the name of the cookie that holds
    /// sign_in with it.
    public var state: String
    /// The URL to redirect the browser to; null if native.
    public var authorizationUrl: String
    /// Expiry of the sign-in.
    public var expiresAt: Int64
    /// Until when authorization_url can be used. There only if the request was pushed or signed: redirect the
    /// browser at once, and begin anew if it comes later.
    public var requestExpiresAt: Int64?

    enum CodingKeys: String, CodingKey {
        case signIn = "sign_in", state, authorizationUrl = "authorization_url", expiresAt = "expires_at", requestExpiresAt = "request_expires_at"
    }

    /// Without secrets.
    public var description: String { "BegunBrowserSignIn(expiresAt: \(expiresAt), requestExpiresAt: \(requestExpiresAt as Any))" }
    public var customMirror: Mirror { Mirror(self, children: ["expiresAt": expiresAt as Any, "requestExpiresAt": requestExpiresAt as Any]) }
}

/// A verified sign-in.
public struct Verified: Codable, Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// The user who signed in, in the same form for every provider. Store users under (issuer, subject), never
    /// under email.
    public var identity: Identity
    /// Other claims of the token, all verified.
    public var token: Token
    /// The source and age of the keys that verified the signature.
    public var keys: Keys
    /// Only with include_claims: the token's Claims Set, as its original JSON text, so that no number is rounded.
    public var claims: [String: JSONValue]?

    enum CodingKeys: String, CodingKey {
        case identity, token, keys, claims
    }

    /// Without secrets.
    public var description: String { "Verified(identity: \(identity), token: \(token), keys: \(keys))" }
    public var customMirror: Mirror { Mirror(self, children: ["identity": identity as Any, "token": token as Any, "keys": keys as Any]) }
}

/// The response of POST /v1/verify, plus context and grant.
public struct FinishedSignIn: Codable, Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// The user who signed in, in the same form for every provider. Store users under (issuer, subject), never
    /// under email.
    public var identity: Identity
    /// Other claims of the token, all verified.
    public var token: Token
    /// The source and age of the keys that verified the signature.
    public var keys: Keys
    /// Only with include_claims: the token's Claims Set, as its original JSON text, so that no number is rounded.
    public var claims: [String: JSONValue]?
    /// The context that the sign-in began with.
    public var context: String?
    /// The names of claims that the UserInfo response passes on from another party (_claim_names). None of them is
    /// in identity. Absent if there are none.
    public var unverifiedClaims: [String]?
    /// The provider's tokens for the code; null if no code was exchanged.
    public var grant: Grant?

    enum CodingKeys: String, CodingKey {
        case identity, token, keys, claims, context, unverifiedClaims = "unverified_claims", grant
    }

    /// Without secrets.
    public var description: String { "FinishedSignIn(identity: \(identity), token: \(token), keys: \(keys), unverifiedClaims: \(unverifiedClaims as Any), grant: \(grant as Any))" }
    public var customMirror: Mirror { Mirror(self, children: ["identity": identity as Any, "token": token as Any, "keys": keys as Any, "unverifiedClaims": unverifiedClaims as Any, "grant": grant as Any]) }
}

/// New tokens and, if an ID Token is among them, its identity.
public struct Refreshed: Codable, Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// The provider's tokens, for the backend only. Assay does not store them.
    public var grant: Grant
    /// null if the provider returned no ID Token, or if it could not be verified.
    public var identity: Identity?
    /// null if identity is.
    public var token: Token?
    /// null if identity is.
    public var keys: Keys?
    /// Only with include_claims: the token's Claims Set, as its original JSON text, so that no number is rounded.
    public var claims: [String: JSONValue]?
    /// keys_unavailable if the provider returned an ID Token, but Assay has no keys to verify it. The grant is
    /// still valid.
    public var problem: Problem?

    enum CodingKeys: String, CodingKey {
        case grant, identity, token, keys, claims, problem
    }

    /// Without secrets.
    public var description: String { "Refreshed(grant: \(grant), identity: \(identity as Any), token: \(token as Any), keys: \(keys as Any), problem: \(problem as Any))" }
    public var customMirror: Mirror { Mirror(self, children: ["grant": grant as Any, "identity": identity as Any, "token": token as Any, "keys": keys as Any, "problem": problem as Any]) }
}

/// Where to send the browser.
public struct SignOut: Codable, Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// null if it would have over 2,000 characters, or the hint came encrypted.
    public var logoutUrl: String?
    /// The provider's end_session_endpoint.
    public var endpoint: String
    /// The fields of a form that posts to endpoint; without those that have no value.
    public var parameters: [String: String]
    /// What the browser comes back with; null without post_logout_redirect_uri.
    public var state: String?

    enum CodingKeys: String, CodingKey {
        case logoutUrl = "logout_url", endpoint, parameters, state
    }

    /// Without secrets.
    public var description: String { "SignOut(endpoint: \(endpoint))" }
    public var customMirror: Mirror { Mirror(self, children: ["endpoint": endpoint as Any]) }
}

/// A DPoP proof.
public struct Proof: Codable, Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// The value of the header DPoP, for one call.
    public var dpop: String

    enum CodingKeys: String, CodingKey {
        case dpop
    }

    /// Without secrets.
    public var description: String { "Proof()" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A verified access token.
public struct VerifiedAccessToken: Codable, Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// null for an opaque token if the provider does not say whose it is.
    public var identity: Identity?
    /// Other claims of the access token, all verified.
    public var token: AccessToken
    /// What the access token grants.
    public var authorization: Authorization
    /// null for an opaque token, unless the provider's answer was signed.
    public var keys: Keys?
    /// Only for an opaque token, how old the provider's answer is.
    public var introspection: Introspection?
    /// Only with include_claims: the token's Claims Set, or the provider's answer about an opaque token, as its
    /// original JSON text, so that no number is rounded.
    public var claims: [String: JSONValue]?
    /// Only in responses of POST /v1/access-tokens/verify, and only where the settings have nonce: required for the
    /// call's DPoP proofs: for all, for its resource or for the token's provider (any of the resource's, if that is
    /// not known). Send it to the client in the header DPoP-Nonce: its next proof must have it. A nonce lives five
    /// minutes.
    public var dpopNonce: String?

    enum CodingKeys: String, CodingKey {
        case identity, token, authorization, keys, introspection, claims, dpopNonce = "dpop_nonce"
    }

    /// Without secrets.
    public var description: String { "VerifiedAccessToken(identity: \(identity as Any), token: \(token), authorization: \(authorization), keys: \(keys as Any), introspection: \(introspection as Any), dpopNonce: \(dpopNonce as Any))" }
    public var customMirror: Mirror { Mirror(self, children: ["identity": identity as Any, "token": token as Any, "authorization": authorization as Any, "keys": keys as Any, "introspection": introspection as Any, "dpopNonce": dpopNonce as Any]) }
}

/// A verified notification.
public struct VerifiedNotification: Codable, Sendable, Equatable {
    /// Who sent it.
    public var notification: Notification
    public var events: [Event]
    /// The source and age of the keys that verified the signature.
    public var keys: Keys

    enum CodingKeys: String, CodingKey {
        case notification, events, keys
    }
}

/// A DPoP proof of a request (RFC 9449).
public struct Dpop: Codable, Sendable {
    /// The value of the request's one header DPoP, at most 8 KiB. If it has several, refuse it yourself.
    public var proof: String
    /// The request's method.
    public var method: String
    /// The URL that the client called: https, or http for a loopback host. Its query and fragment are ignored.
    public var url: String
    /// The scheme of the request's Authorization, in any case: DPoP, or else the token is refused as
    /// binding_required.
    public var scheme: String

    public init(proof: String, method: String, url: String, scheme: String) {
        self.proof = proof
        self.method = method
        self.url = url
        self.scheme = scheme
    }

    enum CodingKeys: String, CodingKey {
        case proof, method, url, scheme
    }
}

/// Optional members of a request; those that are nil are not sent.
public struct BeginOptions: Codable, Sendable {
    /// Client ID that the token must be issued to. Default: the provider's first audience, or with redirect_uri the
    /// first client that lists it. With connection, the client ID at the connection's issuer, which is required.
    public var audience: String?
    /// Maximum age of the user's authentication, in seconds, when the sign-in begins. It is taken from auth_time. A
    /// native token without auth_time is judged by iat, which is always recent: to prove re-authentication, also
    /// list auth_time in the provider's required_claims. In the browser, auth_time is required (claim_missing).
    public var maxAge: Int64?
    /// The identity.subject of the only user who can finish it (subject_mismatch). It must not be null.
    public var subject: String?
    /// With connection, the issuer of the connection, which is required: an https URL of at most 255 characters,
    /// with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An
    /// issuer that another provider of the settings or a preset has, such as Google's, needs claim_values.
    /// Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an
    /// issuer for each tenant, because subjects are unique only per issuer. It must not be null.
    public var issuer: String?
    /// The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it
    /// together with issuer and audience, all three as the backend's database has them. It comes back as
    /// identity.connection.
    public var connection: String?
    /// Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for
    /// each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection.
    /// It must not be null.
    public var claimValues: [String: JSONValue]?
    /// The domains that this connection may speak for, because the backend has proved that they are this
    /// customer's. email_trust is unverified for addresses in all others. Only together with connection.
    public var emailDomains: [String]?
    /// At most 512 bytes that the finish returns, such as where to continue. Assay does not validate it: check a
    /// return URL before you begin.
    public var context: String?
    /// Lifetime of the sign-in, in seconds.
    public var expiresIn: Int64?

    public init(audience: String? = nil, maxAge: Int64? = nil, subject: String? = nil, issuer: String? = nil, connection: String? = nil, claimValues: [String: JSONValue]? = nil, emailDomains: [String]? = nil, context: String? = nil, expiresIn: Int64? = nil) {
        self.audience = audience
        self.maxAge = maxAge
        self.subject = subject
        self.issuer = issuer
        self.connection = connection
        self.claimValues = claimValues
        self.emailDomains = emailDomains
        self.context = context
        self.expiresIn = expiresIn
    }

    enum CodingKeys: String, CodingKey {
        case audience, maxAge = "max_age", subject, issuer, connection, claimValues = "claim_values", emailDomains = "email_domains", context, expiresIn = "expires_in"
    }
}

/// Optional members of a request; those that are nil are not sent.
public struct BeginBrowserOptions: Codable, Sendable {
    /// Client ID that the token must be issued to. Default: the provider's first audience, or with redirect_uri the
    /// first client that lists it. With connection, the client ID at the connection's issuer, which is required.
    public var audience: String?
    /// Only together with redirect_uri: the scopes to request. openid is added, except at Apple. Default: the
    /// client's scopes. It must not be null.
    public var scopes: [String]?
    /// Only together with redirect_uri; a parameter of the authorization URL.
    public var prompt: String?
    /// Only together with redirect_uri; a parameter of the authorization URL.
    public var loginHint: String?
    /// Only together with redirect_uri; a parameter of the authorization URL.
    public var uiLocales: String?
    /// Only together with redirect_uri; a parameter of the authorization URL.
    public var acrValues: String?
    /// Whether the token's acr must be one of acr_values, which are then required (acr_mismatch).
    public var requireAcr: Bool?
    /// Only together with redirect_uri: at most 4096 bytes, sent to the provider as they are (OpenID Connect Core,
    /// section 5.5). An essential acr in id_token with value or values is checked at the finish (acr_mismatch), and
    /// an essential auth_time must be there (claim_missing).
    public var claims: [String: JSONValue]?
    /// Only together with redirect_uri: what the access token is for (RFC 8707), together at most 512 bytes. The
    /// token endpoint is told too.
    public var resource: [String]?
    /// Only together with redirect_uri: an ID Token of the user, which may have expired. It is verified first, and
    /// sent to the provider; only this user can finish the sign-in (subject_mismatch). If it came encrypted, the
    /// client's requests must be pushed.
    public var idTokenHint: String?
    /// Only together with redirect_uri; a parameter of the authorization URL. Apple posts its response (form_post)
    /// if scopes are requested; so does a provider whose client has response_type: code id_token. With jwt,
    /// query.jwt and form_post.jwt, the response must be signed (JARM); otherwise it is response_invalid. One of:
    /// query, form_post, jwt, query.jwt, form_post.jwt.
    public var responseMode: String?
    /// Maximum age of the user's authentication, in seconds, when the sign-in begins. It is taken from auth_time. A
    /// native token without auth_time is judged by iat, which is always recent: to prove re-authentication, also
    /// list auth_time in the provider's required_claims. In the browser, auth_time is required (claim_missing).
    public var maxAge: Int64?
    /// The identity.subject of the only user who can finish it (subject_mismatch). It must not be null.
    public var subject: String?
    /// With connection, the issuer of the connection, which is required: an https URL of at most 255 characters,
    /// with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An
    /// issuer that another provider of the settings or a preset has, such as Google's, needs claim_values.
    /// Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an
    /// issuer for each tenant, because subjects are unique only per issuer. It must not be null.
    public var issuer: String?
    /// The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it
    /// together with issuer and audience, all three as the backend's database has them. It comes back as
    /// identity.connection.
    public var connection: String?
    /// How the client of the connection authenticates to its provider: required for calls to the provider's
    /// endpoints if the request names a connection, or the sign-in began with one; its ID is the connection's
    /// audience. Nothing keeps the secret after the request.
    public var client: [String: JSONValue]?
    /// Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for
    /// each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection.
    /// It must not be null.
    public var claimValues: [String: JSONValue]?
    /// The domains that this connection may speak for, because the backend has proved that they are this
    /// customer's. email_trust is unverified for addresses in all others. Only together with connection.
    public var emailDomains: [String]?
    /// At most 512 bytes that the finish returns, such as where to continue. Assay does not validate it: check a
    /// return URL before you begin.
    public var context: String?
    /// Lifetime of the sign-in, in seconds.
    public var expiresIn: Int64?

    public init(audience: String? = nil, scopes: [String]? = nil, prompt: String? = nil, loginHint: String? = nil, uiLocales: String? = nil, acrValues: String? = nil, requireAcr: Bool? = nil, claims: [String: JSONValue]? = nil, resource: [String]? = nil, idTokenHint: String? = nil, responseMode: String? = nil, maxAge: Int64? = nil, subject: String? = nil, issuer: String? = nil, connection: String? = nil, client: [String: JSONValue]? = nil, claimValues: [String: JSONValue]? = nil, emailDomains: [String]? = nil, context: String? = nil, expiresIn: Int64? = nil) {
        self.audience = audience
        self.scopes = scopes
        self.prompt = prompt
        self.loginHint = loginHint
        self.uiLocales = uiLocales
        self.acrValues = acrValues
        self.requireAcr = requireAcr
        self.claims = claims
        self.resource = resource
        self.idTokenHint = idTokenHint
        self.responseMode = responseMode
        self.maxAge = maxAge
        self.subject = subject
        self.issuer = issuer
        self.connection = connection
        self.client = client
        self.claimValues = claimValues
        self.emailDomains = emailDomains
        self.context = context
        self.expiresIn = expiresIn
    }

    enum CodingKeys: String, CodingKey {
        case audience, scopes, prompt, loginHint = "login_hint", uiLocales = "ui_locales", acrValues = "acr_values", requireAcr = "require_acr", claims, resource, idTokenHint = "id_token_hint", responseMode = "response_mode", maxAge = "max_age", subject, issuer, connection, client, claimValues = "claim_values", emailDomains = "email_domains", context, expiresIn = "expires_in"
    }
}

/// Optional members of a request; those that are nil are not sent.
public struct FinishOptions: Codable, Sendable {
    /// The authorization code that the app got. It is exchanged if the audience has a client; otherwise it is only
    /// compared with c_hash.
    public var code: String?
    /// The access token that came with the ID Token, to be checked against at_hash. Only together with id_token.
    public var accessToken: String?
    /// In the browser: the address that received the response, which must be the one that the sign-in began with.
    /// Native: the redirect URI, if any, that the SDK got the code with. The client must list it; it is sent with
    /// the code. Required with response and connection.
    public var redirectUri: String?
    /// Required if the sign-in began with a connection, and refused otherwise: the same one, as the backend's
    /// session for this browser or app has it. If it is another, the answer is sign_in_invalid, and nothing is sent
    /// to a provider: the browser may have swapped sign_in.
    public var connection: String?
    /// How the client of the connection authenticates to its provider: required for calls to the provider's
    /// endpoints if the request names a connection, or the sign-in began with one; its ID is the connection's
    /// audience. Nothing keeps the secret after the request.
    public var client: [String: JSONValue]?
    /// The object user that Apple sent with the token; null at every sign-in but the first.
    public var user: [String: JSONValue]?
    /// Whether the response includes the token's raw claims, as claims.
    public var includeClaims: Bool?

    public init(code: String? = nil, accessToken: String? = nil, redirectUri: String? = nil, connection: String? = nil, client: [String: JSONValue]? = nil, user: [String: JSONValue]? = nil, includeClaims: Bool? = nil) {
        self.code = code
        self.accessToken = accessToken
        self.redirectUri = redirectUri
        self.connection = connection
        self.client = client
        self.user = user
        self.includeClaims = includeClaims
    }

    enum CodingKeys: String, CodingKey {
        case code, accessToken = "access_token", redirectUri = "redirect_uri", connection, client, user, includeClaims = "include_claims"
    }
}

/// Optional members of a request; those that are nil are not sent.
public struct FinishBrowserOptions: Codable, Sendable {
    /// Required if the sign-in began with a connection, and refused otherwise: the same one, as the backend's
    /// session for this browser or app has it. If it is another, the answer is sign_in_invalid, and nothing is sent
    /// to a provider: the browser may have swapped sign_in.
    public var connection: String?
    /// How the client of the connection authenticates to its provider: required for calls to the provider's
    /// endpoints if the request names a connection, or the sign-in began with one; its ID is the connection's
    /// audience. Nothing keeps the secret after the request.
    public var client: [String: JSONValue]?
    /// Whether the response includes the token's raw claims, as claims.
    public var includeClaims: Bool?

    public init(connection: String? = nil, client: [String: JSONValue]? = nil, includeClaims: Bool? = nil) {
        self.connection = connection
        self.client = client
        self.includeClaims = includeClaims
    }

    enum CodingKeys: String, CodingKey {
        case connection, client, includeClaims = "include_claims"
    }
}

/// Optional members of a request; those that are nil are not sent.
public struct RefreshOptions: Codable, Sendable {
    /// The latest grant.binding of the grant that the token belongs to. Required if the client has
    /// sender_constraint: dpop (not beside code).
    public var binding: String?
    /// With connection, the issuer of the connection, which is required: an https URL of at most 255 characters,
    /// with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An
    /// issuer that another provider of the settings or a preset has, such as Google's, needs claim_values.
    /// Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an
    /// issuer for each tenant, because subjects are unique only per issuer. It must not be null.
    public var issuer: String?
    /// The client that the token was issued to. Required if the provider has several clients.
    public var audience: String?
    /// The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it
    /// together with issuer and audience, all three as the backend's database has them. It comes back as
    /// identity.connection.
    public var connection: String?
    /// Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for
    /// each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection.
    /// It must not be null.
    public var claimValues: [String: JSONValue]?
    /// The domains that this connection may speak for, because the backend has proved that they are this
    /// customer's. email_trust is unverified for addresses in all others. Only together with connection.
    public var emailDomains: [String]?
    /// How the client of the connection authenticates to its provider: required for calls to the provider's
    /// endpoints if the request names a connection, or the sign-in began with one; its ID is the connection's
    /// audience. Nothing keeps the secret after the request.
    public var client: [String: JSONValue]?
    /// The scopes to request, a subset of those granted. If absent, all of them.
    public var scopes: [String]?
    /// Whether the response includes the ID Token's raw claims, as claims.
    public var includeClaims: Bool?

    public init(binding: String? = nil, issuer: String? = nil, audience: String? = nil, connection: String? = nil, claimValues: [String: JSONValue]? = nil, emailDomains: [String]? = nil, client: [String: JSONValue]? = nil, scopes: [String]? = nil, includeClaims: Bool? = nil) {
        self.binding = binding
        self.issuer = issuer
        self.audience = audience
        self.connection = connection
        self.claimValues = claimValues
        self.emailDomains = emailDomains
        self.client = client
        self.scopes = scopes
        self.includeClaims = includeClaims
    }

    enum CodingKeys: String, CodingKey {
        case binding, issuer, audience, connection, claimValues = "claim_values", emailDomains = "email_domains", client, scopes, includeClaims = "include_claims"
    }
}

/// Optional members of a request; those that are nil are not sent.
public struct RevokeOptions: Codable, Sendable {
    /// The type of token. Only together with token. One of: refresh_token, access_token.
    public var tokenTypeHint: String?
    /// The latest grant.binding of the grant that the token belongs to. Required if the client has
    /// sender_constraint: dpop (not beside code).
    public var binding: String?
    /// The client that it was issued to. Required if the provider has several clients.
    public var audience: String?
    /// With connection, the issuer of the connection, which is required: an https URL of at most 255 characters,
    /// with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An
    /// issuer that another provider of the settings or a preset has, such as Google's, needs claim_values.
    /// Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an
    /// issuer for each tenant, because subjects are unique only per issuer. It must not be null.
    public var issuer: String?
    /// The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it
    /// together with issuer and audience, all three as the backend's database has them. It comes back as
    /// identity.connection.
    public var connection: String?
    /// Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for
    /// each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection.
    /// It must not be null.
    public var claimValues: [String: JSONValue]?
    /// The domains that this connection may speak for, because the backend has proved that they are this
    /// customer's. email_trust is unverified for addresses in all others. Only together with connection.
    public var emailDomains: [String]?
    /// How the client of the connection authenticates to its provider: required for calls to the provider's
    /// endpoints if the request names a connection, or the sign-in began with one; its ID is the connection's
    /// audience. Nothing keeps the secret after the request.
    public var client: [String: JSONValue]?

    public init(tokenTypeHint: String? = nil, binding: String? = nil, audience: String? = nil, issuer: String? = nil, connection: String? = nil, claimValues: [String: JSONValue]? = nil, emailDomains: [String]? = nil, client: [String: JSONValue]? = nil) {
        self.tokenTypeHint = tokenTypeHint
        self.binding = binding
        self.audience = audience
        self.issuer = issuer
        self.connection = connection
        self.claimValues = claimValues
        self.emailDomains = emailDomains
        self.client = client
    }

    enum CodingKeys: String, CodingKey {
        case tokenTypeHint = "token_type_hint", binding, audience, issuer, connection, claimValues = "claim_values", emailDomains = "email_domains", client
    }
}

/// Optional members of a request; those that are nil are not sent.
public struct RevokeCodeOptions: Codable, Sendable {
    /// The client that it was issued to. Required if the provider has several clients.
    public var audience: String?
    /// The redirect URI, if any, that the app's SDK got the code with. Only together with code.
    public var redirectUri: String?
    /// The user to whom the code must belong. Only together with code.
    public var subject: String?
    /// With connection, the issuer of the connection, which is required: an https URL of at most 255 characters,
    /// with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An
    /// issuer that another provider of the settings or a preset has, such as Google's, needs claim_values.
    /// Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an
    /// issuer for each tenant, because subjects are unique only per issuer. It must not be null.
    public var issuer: String?
    /// The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it
    /// together with issuer and audience, all three as the backend's database has them. It comes back as
    /// identity.connection.
    public var connection: String?
    /// Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for
    /// each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection.
    /// It must not be null.
    public var claimValues: [String: JSONValue]?
    /// The domains that this connection may speak for, because the backend has proved that they are this
    /// customer's. email_trust is unverified for addresses in all others. Only together with connection.
    public var emailDomains: [String]?
    /// How the client of the connection authenticates to its provider: required for calls to the provider's
    /// endpoints if the request names a connection, or the sign-in began with one; its ID is the connection's
    /// audience. Nothing keeps the secret after the request.
    public var client: [String: JSONValue]?

    public init(audience: String? = nil, redirectUri: String? = nil, subject: String? = nil, issuer: String? = nil, connection: String? = nil, claimValues: [String: JSONValue]? = nil, emailDomains: [String]? = nil, client: [String: JSONValue]? = nil) {
        self.audience = audience
        self.redirectUri = redirectUri
        self.subject = subject
        self.issuer = issuer
        self.connection = connection
        self.claimValues = claimValues
        self.emailDomains = emailDomains
        self.client = client
    }

    enum CodingKeys: String, CodingKey {
        case audience, redirectUri = "redirect_uri", subject, issuer, connection, claimValues = "claim_values", emailDomains = "email_domains", client
    }
}

/// Optional members of a request; those that are nil are not sent.
public struct VerifyOptions: Codable, Sendable {
    /// The id of a configured provider. If absent, the token's unverified iss selects the provider.
    public var provider: String?
    /// The client ID of this sign-in. Only this one of the provider's audiences is then accepted. It must be one of
    /// them (audience_not_configured). With connection, the client ID at the connection's issuer, which is
    /// required.
    public var audience: String?
    /// The maximum number of seconds since the user last authenticated, for re-authentication. Compared with
    /// auth_time, or with iat if the token has no auth_time. iat is always recent: to prove re-authentication, also
    /// list auth_time in the provider's required_claims. Written without a fraction or an exponent.
    public var maxAge: Int64?
    /// When this user's sessions were last revoked, as Unix time in seconds. If the user authenticated before that
    /// (auth_time, or iat if the token has none), the token is refused with session_revoked. Store one such time
    /// for each user to end all of their sessions at once. The clock skew is not applied. It must not be null.
    public var authenticatedAfter: Int64?
    /// For re-authentication and linking: the identity.subject of the expected user. A token of any other user is
    /// refused with subject_mismatch, as the last check. It must not be null.
    public var subject: String?
    /// With connection, the issuer of the connection, which is required: an https URL of at most 255 characters,
    /// with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An
    /// issuer that another provider of the settings or a preset has, such as Google's, needs claim_values.
    /// Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an
    /// issuer for each tenant, because subjects are unique only per issuer. It must not be null.
    public var issuer: String?
    /// The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it
    /// together with issuer and audience, all three as the backend's database has them. It comes back as
    /// identity.connection.
    public var connection: String?
    /// Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for
    /// each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection.
    /// It must not be null.
    public var claimValues: [String: JSONValue]?
    /// The domains that this connection may speak for, because the backend has proved that they are this
    /// customer's. email_trust is unverified for addresses in all others. Only together with connection.
    public var emailDomains: [String]?
    /// The access token that was issued with the ID Token; checked against at_hash.
    public var accessToken: String?
    /// The authorization code that was issued with the ID Token; checked against c_hash.
    public var code: String?
    /// The object user that Apple sent with the token; null at every sign-in but the first.
    public var user: [String: JSONValue]?
    /// Whether the response includes the token's raw claims, as claims.
    public var includeClaims: Bool?

    public init(provider: String? = nil, audience: String? = nil, maxAge: Int64? = nil, authenticatedAfter: Int64? = nil, subject: String? = nil, issuer: String? = nil, connection: String? = nil, claimValues: [String: JSONValue]? = nil, emailDomains: [String]? = nil, accessToken: String? = nil, code: String? = nil, user: [String: JSONValue]? = nil, includeClaims: Bool? = nil) {
        self.provider = provider
        self.audience = audience
        self.maxAge = maxAge
        self.authenticatedAfter = authenticatedAfter
        self.subject = subject
        self.issuer = issuer
        self.connection = connection
        self.claimValues = claimValues
        self.emailDomains = emailDomains
        self.accessToken = accessToken
        self.code = code
        self.user = user
        self.includeClaims = includeClaims
    }

    enum CodingKeys: String, CodingKey {
        case provider, audience, maxAge = "max_age", authenticatedAfter = "authenticated_after", subject, issuer, connection, claimValues = "claim_values", emailDomains = "email_domains", accessToken = "access_token", code, user, includeClaims = "include_claims"
    }
}

/// Optional members of a request; those that are nil are not sent.
public struct AccessTokenOptions: Codable, Sendable {
    /// The id of the resource that the token must be for, instead of provider and audience. It must not be null.
    public var resource: String?
    /// The id of a provider with tokens: access or tokens: opaque. If absent, the token's issuer selects it; an
    /// opaque token names none.
    public var provider: String?
    /// The only audience to accept, one of the provider's audiences.
    public var audience: String?
    /// The identity.subject of the only user or machine to accept (subject_mismatch). It must not be null.
    public var subject: String?
    /// With connection, the issuer of the connection, which is required: an https URL of at most 255 characters,
    /// with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An
    /// issuer that another provider of the settings or a preset has, such as Google's, needs claim_values.
    /// Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an
    /// issuer for each tenant, because subjects are unique only per issuer. It must not be null.
    public var issuer: String?
    /// When this user's sessions were last revoked, as Unix time in seconds. If the user authenticated before that
    /// (auth_time, or iat if the token has none), the token is refused with session_revoked. Store one such time
    /// for each user to end all of their sessions at once. The clock skew is not applied. It must not be null.
    public var authenticatedAfter: Int64?
    /// The scopes that the call needs. The token must grant them all (scope_missing). It must not be null.
    public var scopes: [String]?
    /// Whether the response includes the token's raw claims, as claims.
    public var includeClaims: Bool?
    /// The client's certificate of the TLS connection, for a token that is bound to it (cnf with x5t#S256): in PEM,
    /// which may be percent-encoded, or as base64 of its DER; or its SHA-256 in 43 characters of base64url. null
    /// and an empty string mean that there is none.
    public var certificate: String?
    /// The request's DPoP proof, for a token that is bound to the key of such proofs (cnf with jkt). Only with the
    /// setting dpop. null and an empty string mean that there is none.
    public var dpop: Dpop?

    public init(resource: String? = nil, provider: String? = nil, audience: String? = nil, subject: String? = nil, issuer: String? = nil, authenticatedAfter: Int64? = nil, scopes: [String]? = nil, includeClaims: Bool? = nil, certificate: String? = nil, dpop: Dpop? = nil) {
        self.resource = resource
        self.provider = provider
        self.audience = audience
        self.subject = subject
        self.issuer = issuer
        self.authenticatedAfter = authenticatedAfter
        self.scopes = scopes
        self.includeClaims = includeClaims
        self.certificate = certificate
        self.dpop = dpop
    }

    enum CodingKeys: String, CodingKey {
        case resource, provider, audience, subject, issuer, authenticatedAfter = "authenticated_after", scopes, includeClaims = "include_claims", certificate, dpop
    }
}

/// Optional members of a request; those that are nil are not sent.
public struct NotificationOptions: Codable, Sendable {
    /// The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it
    /// together with issuer and audience, all three as the backend's database has them. It comes back as
    /// identity.connection.
    public var connection: String?
    /// Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for
    /// each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection.
    /// It must not be null.
    public var claimValues: [String: JSONValue]?
    /// The domains that this connection may speak for, because the backend has proved that they are this
    /// customer's. email_trust is unverified for addresses in all others. Only together with connection.
    public var emailDomains: [String]?
    /// With connection, the issuer of the connection, which is required: an https URL of at most 255 characters,
    /// with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An
    /// issuer that another provider of the settings or a preset has, such as Google's, needs claim_values.
    /// Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an
    /// issuer for each tenant, because subjects are unique only per issuer. It must not be null.
    public var issuer: String?
    /// With connection, the client ID at the connection's issuer.
    public var audience: String?

    public init(connection: String? = nil, claimValues: [String: JSONValue]? = nil, emailDomains: [String]? = nil, issuer: String? = nil, audience: String? = nil) {
        self.connection = connection
        self.claimValues = claimValues
        self.emailDomains = emailDomains
        self.issuer = issuer
        self.audience = audience
    }

    enum CodingKeys: String, CodingKey {
        case connection, claimValues = "claim_values", emailDomains = "email_domains", issuer, audience
    }
}

/// Optional members of a request; those that are nil are not sent.
public struct SignOutOptions: Codable, Sendable {
    /// The client that the user signed in to. Default: the first client that lists post_logout_redirect_uri, or
    /// else the provider's first client.
    public var audience: String?
    /// The ID Token of the sign-in, which may be encrypted or have expired.
    public var idTokenHint: String?
    /// Where the browser comes back to: one of the client's post_logout_redirect_uris, byte for byte
    /// (redirect_uri_not_configured).
    public var postLogoutRedirectUri: String?
    /// Names the user in the provider's form, such as Microsoft's claim login_hint.
    public var logoutHint: String?
    /// Languages of the provider's page, separated by spaces.
    public var uiLocales: String?
    /// With connection, the issuer of the connection, which is required: an https URL of at most 255 characters,
    /// with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An
    /// issuer that another provider of the settings or a preset has, such as Google's, needs claim_values.
    /// Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an
    /// issuer for each tenant, because subjects are unique only per issuer. It must not be null.
    public var issuer: String?
    /// The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it
    /// together with issuer and audience, all three as the backend's database has them. It comes back as
    /// identity.connection.
    public var connection: String?
    /// Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for
    /// each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection.
    /// It must not be null.
    public var claimValues: [String: JSONValue]?
    /// The domains that this connection may speak for, because the backend has proved that they are this
    /// customer's. email_trust is unverified for addresses in all others. Only together with connection.
    public var emailDomains: [String]?

    public init(audience: String? = nil, idTokenHint: String? = nil, postLogoutRedirectUri: String? = nil, logoutHint: String? = nil, uiLocales: String? = nil, issuer: String? = nil, connection: String? = nil, claimValues: [String: JSONValue]? = nil, emailDomains: [String]? = nil) {
        self.audience = audience
        self.idTokenHint = idTokenHint
        self.postLogoutRedirectUri = postLogoutRedirectUri
        self.logoutHint = logoutHint
        self.uiLocales = uiLocales
        self.issuer = issuer
        self.connection = connection
        self.claimValues = claimValues
        self.emailDomains = emailDomains
    }

    enum CodingKeys: String, CodingKey {
        case audience, idTokenHint = "id_token_hint", postLogoutRedirectUri = "post_logout_redirect_uri", logoutHint = "logout_hint", uiLocales = "ui_locales", issuer, connection, claimValues = "claim_values", emailDomains = "email_domains"
    }
}

/// Optional members of a request; those that are nil are not sent.
public struct ProofOptions: Codable, Sendable {
    /// The client that the grant must be of; the binding's own by default.
    public var audience: String?
    /// The nonce that the API demands: the value of DPoP-Nonce.
    public var nonce: String?

    public init(audience: String? = nil, nonce: String? = nil) {
        self.audience = audience
        self.nonce = nonce
    }

    enum CodingKeys: String, CodingKey {
        case audience, nonce
    }
}

/// The codes of problems. Assay may add codes.
public enum Code {
    public static let requestInvalid = "request_invalid"
    public static let audienceNotConfigured = "audience_not_configured"
    public static let clientNotConfigured = "client_not_configured"
    public static let redirectUriNotConfigured = "redirect_uri_not_configured"
    public static let signInNotSupported = "sign_in_not_supported"
    public static let revocationNotSupported = "revocation_not_supported"
    public static let signOutNotSupported = "sign_out_not_supported"
    public static let notificationsNotConfigured = "notifications_not_configured"
    public static let urlNotAllowed = "url_not_allowed"
    public static let callerUnauthenticated = "caller_unauthenticated"
    public static let callerForbidden = "caller_forbidden"
    public static let notFound = "not_found"
    public static let providerUnknown = "provider_unknown"
    public static let resourceUnknown = "resource_unknown"
    public static let methodNotAllowed = "method_not_allowed"
    public static let requestTimeout = "request_timeout"
    public static let requestTooLarge = "request_too_large"
    public static let contentTypeUnsupported = "content_type_unsupported"
    public static let tokenMalformed = "token_malformed"
    public static let decryptionFailed = "decryption_failed"
    public static let encryptionRequired = "encryption_required"
    public static let headerUnsupported = "header_unsupported"
    public static let algorithmNotAllowed = "algorithm_not_allowed"
    public static let keyNotFound = "key_not_found"
    public static let keyUnsuitable = "key_unsuitable"
    public static let signatureInvalid = "signature_invalid"
    public static let issuerMismatch = "issuer_mismatch"
    public static let audienceMismatch = "audience_mismatch"
    public static let authorizedPartyMismatch = "authorized_party_mismatch"
    public static let tokenExpired = "token_expired"
    public static let tokenNotYetValid = "token_not_yet_valid"
    public static let tokenTooOld = "token_too_old"
    public static let authTimeTooOld = "auth_time_too_old"
    public static let sessionRevoked = "session_revoked"
    public static let claimMissing = "claim_missing"
    public static let claimInvalid = "claim_invalid"
    public static let groupsOverage = "groups_overage"
    public static let nonceRequired = "nonce_required"
    public static let nonceMissing = "nonce_missing"
    public static let nonceMismatch = "nonce_mismatch"
    public static let atHashMissing = "at_hash_missing"
    public static let atHashMismatch = "at_hash_mismatch"
    public static let cHashMissing = "c_hash_missing"
    public static let cHashMismatch = "c_hash_mismatch"
    public static let subjectMismatch = "subject_mismatch"
    public static let scopeMissing = "scope_missing"
    public static let tokenInactive = "token_inactive"
    public static let bindingRequired = "binding_required"
    public static let bindingMissing = "binding_missing"
    public static let bindingMismatch = "binding_mismatch"
    public static let dpopProofInvalid = "dpop_proof_invalid"
    public static let dpopNonceRequired = "dpop_nonce_required"
    public static let dpopProofReplayed = "dpop_proof_replayed"
    public static let tokenMissing = "token_missing"
    public static let nonceReplayed = "nonce_replayed"
    public static let bindingInvalid = "binding_invalid"
    public static let signInInvalid = "sign_in_invalid"
    public static let signInExpired = "sign_in_expired"
    public static let signInReplayed = "sign_in_replayed"
    public static let stateMismatch = "state_mismatch"
    public static let redirectUriMismatch = "redirect_uri_mismatch"
    public static let responseIssuerMismatch = "response_issuer_mismatch"
    public static let responseInvalid = "response_invalid"
    public static let acrMismatch = "acr_mismatch"
    public static let signInDenied = "sign_in_denied"
    public static let grantInvalid = "grant_invalid"
    public static let providerRefused = "provider_refused"
    public static let headersTooLarge = "headers_too_large"
    public static let `internal` = "internal"
    public static let clientRejected = "client_rejected"
    public static let providerAnswerInvalid = "provider_answer_invalid"
    public static let providerUnavailable = "provider_unavailable"
    public static let keysUnavailable = "keys_unavailable"
    public static let requestUnknown = "request_unknown"
    public static let storeUnavailable = "store_unavailable"
    public static let overloaded = "overloaded"
    public static let shuttingDown = "shutting_down"

    /// Every code that this version knows.
    public static let all = [
        requestInvalid,
        audienceNotConfigured,
        clientNotConfigured,
        redirectUriNotConfigured,
        signInNotSupported,
        revocationNotSupported,
        signOutNotSupported,
        notificationsNotConfigured,
        urlNotAllowed,
        callerUnauthenticated,
        callerForbidden,
        notFound,
        providerUnknown,
        resourceUnknown,
        methodNotAllowed,
        requestTimeout,
        requestTooLarge,
        contentTypeUnsupported,
        tokenMalformed,
        decryptionFailed,
        encryptionRequired,
        headerUnsupported,
        algorithmNotAllowed,
        keyNotFound,
        keyUnsuitable,
        signatureInvalid,
        issuerMismatch,
        audienceMismatch,
        authorizedPartyMismatch,
        tokenExpired,
        tokenNotYetValid,
        tokenTooOld,
        authTimeTooOld,
        sessionRevoked,
        claimMissing,
        claimInvalid,
        groupsOverage,
        nonceRequired,
        nonceMissing,
        nonceMismatch,
        atHashMissing,
        atHashMismatch,
        cHashMissing,
        cHashMismatch,
        subjectMismatch,
        scopeMissing,
        tokenInactive,
        bindingRequired,
        bindingMissing,
        bindingMismatch,
        dpopProofInvalid,
        dpopNonceRequired,
        dpopProofReplayed,
        tokenMissing,
        nonceReplayed,
        bindingInvalid,
        signInInvalid,
        signInExpired,
        signInReplayed,
        stateMismatch,
        redirectUriMismatch,
        responseIssuerMismatch,
        responseInvalid,
        acrMismatch,
        signInDenied,
        grantInvalid,
        providerRefused,
        headersTooLarge,
        `internal`,
        clientRejected,
        providerAnswerInvalid,
        providerUnavailable,
        keysUnavailable,
        requestUnknown,
        storeUnavailable,
        overloaded,
        shuttingDown,
    ]
}

/// What a fake client answers, by call: the examples of the contract.
let examples = #"{"resource_metadata":{"resource":"https://mcp.example.com/mcp","authorization_servers":["https://auth.example.com"],"bearer_methods_supported":["header"],"resource_name":"Tools","scopes_supported":["mcp:tools"]},"begin":{"sign_in":"AUf5Wc1Jk0xQnJgq0m3c2n8bQ1yPq6T0bXb5uQm7y3k9w0Yd1N2mJk4hQ0Zb8sVtR6e2c1oXfLrA5iUj7pKd3gHnTwEz","nonce":"mE7q2vYc9KpT4sWx1ZbN6hRj8LdFg3Qa","nonce_sha256":"2fa2d26d37a48bf22be86a7754df9749e11609aca24a3840b8e0076a39ce9846","state":null,"authorization_url":null,"expires_at":1763716920},"begin_in_browser":{"sign_in":"AkRvu7pXc1mJ0sQ9bZtYw2dLhN6gK4eT8xVfC3iUaMoPqSr5WnEyBzDjHl0_7c2f1Jk0xQnJgq0m3c2n8bQ1yPq6T0bXb5uQm7y3k9w0Yd1N2mJk4hQ0","nonce":"Qn5pVhT2rK8sXw1eYj6uLgM3bZc7DfA9","state":"k3JvN8pQ2sXw7RzT1bYcUg","expires_at":1763716920,"nonce_sha256":"2398d9779382c92a1081e7f080bf50cdab59ab70fc0d7465f1d835e77e09c9c2","authorization_url":"https://accounts.google.com/o/oauth2/v2/auth?response_type=code&client_id=1045-web.apps.example.com&redirect_uri=https%3A%2F%2Fexample.com%2Fcallback%2Fgoogle&scope=openid%20email%20profile&state=k3JvN8pQ2sXw7RzT1bYcUg&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&nonce=Qn5pVhT2rK8sXw1eYj6uLgM3bZc7DfA9"},"finish":{"identity":{"provider":"google","issuer":"https://accounts.google.com","subject":"110248495921238986420","email":"ada@example.com","email_verified":true,"email_trust":"authoritative","is_private_email":null,"name":"Ada Lovelace","given_name":"Ada","family_name":"Lovelace","name_source":"token","preferred_username":null,"picture":"https://images.example.com/ada.png","locale":null,"real_user_status":null,"transfer_subject":null,"tenant":null,"hosted_domain":"example.com"},"token":{"audience":["1045-web.apps.example.com"],"authorized_party":"1045-web.apps.example.com","issued_at":1763716320,"expires_at":1763719920,"not_before":null,"auth_time":null,"token_id":"3f0c5a9e7d","session_id":null,"acr":null,"amr":[],"algorithm":"RS256","key_id":"5b3706960e3e60024a2655e78cfa63f87c97d309","nonce_match":"plain"},"keys":{"source":"network","age_seconds":4,"stale":false},"context":"/basket","grant":null},"finish_in_browser":{"identity":{"provider":"google","issuer":"https://accounts.google.com","subject":"110248495921238986420","email":"ada@example.com","email_verified":true,"email_trust":"authoritative","is_private_email":null,"name":"Ada Lovelace","given_name":"Ada","family_name":"Lovelace","name_source":"token","preferred_username":null,"picture":"https://images.example.com/ada.png","locale":null,"real_user_status":null,"transfer_subject":null,"tenant":null,"hosted_domain":"example.com"},"token":{"audience":["1045-web.apps.example.com"],"authorized_party":"1045-web.apps.example.com","issued_at":1763716320,"expires_at":1763719920,"not_before":null,"auth_time":null,"token_id":"3f0c5a9e7d","session_id":null,"acr":null,"amr":[],"algorithm":"RS256","key_id":"5b3706960e3e60024a2655e78cfa63f87c97d309","nonce_match":"plain"},"keys":{"source":"network","age_seconds":4,"stale":false},"context":"/basket","grant":{"access_token":"ya29.a0AcM612xRfX4s","token_type":"Bearer","expires_at":1763719920,"refresh_token":"1//0gLrV2kQx9wY7nT","scopes":["openid","email","profile"],"id_token":"eyJ.example.token"}},"refresh":{"grant":{"access_token":"a9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b4.0.mtyqz.Qn5pVhT2rK8sXw1eYj6uLg","token_type":"Bearer","expires_at":1763719920,"refresh_token":null,"scopes":null,"id_token":null},"identity":null,"token":null,"keys":null,"problem":null},"verify":{"identity":{"provider":"apple","issuer":"https://appleid.apple.com","subject":"001234.5e7fd0c1a2b3498c8d6e0f1a2b3c4d5e.0219","email":"dpdcnf87nu@privaterelay.appleid.com","email_verified":true,"email_trust":"authoritative","is_private_email":true,"name":"Ada Lovelace","given_name":"Ada","family_name":"Lovelace","name_source":"client","preferred_username":null,"picture":null,"locale":null,"real_user_status":"likely_real","transfer_subject":null,"tenant":null,"hosted_domain":null},"token":{"audience":["com.example.app"],"authorized_party":null,"issued_at":1763716320,"expires_at":1763802720,"not_before":null,"auth_time":1763716320,"token_id":null,"session_id":null,"acr":null,"amr":[],"algorithm":"RS256","key_id":"Ey3tWUrUrC","nonce_match":"sha256_hex"},"keys":{"source":"network","age_seconds":312,"stale":false}},"verify_notification":{"notification":{"provider":"apple","issuer":"https://appleid.apple.com","kind":"apple","id":"uC3oPbPDeZ8Zx0v2f8hYAg","issued_at":1763716320},"events":[{"type":"email_relay_disabled","subject":"001234.5e7fd0c1a2b3498c8d6e0f1a2b3c4d5e.0219","session_id":null,"email":"dpdcnf87nu@privaterelay.appleid.com","is_private_email":true,"occurred_at":1763716299,"reason":null,"data":{}}],"keys":{"source":"network","age_seconds":4,"stale":false}},"verify_access_token":{"identity":{"provider":"api","issuer":"https://login.example.com/","subject":"5ba552d67","email":null,"email_verified":null,"email_trust":null,"is_private_email":null,"name":null,"given_name":null,"family_name":null,"name_source":null,"preferred_username":null,"picture":null,"locale":null,"real_user_status":null,"transfer_subject":null,"tenant":null,"hosted_domain":null},"token":{"audience":["https://api.example.com/"],"authorized_party":null,"issued_at":1763716320,"expires_at":1763719920,"not_before":null,"auth_time":null,"token_id":"dbe39bf3a3ba4238","session_id":null,"acr":null,"amr":[],"algorithm":"RS256","key_id":"api-2025","nonce_match":null},"authorization":{"client_id":"s6BhdRkqt3","scopes":["orders:read","orders:write"],"roles":[],"groups":["staff"],"entitlements":[],"binding":null},"keys":{"source":"network","age_seconds":4,"stale":false}},"sign_out":{"logout_url":"https://login.acme.example/logout?client_id=1045-web&post_logout_redirect_uri=https%3A%2F%2Fexample.com%2Fsigned-out&state=k3JvN8pQ2sXw7RzT1bYcUg","endpoint":"https://login.acme.example/logout","parameters":{"client_id":"1045-web","post_logout_redirect_uri":"https://example.com/signed-out","state":"k3JvN8pQ2sXw7RzT1bYcUg"},"state":"k3JvN8pQ2sXw7RzT1bYcUg"},"proof":{"dpop":"eyJ.example.token"}}"#
