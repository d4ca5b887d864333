// Generated from openapi.yaml by clients/generate.py: do not edit.
@file:Suppress("MaxLineLength")

package assay

/** The user who signed in, in the same form for every provider. Store users under (issuer, subject), never under email. */
data class Identity(
    /** The provider's id in the settings. */
    val provider: String,
    /** The provider's canonical issuer, even if the token has one of issuer_aliases. If the issuer differs by tenant, the tenant's issuer. */
    val issuer: String,
    /** The claim sub. It identifies the user at this issuer; compare it byte for byte. */
    val subject: String,
    /** One email address, as in the token. It may change, and may be reassigned to another user. */
    val email: String?,
    /** Whether the provider states that it verified the address; null if it does not say, or if the claim is not an address. */
    val emailVerified: Boolean?,
    /** How far the address can be trusted. Link accounts by address only if it is authoritative. One of: authoritative, verified, unverified. */
    val emailTrust: String?,
    /** Whether the address is a relay that hides the user's own: the provider states it, or the address is in one of private_email_domains, such as Apple's relay domains. null if there is no address, or if a provider without such domains does not say. */
    val isPrivateEmail: Boolean?,
    /** The full name. */
    val name: String?,
    /** The given name. */
    val givenName: String?,
    /** The family name. */
    val familyName: String?,
    /** The source of the names: the signed token, the client with the request's unsigned user, or, only in a finish with the setting user_info, the provider's endpoint. null if there are no names. One of: token, client, user_info. */
    val nameSource: String?,
    /** The user's name at the provider; not unique. */
    val preferredUsername: String?,
    /** The claim picture, or the one that identity in the settings names. Assay does not vet the URL. */
    val picture: String?,
    /** The claim locale, or the one that identity in the settings names. */
    val locale: String?,
    /** Apple's estimate of whether the user is a person; null for other providers, and if Apple does not say. One of: unsupported, unknown, likely_real. */
    val realUserStatus: String?,
    /** Apple's transfer_sub, which identifies a user after an app was transferred to another team; null for other providers, unless identity in the settings names a claim. */
    val transferSubject: String?,
    /** The organization that the user belongs to at the provider, such as Microsoft's tid. */
    val tenant: String?,
    /** Google's hd; null for other providers, unless identity in the settings names a claim. */
    val hostedDomain: String?,
    /** The request's connection; only for a provider with issuers: any. Store its users under (connection, issuer, subject): two customers may name the same issuer. */
    val connection: String?
) {
    internal companion object {
        fun of(json: Members) = Identity(
            json.string("provider"),
            json.string("issuer"),
            json.string("subject"),
            json.stringOrNull("email"),
            json.booleanOrNull("email_verified"),
            json.stringOrNull("email_trust"),
            json.booleanOrNull("is_private_email"),
            json.stringOrNull("name"),
            json.stringOrNull("given_name"),
            json.stringOrNull("family_name"),
            json.stringOrNull("name_source"),
            json.stringOrNull("preferred_username"),
            json.stringOrNull("picture"),
            json.stringOrNull("locale"),
            json.stringOrNull("real_user_status"),
            json.stringOrNull("transfer_subject"),
            json.stringOrNull("tenant"),
            json.stringOrNull("hosted_domain"),
            json.stringOrNull("connection")
        )
    }
}

/** How the token was encrypted; only if it was. The other members are those of the signed token inside. */
data class Encryption(
    /** The outer header's alg. One of: ECDH-ES, ECDH-ES+A128KW, ECDH-ES+A192KW, ECDH-ES+A256KW, RSA-OAEP, RSA-OAEP-256. */
    val algorithm: String,
    /** The outer header's enc. One of: A128GCM, A192GCM, A256GCM, A128CBC-HS256, A192CBC-HS384, A256CBC-HS512. */
    val content: String,
    /** The outer header's kid. */
    val keyId: String?
) {
    internal companion object {
        fun of(json: Members) = Encryption(
            json.string("algorithm"),
            json.string("content"),
            json.stringOrNull("key_id")
        )
    }
}

/** Other claims of the token, all verified. */
data class Token(
    /** The claim aud, always as a list; empty only for a provider with audiences: none and authorized_parties, and for an AWS load balancer. */
    val audience: List<String>,
    /** The claim azp. */
    val authorizedParty: String?,
    /** The claim iat. */
    val issuedAt: Long,
    /** The claim exp. */
    val expiresAt: Long,
    /** The claim nbf. */
    val notBefore: Long?,
    /** The claim auth_time; 0 is a time, and does not mean absence. */
    val authTime: Long?,
    /** The claim jti. */
    val tokenId: String?,
    /** The claim sid. */
    val sessionId: String?,
    /** The claim acr: how strong the authentication was. */
    val acr: String?,
    /** The claim amr: the methods of authentication. */
    val amr: List<String>,
    /** The algorithm of the signature. One of: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519, Ed448. */
    val algorithm: String,
    /** The header's kid. */
    val keyId: String?,
    /** How the token's nonce matched the raw one: by its lower-case hexadecimal SHA-256, by its base64url SHA-256, or exactly. null if no nonce was checked. One of: sha256_hex, sha256_base64url, plain. */
    val nonceMatch: String?,
    /** How the token was encrypted; only if it was. The other members are those of the signed token inside. */
    val encryption: Encryption?
) {
    internal companion object {
        fun of(json: Members) = Token(
            json.strings("audience"),
            json.stringOrNull("authorized_party"),
            json.integer("issued_at"),
            json.integer("expires_at"),
            json.integerOrNull("not_before"),
            json.integerOrNull("auth_time"),
            json.stringOrNull("token_id"),
            json.stringOrNull("session_id"),
            json.stringOrNull("acr"),
            json.strings("amr"),
            json.string("algorithm"),
            json.stringOrNull("key_id"),
            json.stringOrNull("nonce_match"),
            json.modelOrNull("encryption") { Encryption.of(it) }
        )
    }
}

/** Other claims of the access token, all verified. */
data class AccessToken(
    /** The claim aud, always as a list; empty only for a provider with audiences: none, and for an AWS load balancer. */
    val audience: List<String>,
    /** The claim azp. */
    val authorizedParty: String?,
    /** The claim iat; null if there is none, as in an assertion of an AWS load balancer. */
    val issuedAt: Long?,
    /** The claim exp; null only for an opaque token. */
    val expiresAt: Long?,
    /** The claim nbf. */
    val notBefore: Long?,
    /** The claim auth_time; 0 is a time, and does not mean absence. */
    val authTime: Long?,
    /** The claim jti. */
    val tokenId: String?,
    /** The claim sid. */
    val sessionId: String?,
    /** The claim acr: how strong the authentication was. */
    val acr: String?,
    /** The claim amr: the methods of authentication. */
    val amr: List<String>,
    /** null for an opaque token. One of: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519, Ed448. */
    val algorithm: String?,
    /** The header's kid. */
    val keyId: String?,
    /** How the token's nonce matched the raw one: by its lower-case hexadecimal SHA-256, by its base64url SHA-256, or exactly. null if no nonce was checked. One of: sha256_hex, sha256_base64url, plain. */
    val nonceMatch: String?
) {
    internal companion object {
        fun of(json: Members) = AccessToken(
            json.strings("audience"),
            json.stringOrNull("authorized_party"),
            json.integerOrNull("issued_at"),
            json.integerOrNull("expires_at"),
            json.integerOrNull("not_before"),
            json.integerOrNull("auth_time"),
            json.stringOrNull("token_id"),
            json.stringOrNull("session_id"),
            json.stringOrNull("acr"),
            json.strings("amr"),
            json.stringOrNull("algorithm"),
            json.stringOrNull("key_id"),
            json.stringOrNull("nonce_match")
        )
    }
}

