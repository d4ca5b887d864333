internal import Host
package import IDToken
private import JOSE
package import JSON
internal import KeySource

/// The keys that verified a token, as an answer reports them.
struct KeysUsed {
    let source: KeySnapshot.Source
    let ageSeconds: Int64
    let isStale: Bool

    init(_ source: KeySnapshot.Source, fetchedAt: MonotonicTime, freshUntil: MonotonicTime, now: MonotonicTime) {
        self.source = source
        ageSeconds = max((now - fetchedAt).milliseconds / 1000, 0)
        isStale = now > freshUntil
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("source", source.rawValue)
        json.member("age_seconds", ageSeconds)
        json.member("stale", isStale)
        json.endObject()
    }
}

/// The answer for a verified token: who signed in, the token's claims, and the keys that were used.
package struct VerifyAnswer {
    let token: VerifiedIDToken
    let keys: KeysUsed
    let includesClaims: Bool

    /// The user whom the token names.
    package var identity: Identity { token.identity }

    /// Writes the answer as a JSON object, every member present.
    package func write(to json: inout JSONWriter) {
        json.beginObject()
        writeMembers(to: &json)
        json.endObject()
    }

    /// Writes the answer's members into an object that has other members too.
    package func writeMembers(to json: inout JSONWriter) { writeMembers(token.identity, to: &json) }

    /// The same with the identity as user info completes it.
    package func writeMembers(_ identity: borrowing Identity, to json: inout JSONWriter) {
        json.name("identity")
        write(identity, to: &json)
        json.name("token")
        writeToken(to: &json)
        json.name("keys")
        keys.write(to: &json)
        if includesClaims {
            json.name("claims")
            json.raw(token.claimsText)
        }
    }

    private func write(_ identity: borrowing Identity, to json: inout JSONWriter) {
        json.beginObject()
        json.member("provider", identity.provider)
        json.member("issuer", identity.issuer)
        json.member("subject", identity.subject)
        json.member("email", identity.email)
        json.member("email_verified", identity.isEmailVerified)
        json.member("email_trust", identity.emailTrust?.rawValue)
        json.member("is_private_email", identity.isPrivateEmail)
        json.member("name", identity.name)
        json.member("given_name", identity.givenName)
        json.member("family_name", identity.familyName)
        json.member("name_source", identity.nameSource?.rawValue)
        json.member("preferred_username", identity.preferredUsername)
        json.member("picture", identity.picture)
        json.member("locale", identity.locale)
        json.member("real_user_status", identity.realUserStatus?.rawValue)
        json.member("transfer_subject", identity.transferSubject)
        json.member("tenant", identity.tenant)
        json.member("hosted_domain", identity.hostedDomain)
        json.endObject()
    }

    private func writeToken(to json: inout JSONWriter) {
        json.beginObject()
        json.name("audience")
        json.beginArray()
        for audience in token.audiences { json.value(audience) }
        json.endArray()
        json.member("authorized_party", token.authorizedParty)
        json.member("issued_at", token.issuedAt.seconds)
        json.member("expires_at", token.expiresAt.seconds)
        json.member("not_before", token.notBefore?.seconds)
        json.member("auth_time", token.authTime?.seconds)
        json.member("token_id", token.tokenID)
        json.member("session_id", token.sessionID)
        json.member("acr", token.authenticationContextClass)
        json.name("amr")
        json.beginArray()
        for method in token.authenticationMethods { json.value(method) }
        json.endArray()
        json.member("algorithm", token.algorithm.rawValue)
        json.member("key_id", token.keyID)
        json.member("nonce_match", token.nonceMatch?.rawValue)
        json.endObject()
    }
}