data class Binding(
    /** What proved the key; unchecked: nothing did, and the provider has unchecked_bindings: true. One of: dpop, certificate, both, unchecked. */
    val method: String,
    /** The SHA-256 that the token names, in base64url: of the proof's key (jkt), or else of the certificate (x5t#S256). */
    val thumbprint: String?
) {
    internal companion object {
        fun of(json: Members) = Binding(
            json.string("method"),
            json.stringOrNull("thumbprint")
        )
    }
}

/** What the access token grants. */
data class Authorization(
    /** The client that the token was issued to. A machine's token may have it as identity.subject too. null if the provider's tokens name no client. */
    val clientId: String?,
    /** scope or scp, each scope once. */
    val scopes: List<String>,
    /** The bearer's roles. */
    val roles: List<String>,
    /** The bearer's groups; null if there are too many for the provider to list, which is not the same as none. */
    val groups: List<String>?,
    /** The bearer's entitlements or permissions. */
    val entitlements: List<String>,
    /** How the key that the token is bound to (cnf) was proven; null for a token that is bound to none. */
    val binding: Binding?
) {
    internal companion object {
        fun of(json: Members) = Authorization(
            json.stringOrNull("client_id"),
            json.strings("scopes"),
            json.strings("roles"),
            json.stringsOrNull("groups"),
            json.strings("entitlements"),
            json.modelOrNull("binding") { Binding.of(it) }
        )
    }
}

/** Only for an opaque token, how old the provider's answer is. */
data class Introspection(
    /** Whether the answer was known before the request (introspection.cache). */
    val cached: Boolean,
    /** How long ago the provider was asked, in seconds. */
    val ageSeconds: Long
) {
    internal companion object {
        fun of(json: Members) = Introspection(
            json.boolean("cached"),
            json.integer("age_seconds")
        )
    }
}

/** The source and age of the keys that verified the signature. */
data class Keys(
    /** network: fetched by this process. disk: fetched by an earlier process and read from cache_directory. file: the configured jwks_file. One of: network, disk, file. */
    val source: String,
    /** Seconds since the keys were fetched. */
    val ageSeconds: Long,
    /** Whether the keys are past their lifetime and still used because the provider can't be reached. */
    val stale: Boolean
) {
    internal companion object {
        fun of(json: Members) = Keys(
            json.string("source"),
            json.integer("age_seconds"),
            json.boolean("stale")
        )
    }
}

/** The provider's tokens, for the backend only. Assay does not store them. */
data class Grant(
    /** The access token. */
    val accessToken: String,
    /** The type of the access token, such as Bearer: a name or an absolute URI. Compare it case-insensitively. null only from providers with the quirk no_token_type (LinkedIn); their tokens are bearer tokens. */
    val tokenType: String?,
    /** When the access token expires, in Unix seconds; null if the provider does not say. */
    val expiresAt: Long?,
    /** The new refresh token. If null, the previous one, if any, stays valid. */
    val refreshToken: String?,
    /** The granted scopes; null if they are those requested. */
    val scopes: List<String>?,
    /** The ID Token as the provider returned it. */
    val idToken: String?,
    /** Only of clients with sender_constraint: dpop: the key of the grant, encrypted. Store the latest beside the refresh token, and send it wherever a request has binding. */
    val binding: String?
) {
    /** Without secrets. */
    override fun toString() = "Grant(tokenType=$tokenType, expiresAt=$expiresAt, scopes=$scopes)"

    internal companion object {
        fun of(json: Members) = Grant(
            json.string("access_token"),
            json.stringOrNull("token_type"),
            json.integerOrNull("expires_at"),
            json.stringOrNull("refresh_token"),
            json.stringsOrNull("scopes"),
            json.stringOrNull("id_token"),
            json.stringOrNull("binding")
        )
    }
}

/** What happened. */
data class Event(
    /** One of: consent_revoked, account_deleted, email_relay_disabled, email_relay_enabled, logged_out, sessions_revoked, tokens_revoked, account_disabled, account_enabled, credential_change_required, identifier_changed, identifier_recycled, verification, other. */
    val type: String,
    /** The user, as in identity.subject; null if the event names no user, or a user of another issuer: data then has what it says. */
    val subject: String?,
    /** The session, as in token.session_id. */
    val sessionId: String?,
    val email: String?,
    /** Whether the address is a relay address. */
    val isPrivateEmail: Boolean?,
    /** When it happened. */
    val occurredAt: Long?,
    /** Why, in the provider's words. */
    val reason: String?,
    /** Everything else that the event says, as the provider wrote it. With other, the whole event; a security event is then under its type, which is a URI. */
    val data: Map<String, Any?>
) {
    internal companion object {
        fun of(json: Members) = Event(
            json.string("type"),
            json.stringOrNull("subject"),
            json.stringOrNull("session_id"),
            json.stringOrNull("email"),
            json.booleanOrNull("is_private_email"),
            json.integerOrNull("occurred_at"),
            json.stringOrNull("reason"),
            json.map("data")
        )
    }
}

/** Who sent a notification. */
data class Notification(
    /** The provider's id. */
    val provider: String,
    /** The provider's canonical issuer, even if the notification has another spelling. */
    val issuer: String,
    /** One of: apple, logout, security_event. */
    val kind: String,
    /** The notification's jti: the same each time it is delivered. */
    val id: String,
    /** The notification's iat. */
    val issuedAt: Long
) {
    internal companion object {
        fun of(json: Members) = Notification(
            json.string("provider"),
            json.string("issuer"),
            json.string("kind"),
            json.string("id"),
            json.integer("issued_at")
        )
    }
}

/** A problem within an answer. */
data class Problem(
    /** The problem in a few words, the same for each code. */
    val title: String,
    /** The HTTP status. */
    val status: Long,
    /** One sentence for people: what was found or expected, and what to do. */
    val detail: String,
    /** What went wrong. Codes are stable. Those with 422 are roughly in the order of the checks, but sign_in_invalid and sign_in_expired come first, and claim_missing and claim_invalid can come from any check. One of: request_invalid, audience_not_configured, client_not_configured, redirect_uri_not_configured, sign_in_not_supported, revocation_not_supported, sign_out_not_supported, notifications_not_configured, url_not_allowed, caller_unauthenticated, caller_forbidden, not_found, provider_unknown, resource_unknown, method_not_allowed, request_timeout, request_too_large, content_type_unsupported, token_malformed, decryption_failed, encryption_required, header_unsupported, algorithm_not_allowed, key_not_found, key_unsuitable, signature_invalid, issuer_mismatch, audience_mismatch, authorized_party_mismatch, token_expired, token_not_yet_valid, token_too_old, auth_time_too_old, session_revoked, claim_missing, claim_invalid, groups_overage, nonce_required, nonce_missing, nonce_mismatch, at_hash_missing, at_hash_mismatch, c_hash_missing, c_hash_mismatch, subject_mismatch, scope_missing, token_inactive, binding_required, binding_missing, binding_mismatch, dpop_proof_invalid, dpop_nonce_required, dpop_proof_replayed, token_missing, nonce_replayed, binding_invalid, sign_in_invalid, sign_in_expired, sign_in_replayed, state_mismatch, redirect_uri_mismatch, response_issuer_mismatch, response_invalid, acr_mismatch, sign_in_denied, grant_invalid, provider_refused, headers_too_large, internal, client_rejected, provider_answer_invalid, provider_unavailable, keys_unavailable, request_unknown, store_unavailable, overloaded, shutting_down. */
    val code: String
) {
    /** Without secrets. */
    override fun toString() = "Problem(title=$title, status=$status, detail=$detail)"

    internal companion object {
        fun of(json: Members) = Problem(
            json.string("title"),
            json.integer("status"),
            json.string("detail"),
            json.string("code")
        )
    }
}

/** Only in a 422 to a request with resource. How to answer the client that sent the token, or none. */
data class Challenge(
    /** The HTTP status of your response. */
    val status: Long,
    /** The value of its one header WWW-Authenticate (RFC 6750, RFC 9449, RFC 9728). */
    val wwwAuthenticate: String
) {
    internal companion object {
        fun of(json: Members) = Challenge(
            json.integer("status"),
            json.string("www_authenticate")
        )
    }
}

/** A sign-in that has begun. The app keeps sign_in, and gives the provider nonce_sha256 (Apple) or nonce. */
data class BegunSignIn(
    /** Opaque, encrypted handle of this sign-in. Send it to POST /v1/sign-ins/finish. */
    val signIn: String,
    /** The raw nonce; null if the provider's nonces are not checked. */
    val nonce: String,
    /** The nonce's SHA-256 in lower-case hexadecimal, the form for Apple. */
    val nonceSha256: String,
    /** Expiry of the sign-in. */
    val expiresAt: Long
) {
    /** Without secrets. */
    override fun toString() = "BegunSignIn(expiresAt=$expiresAt)"

    internal companion object {
        fun of(json: Members) = BegunSignIn(
            json.string("sign_in"),
            json.string("nonce"),
            json.string("nonce_sha256"),
            json.integer("expires_at")
        )
    }
}

/** A sign-in in the browser that has begun. Redirect to authorization_url, and keep sign_in in a cookie. */
data class BegunBrowserSignIn(
    /** Opaque, encrypted handle of this sign-in. Send it to POST /v1/sign-ins/finish. */
    val signIn: String,
    /** The state that the provider returns in its response; null if native. End the name of the cookie that holds sign_in with it. */
    val state: String,
    /** The URL to redirect the browser to; null if native. */
    val authorizationUrl: String,
    /** Expiry of the sign-in. */
    val expiresAt: Long,
    /** Until when authorization_url can be used. There only if the request was pushed or signed: redirect the browser at once, and begin anew if it comes later. */
    val requestExpiresAt: Long?
) {
    /** Without secrets. */
    override fun toString() = "BegunBrowserSignIn(expiresAt=$expiresAt, requestExpiresAt=$requestExpiresAt)"

    internal companion object {
        fun of(json: Members) = BegunBrowserSignIn(
            json.string("sign_in"),
            json.string("state"),
            json.string("authorization_url"),
            json.integer("expires_at"),
            json.integerOrNull("request_expires_at")
        )
    }
}

/** A verified sign-in. */
data class Verified(
    /** The user who signed in, in the same form for every provider. Store users under (issuer, subject), never under email. */
    val identity: Identity,
    /** Other claims of the token, all verified. */
    val token: Token,
    /** The source and age of the keys that verified the signature. */
    val keys: Keys,
    /** Only with include_claims: the token's Claims Set, as its original JSON text, so that no number is rounded. */
    val claims: Map<String, Any?>?
) {
    /** Without secrets. */
    override fun toString() = "Verified(identity=$identity, token=$token, keys=$keys)"

    internal companion object {
        fun of(json: Members) = Verified(
            json.model("identity") { Identity.of(it) },
            json.model("token") { Token.of(it) },
            json.model("keys") { Keys.of(it) },
            json.mapOrNull("claims")
        )
    }
}

/** The response of POST /v1/verify, plus context and grant. */
data class FinishedSignIn(
    /** The user who signed in, in the same form for every provider. Store users under (issuer, subject), never under email. */
    val identity: Identity,
    /** Other claims of the token, all verified. */
    val token: Token,
    /** The source and age of the keys that verified the signature. */
    val keys: Keys,
    /** Only with include_claims: the token's Claims Set, as its original JSON text, so that no number is rounded. */
    val claims: Map<String, Any?>?,
    /** The context that the sign-in began with. */
    val context: String?,
    /** The names of claims that the UserInfo response passes on from another party (_claim_names). None of them is in identity. Absent if there are none. */
    val unverifiedClaims: List<String>?,
    /** The provider's tokens for the code; null if no code was exchanged. */
    val grant: Grant?
) {
    /** Without secrets. */
    override fun toString() = "FinishedSignIn(identity=$identity, token=$token, keys=$keys, unverifiedClaims=$unverifiedClaims, grant=$grant)"

    internal companion object {
        fun of(json: Members) = FinishedSignIn(
            json.model("identity") { Identity.of(it) },
            json.model("token") { Token.of(it) },
            json.model("keys") { Keys.of(it) },
            json.mapOrNull("claims"),
            json.stringOrNull("context"),
            json.stringsOrNull("unverified_claims"),
            json.modelOrNull("grant") { Grant.of(it) }
        )
    }
}

/** New tokens and, if an ID Token is among them, its identity. */
data class Refreshed(
    /** The provider's tokens, for the backend only. Assay does not store them. */
    val grant: Grant,
    /** null if the provider returned no ID Token, or if it could not be verified. */
    val identity: Identity?,
    /** null if identity is. */
    val token: Token?,
    /** null if identity is. */
    val keys: Keys?,
    /** Only with include_claims: the token's Claims Set, as its original JSON text, so that no number is rounded. */
    val claims: Map<String, Any?>?,
    /** keys_unavailable if the provider returned an ID Token, but Assay has no keys to verify it. The grant is still valid. */
    val problem: Problem?
) {
    /** Without secrets. */
    override fun toString() = "Refreshed(grant=$grant, identity=$identity, token=$token, keys=$keys, problem=$problem)"

    internal companion object {
        fun of(json: Members) = Refreshed(
            json.model("grant") { Grant.of(it) },
            json.modelOrNull("identity") { Identity.of(it) },
            json.modelOrNull("token") { Token.of(it) },
            json.modelOrNull("keys") { Keys.of(it) },
            json.mapOrNull("claims"),
            json.modelOrNull("problem") { Problem.of(it) }
        )
    }
}

/** Where to send the browser. */
data class SignOut(
    /** null if it would have over 2,000 characters, or the hint came encrypted. */
    val logoutUrl: String?,
    /** The provider's end_session_endpoint. */
    val endpoint: String,
    /** The fields of a form that posts to endpoint; without those that have no value. */
    val parameters: Map<String, String>,
    /** What the browser comes back with; null without post_logout_redirect_uri. */
    val state: String?
) {
    /** Without secrets. */
    override fun toString() = "SignOut(endpoint=$endpoint)"

    internal companion object {
        fun of(json: Members) = SignOut(
            json.stringOrNull("logout_url"),
            json.string("endpoint"),
            json.texts("parameters"),
            json.stringOrNull("state")
        )
    }
}

/** A DPoP proof. */
data class Proof(
    /** The value of the header DPoP, for one call. */
    val dpop: String
) {
    /** Without secrets. */
    override fun toString() = "Proof()"

    internal companion object {
        fun of(json: Members) = Proof(
            json.string("dpop")
        )
    }
}

/** A verified access token. */
data class VerifiedAccessToken(
    /** null for an opaque token if the provider does not say whose it is. */
    val identity: Identity?,
    /** Other claims of the access token, all verified. */
    val token: AccessToken,
    /** What the access token grants. */
    val authorization: Authorization,
    /** null for an opaque token, unless the provider's answer was signed. */
    val keys: Keys?,
    /** Only for an opaque token, how old the provider's answer is. */
    val introspection: Introspection?,
    /** Only with include_claims: the token's Claims Set, or the provider's answer about an opaque token, as its original JSON text, so that no number is rounded. */
    val claims: Map<String, Any?>?,
    /** Only in responses of POST /v1/access-tokens/verify, and only where the settings have nonce: required for the call's DPoP proofs: for all, for its resource or for the token's provider (any of the resource's, if that is not known). Send it to the client in the header DPoP-Nonce: its next proof must have it. A nonce lives five minutes. */
    val dpopNonce: String?
) {
    /** Without secrets. */
    override fun toString() = "VerifiedAccessToken(identity=$identity, token=$token, authorization=$authorization, keys=$keys, introspection=$introspection, dpopNonce=$dpopNonce)"

    internal companion object {
        fun of(json: Members) = VerifiedAccessToken(
            json.modelOrNull("identity") { Identity.of(it) },
            json.model("token") { AccessToken.of(it) },
            json.model("authorization") { Authorization.of(it) },
            json.modelOrNull("keys") { Keys.of(it) },
            json.modelOrNull("introspection") { Introspection.of(it) },
            json.mapOrNull("claims"),
            json.stringOrNull("dpop_nonce")
        )
    }
}

/** A verified notification. */
data class VerifiedNotification(
    /** Who sent it. */
    val notification: Notification,
    val events: List<Event>,
    /** The source and age of the keys that verified the signature. */
    val keys: Keys
) {
    internal companion object {
        fun of(json: Members) = VerifiedNotification(
            json.model("notification") { Notification.of(it) },
            json.list("events") { Event.of(it) },
            json.model("keys") { Keys.of(it) }
        )
    }
}

/** A DPoP proof of a request (RFC 9449). */
class Dpop(
    /** The value of the request's one header DPoP, at most 8 KiB. If it has several, refuse it yourself. */
    val proof: String,
    /** The request's method. */
    val method: String,
    /** The URL that the client called: https, or http for a loopback host. Its query and fragment are ignored. */
    val url: String,
    /** The scheme of the request's Authorization, in any case: DPoP, or else the token is refused as binding_required. */
    val scheme: String
) {
    internal fun members(): Map<String, Any?> = present(
        "proof" to proof,
        "method" to method,
        "url" to url,
        "scheme" to scheme
    )
}

/** Optional members of a request; those that are null are not sent. */
class BeginOptions(
    /** Client ID that the token must be issued to. Default: the provider's first audience, or with redirect_uri the first client that lists it. With connection, the client ID at the connection's issuer, which is required. */
    val audience: String? = null,
    /** Maximum age of the user's authentication, in seconds, when the sign-in begins. It is taken from auth_time. A native token without auth_time is judged by iat, which is always recent: to prove re-authentication, also list auth_time in the provider's required_claims. In the browser, auth_time is required (claim_missing). */
    val maxAge: Long? = null,
    /** The identity.subject of the only user who can finish it (subject_mismatch). It must not be null. */
    val subject: String? = null,
    /** With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an issuer for each tenant, because subjects are unique only per issuer. It must not be null. */
    val issuer: String? = null,
    /** The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it together with issuer and audience, all three as the backend's database has them. It comes back as identity.connection. */
    val connection: String? = null,
    /** Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must not be null. */
    val claimValues: Map<String, Any?>? = null,
    /** The domains that this connection may speak for, because the backend has proved that they are this customer's. email_trust is unverified for addresses in all others. Only together with connection. */
    val emailDomains: List<String>? = null,
    /** At most 512 bytes that the finish returns, such as where to continue. Assay does not validate it: check a return URL before you begin. */
    val context: String? = null,
    /** Lifetime of the sign-in, in seconds. */
    val expiresIn: Long? = null
) {
    internal fun members(): Map<String, Any?> = present(
        "audience" to audience,
        "max_age" to maxAge,
        "subject" to subject,
        "issuer" to issuer,
        "connection" to connection,
        "claim_values" to claimValues,
        "email_domains" to emailDomains,
        "context" to context,
        "expires_in" to expiresIn
    )
}

/** Optional members of a request; those that are null are not sent. */
class BeginBrowserOptions(
    /** Client ID that the token must be issued to. Default: the provider's first audience, or with redirect_uri the first client that lists it. With connection, the client ID at the connection's issuer, which is required. */
    val audience: String? = null,
    /** Only together with redirect_uri: the scopes to request. openid is added, except at Apple. Default: the client's scopes. It must not be null. */
    val scopes: List<String>? = null,
    /** Only together with redirect_uri; a parameter of the authorization URL. */
    val prompt: String? = null,
    /** Only together with redirect_uri; a parameter of the authorization URL. */
    val loginHint: String? = null,
    /** Only together with redirect_uri; a parameter of the authorization URL. */
    val uiLocales: String? = null,
    /** Only together with redirect_uri; a parameter of the authorization URL. */
    val acrValues: String? = null,
    /** Whether the token's acr must be one of acr_values, which are then required (acr_mismatch). */
    val requireAcr: Boolean? = null,
    /** Only together with redirect_uri: at most 4096 bytes, sent to the provider as they are (OpenID Connect Core, section 5.5). An essential acr in id_token with value or values is checked at the finish (acr_mismatch), and an essential auth_time must be there (claim_missing). */
    val claims: Map<String, Any?>? = null,
    /** Only together with redirect_uri: what the access token is for (RFC 8707), together at most 512 bytes. The token endpoint is told too. */
    val resource: List<String>? = null,
    /** Only together with redirect_uri: an ID Token of the user, which may have expired. It is verified first, and sent to the provider; only this user can finish the sign-in (subject_mismatch). If it came encrypted, the client's requests must be pushed. */
    val idTokenHint: String? = null,
    /** Only together with redirect_uri; a parameter of the authorization URL. Apple posts its response (form_post) if scopes are requested; so does a provider whose client has response_type: code id_token. With jwt, query.jwt and form_post.jwt, the response must be signed (JARM); otherwise it is response_invalid. One of: query, form_post, jwt, query.jwt, form_post.jwt. */
    val responseMode: String? = null,
    /** Maximum age of the user's authentication, in seconds, when the sign-in begins. It is taken from auth_time. A native token without auth_time is judged by iat, which is always recent: to prove re-authentication, also list auth_time in the provider's required_claims. In the browser, auth_time is required (claim_missing). */
    val maxAge: Long? = null,
    /** The identity.subject of the only user who can finish it (subject_mismatch). It must not be null. */
    val subject: String? = null,
    /** With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an issuer for each tenant, because subjects are unique only per issuer. It must not be null. */
    val issuer: String? = null,
    /** The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it together with issuer and audience, all three as the backend's database has them. It comes back as identity.connection. */
    val connection: String? = null,
    /** How the client of the connection authenticates to its provider: required for calls to the provider's endpoints if the request names a connection, or the sign-in began with one; its ID is the connection's audience. Nothing keeps the secret after the request. */
    val client: Map<String, Any?>? = null,
    /** Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must not be null. */
    val claimValues: Map<String, Any?>? = null,
    /** The domains that this connection may speak for, because the backend has proved that they are this customer's. email_trust is unverified for addresses in all others. Only together with connection. */
    val emailDomains: List<String>? = null,
    /** At most 512 bytes that the finish returns, such as where to continue. Assay does not validate it: check a return URL before you begin. */
    val context: String? = null,
    /** Lifetime of the sign-in, in seconds. */
    val expiresIn: Long? = null
) {
    internal fun members(): Map<String, Any?> = present(
        "audience" to audience,
        "scopes" to scopes,
        "prompt" to prompt,
        "login_hint" to loginHint,
        "ui_locales" to uiLocales,
        "acr_values" to acrValues,
        "require_acr" to requireAcr,
        "claims" to claims,
        "resource" to resource,
        "id_token_hint" to idTokenHint,
        "response_mode" to responseMode,
        "max_age" to maxAge,
        "subject" to subject,
        "issuer" to issuer,
        "connection" to connection,
        "client" to client,
        "claim_values" to claimValues,
        "email_domains" to emailDomains,
        "context" to context,
        "expires_in" to expiresIn
    )
}

/** Optional members of a request; those that are null are not sent. */
class FinishOptions(
    /** The authorization code that the app got. It is exchanged if the audience has a client; otherwise it is only compared with c_hash. */
    val code: String? = null,
    /** The access token that came with the ID Token, to be checked against at_hash. Only together with id_token. */
    val accessToken: String? = null,
    /** In the browser: the address that received the response, which must be the one that the sign-in began with. Native: the redirect URI, if any, that the SDK got the code with. The client must list it; it is sent with the code. Required with response and connection. */
    val redirectUri: String? = null,
    /** Required if the sign-in began with a connection, and refused otherwise: the same one, as the backend's session for this browser or app has it. If it is another, the answer is sign_in_invalid, and nothing is sent to a provider: the browser may have swapped sign_in. */
    val connection: String? = null,
    /** How the client of the connection authenticates to its provider: required for calls to the provider's endpoints if the request names a connection, or the sign-in began with one; its ID is the connection's audience. Nothing keeps the secret after the request. */
    val client: Map<String, Any?>? = null,
    /** The object user that Apple sent with the token; null at every sign-in but the first. */
    val user: Map<String, Any?>? = null,
    /** Whether the response includes the token's raw claims, as claims. */
    val includeClaims: Boolean? = null
) {
    internal fun members(): Map<String, Any?> = present(
        "code" to code,
        "access_token" to accessToken,
        "redirect_uri" to redirectUri,
        "connection" to connection,
        "client" to client,
        "user" to user,
        "include_claims" to includeClaims
    )
}

/** Optional members of a request; those that are null are not sent. */
class FinishBrowserOptions(
    /** Required if the sign-in began with a connection, and refused otherwise: the same one, as the backend's session for this browser or app has it. If it is another, the answer is sign_in_invalid, and nothing is sent to a provider: the browser may have swapped sign_in. */
    val connection: String? = null,
    /** How the client of the connection authenticates to its provider: required for calls to the provider's endpoints if the request names a connection, or the sign-in began with one; its ID is the connection's audience. Nothing keeps the secret after the request. */
    val client: Map<String, Any?>? = null,
    /** Whether the response includes the token's raw claims, as claims. */
    val includeClaims: Boolean? = null
) {
    internal fun members(): Map<String, Any?> = present(
        "connection" to connection,
        "client" to client,
        "include_claims" to includeClaims
    )
}

/** Optional members of a request; those that are null are not sent. */
class RefreshOptions(
    /** The latest grant.binding of the grant that the token belongs to. Required if the client has sender_constraint: dpop (not beside code). */
    val binding: String? = null,
    /** With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an issuer for each tenant, because subjects are unique only per issuer. It must not be null. */
    val issuer: String? = null,
    /** The client that the token was issued to. Required if the provider has several clients. */
    val audience: String? = null,
    /** The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it together with issuer and audience, all three as the backend's database has them. It comes back as identity.connection. */
    val connection: String? = null,
    /** Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must not be null. */
    val claimValues: Map<String, Any?>? = null,
    /** The domains that this connection may speak for, because the backend has proved that they are this customer's. email_trust is unverified for addresses in all others. Only together with connection. */
    val emailDomains: List<String>? = null,
    /** How the client of the connection authenticates to its provider: required for calls to the provider's endpoints if the request names a connection, or the sign-in began with one; its ID is the connection's audience. Nothing keeps the secret after the request. */
    val client: Map<String, Any?>? = null,
    /** The scopes to request, a subset of those granted. If absent, all of them. */
    val scopes: List<String>? = null,
    /** Whether the response includes the ID Token's raw claims, as claims. */
    val includeClaims: Boolean? = null
) {
    internal fun members(): Map<String, Any?> = present(
        "binding" to binding,
        "issuer" to issuer,
        "audience" to audience,
        "connection" to connection,
        "claim_values" to claimValues,
        "email_domains" to emailDomains,
        "client" to client,
        "scopes" to scopes,
        "include_claims" to includeClaims
    )
}

/** Optional members of a request; those that are null are not sent. */
class RevokeOptions(
    /** The type of token. Only together with token. One of: refresh_token, access_token. */
    val tokenTypeHint: String? = null,
    /** The latest grant.binding of the grant that the token belongs to. Required if the client has sender_constraint: dpop (not beside code). */
    val binding: String? = null,
    /** The client that it was issued to. Required if the provider has several clients. */
    val audience: String? = null,
    /** With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an issuer for each tenant, because subjects are unique only per issuer. It must not be null. */
    val issuer: String? = null,
    /** The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it together with issuer and audience, all three as the backend's database has them. It comes back as identity.connection. */
    val connection: String? = null,
    /** Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must not be null. */
    val claimValues: Map<String, Any?>? = null,
    /** The domains that this connection may speak for, because the backend has proved that they are this customer's. email_trust is unverified for addresses in all others. Only together with connection. */
    val emailDomains: List<String>? = null,
    /** How the client of the connection authenticates to its provider: required for calls to the provider's endpoints if the request names a connection, or the sign-in began with one; its ID is the connection's audience. Nothing keeps the secret after the request. */
    val client: Map<String, Any?>? = null
) {
    internal fun members(): Map<String, Any?> = present(
        "token_type_hint" to tokenTypeHint,
        "binding" to binding,
        "audience" to audience,
        "issuer" to issuer,
        "connection" to connection,
        "claim_values" to claimValues,
        "email_domains" to emailDomains,
        "client" to client
    )
}

/** Optional members of a request; those that are null are not sent. */
class RevokeCodeOptions(
    /** The client that it was issued to. Required if the provider has several clients. */
    val audience: String? = null,
    /** The redirect URI, if any, that the app's SDK got the code with. Only together with code. */
    val redirectUri: String? = null,
    /** The user to whom the code must belong. Only together with code. */
    val subject: String? = null,
    /** With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an issuer for each tenant, because subjects are unique only per issuer. It must not be null. */
    val issuer: String? = null,
    /** The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it together with issuer and audience, all three as the backend's database has them. It comes back as identity.connection. */
    val connection: String? = null,
    /** Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must not be null. */
    val claimValues: Map<String, Any?>? = null,
    /** The domains that this connection may speak for, because the backend has proved that they are this customer's. email_trust is unverified for addresses in all others. Only together with connection. */
    val emailDomains: List<String>? = null,
    /** How the client of the connection authenticates to its provider: required for calls to the provider's endpoints if the request names a connection, or the sign-in began with one; its ID is the connection's audience. Nothing keeps the secret after the request. */
    val client: Map<String, Any?>? = null
) {
    internal fun members(): Map<String, Any?> = present(
        "audience" to audience,
        "redirect_uri" to redirectUri,
        "subject" to subject,
        "issuer" to issuer,
        "connection" to connection,
        "claim_values" to claimValues,
        "email_domains" to emailDomains,
        "client" to client
    )
}

/** Optional members of a request; those that are null are not sent. */
class VerifyOptions(
    /** The id of a configured provider. If absent, the token's unverified iss selects the provider. */
    val provider: String? = null,
    /** The client ID of this sign-in. Only this one of the provider's audiences is then accepted. It must be one of them (audience_not_configured). With connection, the client ID at the connection's issuer, which is required. */
    val audience: String? = null,
    /** The maximum number of seconds since the user last authenticated, for re-authentication. Compared with auth_time, or with iat if the token has no auth_time. iat is always recent: to prove re-authentication, also list auth_time in the provider's required_claims. Written without a fraction or an exponent. */
    val maxAge: Long? = null,
    /** When this user's sessions were last revoked, as Unix time in seconds. If the user authenticated before that (auth_time, or iat if the token has none), the token is refused with session_revoked. Store one such time for each user to end all of their sessions at once. The clock skew is not applied. It must not be null. */
    val authenticatedAfter: Long? = null,
    /** For re-authentication and linking: the identity.subject of the expected user. A token of any other user is refused with subject_mismatch, as the last check. It must not be null. */
    val subject: String? = null,
    /** With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an issuer for each tenant, because subjects are unique only per issuer. It must not be null. */
    val issuer: String? = null,
    /** The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it together with issuer and audience, all three as the backend's database has them. It comes back as identity.connection. */
    val connection: String? = null,
    /** Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must not be null. */
    val claimValues: Map<String, Any?>? = null,
    /** The domains that this connection may speak for, because the backend has proved that they are this customer's. email_trust is unverified for addresses in all others. Only together with connection. */
    val emailDomains: List<String>? = null,
    /** The access token that was issued with the ID Token; checked against at_hash. */
    val accessToken: String? = null,
    /** The authorization code that was issued with the ID Token; checked against c_hash. */
    val code: String? = null,
    /** The object user that Apple sent with the token; null at every sign-in but the first. */
    val user: Map<String, Any?>? = null,
    /** Whether the response includes the token's raw claims, as claims. */
    val includeClaims: Boolean? = null
) {
    internal fun members(): Map<String, Any?> = present(
        "provider" to provider,
        "audience" to audience,
        "max_age" to maxAge,
        "authenticated_after" to authenticatedAfter,
        "subject" to subject,
        "issuer" to issuer,
        "connection" to connection,
        "claim_values" to claimValues,
        "email_domains" to emailDomains,
        "access_token" to accessToken,
        "code" to code,
        "user" to user,
        "include_claims" to includeClaims
    )
}

/** Optional members of a request; those that are null are not sent. */
class AccessTokenOptions(
    /** The id of the resource that the token must be for, instead of provider and audience. It must not be null. */
    val resource: String? = null,
    /** The id of a provider with tokens: access or tokens: opaque. If absent, the token's issuer selects it; an opaque token names none. */
    val provider: String? = null,
    /** The only audience to accept, one of the provider's audiences. */
    val audience: String? = null,
    /** The identity.subject of the only user or machine to accept (subject_mismatch). It must not be null. */
    val subject: String? = null,
    /** With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an issuer for each tenant, because subjects are unique only per issuer. It must not be null. */
    val issuer: String? = null,
    /** When this user's sessions were last revoked, as Unix time in seconds. If the user authenticated before that (auth_time, or iat if the token has none), the token is refused with session_revoked. Store one such time for each user to end all of their sessions at once. The clock skew is not applied. It must not be null. */
    val authenticatedAfter: Long? = null,
    /** The scopes that the call needs. The token must grant them all (scope_missing). It must not be null. */
    val scopes: List<String>? = null,
    /** Whether the response includes the token's raw claims, as claims. */
    val includeClaims: Boolean? = null,
    /** The client's certificate of the TLS connection, for a token that is bound to it (cnf with x5t#S256): in PEM, which may be percent-encoded, or as base64 of its DER; or its SHA-256 in 43 characters of base64url. null and an empty string mean that there is none. */
    val certificate: String? = null,
    /** The request's DPoP proof, for a token that is bound to the key of such proofs (cnf with jkt). Only with the setting dpop. null and an empty string mean that there is none. */
    val dpop: Dpop? = null
) {
    internal fun members(): Map<String, Any?> = present(
        "resource" to resource,
        "provider" to provider,
        "audience" to audience,
        "subject" to subject,
        "issuer" to issuer,
        "authenticated_after" to authenticatedAfter,
        "scopes" to scopes,
        "include_claims" to includeClaims,
        "certificate" to certificate,
        "dpop" to dpop?.members()
    )
}

/** Optional members of a request; those that are null are not sent. */
class NotificationOptions(
    /** The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it together with issuer and audience, all three as the backend's database has them. It comes back as identity.connection. */
    val connection: String? = null,
    /** Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must not be null. */
    val claimValues: Map<String, Any?>? = null,
    /** The domains that this connection may speak for, because the backend has proved that they are this customer's. email_trust is unverified for addresses in all others. Only together with connection. */
    val emailDomains: List<String>? = null,
    /** With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an issuer for each tenant, because subjects are unique only per issuer. It must not be null. */
    val issuer: String? = null,
    /** With connection, the client ID at the connection's issuer. */
    val audience: String? = null
) {
    internal fun members(): Map<String, Any?> = present(
        "connection" to connection,
        "claim_values" to claimValues,
        "email_domains" to emailDomains,
        "issuer" to issuer,
        "audience" to audience
    )
}

/** Optional members of a request; those that are null are not sent. */
class SignOutOptions(
    /** The client that the user signed in to. Default: the first client that lists post_logout_redirect_uri, or else the provider's first client. */
    val audience: String? = null,
    /** The ID Token of the sign-in, which may be encrypted or have expired. */
    val idTokenHint: String? = null,
    /** Where the browser comes back to: one of the client's post_logout_redirect_uris, byte for byte (redirect_uri_not_configured). */
    val postLogoutRedirectUri: String? = null,
    /** Names the user in the provider's form, such as Microsoft's claim login_hint. */
    val logoutHint: String? = null,
    /** Languages of the provider's page, separated by spaces. */
    val uiLocales: String? = null,
    /** With connection, the issuer of the connection, which is required: an https URL of at most 255 characters, with port 443 and without user, query or fragment. The token's iss must be this issuer, byte for byte. An issuer that another provider of the settings or a preset has, such as Google's, needs claim_values. Otherwise, the identity.issuer of subject; only together with subject, and required if the provider has an issuer for each tenant, because subjects are unique only per issuer. It must not be null. */
    val issuer: String? = null,
    /** The backend's own id of the connection, only for a provider with issuers: any, whose every request needs it together with issuer and audience, all three as the backend's database has them. It comes back as identity.connection. */
    val connection: String? = null,
    /** Values that claims of this connection's tokens must have, in addition to the provider's claim_values: for each claim a string, a boolean or an integer, or a list of 1 to 100 of them. Only together with connection. It must not be null. */
    val claimValues: Map<String, Any?>? = null,
    /** The domains that this connection may speak for, because the backend has proved that they are this customer's. email_trust is unverified for addresses in all others. Only together with connection. */
    val emailDomains: List<String>? = null
) {
    internal fun members(): Map<String, Any?> = present(
        "audience" to audience,
        "id_token_hint" to idTokenHint,
        "post_logout_redirect_uri" to postLogoutRedirectUri,
        "logout_hint" to logoutHint,
        "ui_locales" to uiLocales,
        "issuer" to issuer,
        "connection" to connection,
        "claim_values" to claimValues,
        "email_domains" to emailDomains
    )
}

/** Optional members of a request; those that are null are not sent. */
class ProofOptions(
    /** The client that the grant must be of; the binding's own by default. */
    val audience: String? = null,
    /** The nonce that the API demands: the value of DPoP-Nonce. */
    val nonce: String? = null
) {
    internal fun members(): Map<String, Any?> = present(
        "audience" to audience,
        "nonce" to nonce
    )
}

/** The codes of problems. Assay may add codes. */
object Code {
    const val REQUEST_INVALID = "request_invalid"
    const val AUDIENCE_NOT_CONFIGURED = "audience_not_configured"
    const val CLIENT_NOT_CONFIGURED = "client_not_configured"
    const val REDIRECT_URI_NOT_CONFIGURED = "redirect_uri_not_configured"
    const val SIGN_IN_NOT_SUPPORTED = "sign_in_not_supported"
    const val REVOCATION_NOT_SUPPORTED = "revocation_not_supported"
    const val SIGN_OUT_NOT_SUPPORTED = "sign_out_not_supported"
    const val NOTIFICATIONS_NOT_CONFIGURED = "notifications_not_configured"
    const val URL_NOT_ALLOWED = "url_not_allowed"
    const val CALLER_UNAUTHENTICATED = "caller_unauthenticated"
    const val CALLER_FORBIDDEN = "caller_forbidden"
    const val NOT_FOUND = "not_found"
    const val PROVIDER_UNKNOWN = "provider_unknown"
    const val RESOURCE_UNKNOWN = "resource_unknown"
    const val METHOD_NOT_ALLOWED = "method_not_allowed"
    const val REQUEST_TIMEOUT = "request_timeout"
    const val REQUEST_TOO_LARGE = "request_too_large"
    const val CONTENT_TYPE_UNSUPPORTED = "content_type_unsupported"
    const val TOKEN_MALFORMED = "token_malformed"
    const val DECRYPTION_FAILED = "decryption_failed"
    const val ENCRYPTION_REQUIRED = "encryption_required"
    const val HEADER_UNSUPPORTED = "header_unsupported"
    const val ALGORITHM_NOT_ALLOWED = "algorithm_not_allowed"
    const val KEY_NOT_FOUND = "key_not_found"
    const val KEY_UNSUITABLE = "key_unsuitable"
    const val SIGNATURE_INVALID = "signature_invalid"
    const val ISSUER_MISMATCH = "issuer_mismatch"
    const val AUDIENCE_MISMATCH = "audience_mismatch"
    const val AUTHORIZED_PARTY_MISMATCH = "authorized_party_mismatch"
    const val TOKEN_EXPIRED = "token_expired"
    const val TOKEN_NOT_YET_VALID = "token_not_yet_valid"
    const val TOKEN_TOO_OLD = "token_too_old"
    const val AUTH_TIME_TOO_OLD = "auth_time_too_old"
    const val SESSION_REVOKED = "session_revoked"
    const val CLAIM_MISSING = "claim_missing"
    const val CLAIM_INVALID = "claim_invalid"
    const val GROUPS_OVERAGE = "groups_overage"
    const val NONCE_REQUIRED = "nonce_required"
    const val NONCE_MISSING = "nonce_missing"
    const val NONCE_MISMATCH = "nonce_mismatch"
    const val AT_HASH_MISSING = "at_hash_missing"
    const val AT_HASH_MISMATCH = "at_hash_mismatch"
    const val C_HASH_MISSING = "c_hash_missing"
    const val C_HASH_MISMATCH = "c_hash_mismatch"
    const val SUBJECT_MISMATCH = "subject_mismatch"
    const val SCOPE_MISSING = "scope_missing"
    const val TOKEN_INACTIVE = "token_inactive"
    const val BINDING_REQUIRED = "binding_required"
    const val BINDING_MISSING = "binding_missing"
    const val BINDING_MISMATCH = "binding_mismatch"
    const val DPOP_PROOF_INVALID = "dpop_proof_invalid"
    const val DPOP_NONCE_REQUIRED = "dpop_nonce_required"
    const val DPOP_PROOF_REPLAYED = "dpop_proof_replayed"
    const val TOKEN_MISSING = "token_missing"
    const val NONCE_REPLAYED = "nonce_replayed"
    const val BINDING_INVALID = "binding_invalid"
    const val SIGN_IN_INVALID = "sign_in_invalid"
    const val SIGN_IN_EXPIRED = "sign_in_expired"
    const val SIGN_IN_REPLAYED = "sign_in_replayed"
    const val STATE_MISMATCH = "state_mismatch"
    const val REDIRECT_URI_MISMATCH = "redirect_uri_mismatch"
    const val RESPONSE_ISSUER_MISMATCH = "response_issuer_mismatch"
    const val RESPONSE_INVALID = "response_invalid"
    const val ACR_MISMATCH = "acr_mismatch"
    const val SIGN_IN_DENIED = "sign_in_denied"
    const val GRANT_INVALID = "grant_invalid"
    const val PROVIDER_REFUSED = "provider_refused"
    const val HEADERS_TOO_LARGE = "headers_too_large"
    const val INTERNAL = "internal"
    const val CLIENT_REJECTED = "client_rejected"
    const val PROVIDER_ANSWER_INVALID = "provider_answer_invalid"
    const val PROVIDER_UNAVAILABLE = "provider_unavailable"
    const val KEYS_UNAVAILABLE = "keys_unavailable"
    const val REQUEST_UNKNOWN = "request_unknown"
    const val STORE_UNAVAILABLE = "store_unavailable"
    const val OVERLOADED = "overloaded"
    const val SHUTTING_DOWN = "shutting_down"

    /** Every code that this version knows. */
    val all = listOf(
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
        SHUTTING_DOWN
    )
}

/** What a fake client answers, by call: the examples of the contract. */
internal const val EXAMPLES = "{\"resource_metadata\":{\"resource\":\"https://mcp.example.com/mcp\",\"authorization_servers\":[\"https://auth.example.com\"],\"bearer_methods_supported\":[\"header\"],\"resource_name\":\"Tools\",\"scopes_supported\":[\"mcp:tools\"]},\"begin\":{\"sign_in\":\"AUf5Wc1Jk0xQnJgq0m3c2n8bQ1yPq6T0bXb5uQm7y3k9w0Yd1N2mJk4hQ0Zb8sVtR6e2c1oXfLrA5iUj7pKd3gHnTwEz\",\"nonce\":\"mE7q2vYc9KpT4sWx1ZbN6hRj8LdFg3Qa\",\"nonce_sha256\":\"2fa2d26d37a48bf22be86a7754df9749e11609aca24a3840b8e0076a39ce9846\",\"state\":null,\"authorization_url\":null,\"expires_at\":1763716920},\"begin_in_browser\":{\"sign_in\":\"AkRvu7pXc1mJ0sQ9bZtYw2dLhN6gK4eT8xVfC3iUaMoPqSr5WnEyBzDjHl0_7c2f1Jk0xQnJgq0m3c2n8bQ1yPq6T0bXb5uQm7y3k9w0Yd1N2mJk4hQ0\",\"nonce\":\"Qn5pVhT2rK8sXw1eYj6uLgM3bZc7DfA9\",\"state\":\"k3JvN8pQ2sXw7RzT1bYcUg\",\"expires_at\":1763716920,\"nonce_sha256\":\"2398d9779382c92a1081e7f080bf50cdab59ab70fc0d7465f1d835e77e09c9c2\",\"authorization_url\":\"https://accounts.google.com/o/oauth2/v2/auth?response_type=code&client_id=1045-web.apps.example.com&redirect_uri=https%3A%2F%2Fexample.com%2Fcallback%2Fgoogle&scope=openid%20email%20profile&state=k3JvN8pQ2sXw7RzT1bYcUg&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&nonce=Qn5pVhT2rK8sXw1eYj6uLgM3bZc7DfA9\"},\"finish\":{\"identity\":{\"provider\":\"google\",\"issuer\":\"https://accounts.google.com\",\"subject\":\"110248495921238986420\",\"email\":\"ada@example.com\",\"email_verified\":true,\"email_trust\":\"authoritative\",\"is_private_email\":null,\"name\":\"Ada Lovelace\",\"given_name\":\"Ada\",\"family_name\":\"Lovelace\",\"name_source\":\"token\",\"preferred_username\":null,\"picture\":\"https://images.example.com/ada.png\",\"locale\":null,\"real_user_status\":null,\"transfer_subject\":null,\"tenant\":null,\"hosted_domain\":\"example.com\"},\"token\":{\"audience\":[\"1045-web.apps.example.com\"],\"authorized_party\":\"1045-web.apps.example.com\",\"issued_at\":1763716320,\"expires_at\":1763719920,\"not_before\":null,\"auth_time\":null,\"token_id\":\"3f0c5a9e7d\",\"session_id\":null,\"acr\":null,\"amr\":[],\"algorithm\":\"RS256\",\"key_id\":\"5b3706960e3e60024a2655e78cfa63f87c97d309\",\"nonce_match\":\"plain\"},\"keys\":{\"source\":\"network\",\"age_seconds\":4,\"stale\":false},\"context\":\"/basket\",\"grant\":null},\"finish_in_browser\":{\"identity\":{\"provider\":\"google\",\"issuer\":\"https://accounts.google.com\",\"subject\":\"110248495921238986420\",\"email\":\"ada@example.com\",\"email_verified\":true,\"email_trust\":\"authoritative\",\"is_private_email\":null,\"name\":\"Ada Lovelace\",\"given_name\":\"Ada\",\"family_name\":\"Lovelace\",\"name_source\":\"token\",\"preferred_username\":null,\"picture\":\"https://images.example.com/ada.png\",\"locale\":null,\"real_user_status\":null,\"transfer_subject\":null,\"tenant\":null,\"hosted_domain\":\"example.com\"},\"token\":{\"audience\":[\"1045-web.apps.example.com\"],\"authorized_party\":\"1045-web.apps.example.com\",\"issued_at\":1763716320,\"expires_at\":1763719920,\"not_before\":null,\"auth_time\":null,\"token_id\":\"3f0c5a9e7d\",\"session_id\":null,\"acr\":null,\"amr\":[],\"algorithm\":\"RS256\",\"key_id\":\"5b3706960e3e60024a2655e78cfa63f87c97d309\",\"nonce_match\":\"plain\"},\"keys\":{\"source\":\"network\",\"age_seconds\":4,\"stale\":false},\"context\":\"/basket\",\"grant\":{\"access_token\":\"ya29.a0AcM612xRfX4s\",\"token_type\":\"Bearer\",\"expires_at\":1763719920,\"refresh_token\":\"1//0gLrV2kQx9wY7nT\",\"scopes\":[\"openid\",\"email\",\"profile\"],\"id_token\":\"eyJ.example.token\"}},\"refresh\":{\"grant\":{\"access_token\":\"a9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b4.0.mtyqz.Qn5pVhT2rK8sXw1eYj6uLg\",\"token_type\":\"Bearer\",\"expires_at\":1763719920,\"refresh_token\":null,\"scopes\":null,\"id_token\":null},\"identity\":null,\"token\":null,\"keys\":null,\"problem\":null},\"verify\":{\"identity\":{\"provider\":\"apple\",\"issuer\":\"https://appleid.apple.com\",\"subject\":\"001234.5e7fd0c1a2b3498c8d6e0f1a2b3c4d5e.0219\",\"email\":\"dpdcnf87nu@privaterelay.appleid.com\",\"email_verified\":true,\"email_trust\":\"authoritative\",\"is_private_email\":true,\"name\":\"Ada Lovelace\",\"given_name\":\"Ada\",\"family_name\":\"Lovelace\",\"name_source\":\"client\",\"preferred_username\":null,\"picture\":null,\"locale\":null,\"real_user_status\":\"likely_real\",\"transfer_subject\":null,\"tenant\":null,\"hosted_domain\":null},\"token\":{\"audience\":[\"com.example.app\"],\"authorized_party\":null,\"issued_at\":1763716320,\"expires_at\":1763802720,\"not_before\":null,\"auth_time\":1763716320,\"token_id\":null,\"session_id\":null,\"acr\":null,\"amr\":[],\"algorithm\":\"RS256\",\"key_id\":\"Ey3tWUrUrC\",\"nonce_match\":\"sha256_hex\"},\"keys\":{\"source\":\"network\",\"age_seconds\":312,\"stale\":false}},\"verify_notification\":{\"notification\":{\"provider\":\"apple\",\"issuer\":\"https://appleid.apple.com\",\"kind\":\"apple\",\"id\":\"uC3oPbPDeZ8Zx0v2f8hYAg\",\"issued_at\":1763716320},\"events\":[{\"type\":\"email_relay_disabled\",\"subject\":\"001234.5e7fd0c1a2b3498c8d6e0f1a2b3c4d5e.0219\",\"session_id\":null,\"email\":\"dpdcnf87nu@privaterelay.appleid.com\",\"is_private_email\":true,\"occurred_at\":1763716299,\"reason\":null,\"data\":{}}],\"keys\":{\"source\":\"network\",\"age_seconds\":4,\"stale\":false}},\"verify_access_token\":{\"identity\":{\"provider\":\"api\",\"issuer\":\"https://login.example.com/\",\"subject\":\"5ba552d67\",\"email\":null,\"email_verified\":null,\"email_trust\":null,\"is_private_email\":null,\"name\":null,\"given_name\":null,\"family_name\":null,\"name_source\":null,\"preferred_username\":null,\"picture\":null,\"locale\":null,\"real_user_status\":null,\"transfer_subject\":null,\"tenant\":null,\"hosted_domain\":null},\"token\":{\"audience\":[\"https://api.example.com/\"],\"authorized_party\":null,\"issued_at\":1763716320,\"expires_at\":1763719920,\"not_before\":null,\"auth_time\":null,\"token_id\":\"dbe39bf3a3ba4238\",\"session_id\":null,\"acr\":null,\"amr\":[],\"algorithm\":\"RS256\",\"key_id\":\"api-2025\",\"nonce_match\":null},\"authorization\":{\"client_id\":\"s6BhdRkqt3\",\"scopes\":[\"orders:read\",\"orders:write\"],\"roles\":[],\"groups\":[\"staff\"],\"entitlements\":[],\"binding\":null},\"keys\":{\"source\":\"network\",\"age_seconds\":4,\"stale\":false}},\"sign_out\":{\"logout_url\":\"https://login.acme.example/logout?client_id=1045-web&post_logout_redirect_uri=https%3A%2F%2Fexample.com%2Fsigned-out&state=k3JvN8pQ2sXw7RzT1bYcUg\",\"endpoint\":\"https://login.acme.example/logout\",\"parameters\":{\"client_id\":\"1045-web\",\"post_logout_redirect_uri\":\"https://example.com/signed-out\",\"state\":\"k3JvN8pQ2sXw7RzT1bYcUg\"},\"state\":\"k3JvN8pQ2sXw7RzT1bYcUg\"},\"proof\":{\"dpop\":\"eyJ.example.token\"}}"
