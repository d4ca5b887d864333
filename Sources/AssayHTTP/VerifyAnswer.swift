internal import Clocks
internal import IDToken
private import JOSE
internal import JSON
internal import KeySource

/// The answer to a token that verified: who signed in, what the token says, and which keys said so.
struct VerifyAnswer {
    let token: VerifiedIDToken
    let keys: KeySnapshot
    let now: MonotonicTime
    let includesClaims: Bool

    /// Writes the answer as a JSON object, every member present.
    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.name("identity")
        write(token.identity, to: &json)
        json.name("token")
        writeToken(to: &json)
        json.name("keys")
        writeKeys(to: &json)
        if includesClaims {
            json.name("claims")
            json.raw(token.claimsText)
        }
        json.endObject()
    }

    private func write(_ identity: Identity, to json: inout JSONWriter) {
        json.beginObject()
        json.name("provider")
        json.value(identity.provider)
        json.name("issuer")
        json.value(identity.issuer)
        json.name("subject")
        json.value(identity.subject)
        json.name("email")
        json.value(identity.email)
        json.name("email_verified")
        json.value(identity.isEmailVerified)
        json.name("email_trust")
        json.value(identity.emailTrust?.rawValue)
        json.name("is_private_email")
        json.value(identity.isPrivateEmail)
        json.name("name")
        json.value(identity.name)
        json.name("given_name")
        json.value(identity.givenName)
        json.name("family_name")
        json.value(identity.familyName)
        json.name("name_source")
        json.value(identity.nameSource?.rawValue)
        json.name("preferred_username")
        json.value(identity.preferredUsername)
        json.name("picture")
        json.value(identity.picture)
        json.name("locale")
        json.value(identity.locale)
        json.name("real_user_status")
        json.value(identity.realUserStatus?.rawValue)
        json.name("transfer_subject")
        json.value(identity.transferSubject)
        json.name("tenant")
        json.value(identity.tenant)
        json.name("hosted_domain")
        json.value(identity.hostedDomain)
        json.endObject()
    }

    private func writeToken(to json: inout JSONWriter) {
        json.beginObject()
        json.name("audience")
        json.beginArray()
        for audience in token.audiences { json.value(audience) }
        json.endArray()
        json.name("authorized_party")
        json.value(token.authorizedParty)
        json.name("issued_at")
        json.value(token.issuedAt.seconds)
        json.name("expires_at")
        json.value(token.expiresAt.seconds)
        json.name("not_before")
        json.value(token.notBefore?.seconds)
        json.name("auth_time")
        json.value(token.authTime?.seconds)
        json.name("token_id")
        json.value(token.tokenID)
        json.name("session_id")
        json.value(token.sessionID)
        json.name("acr")
        json.value(token.contextClass)
        json.name("amr")
        json.beginArray()
        for method in token.authenticationMethods { json.value(method) }
        json.endArray()
        json.name("algorithm")
        json.value(token.algorithm.rawValue)
        json.name("key_id")
        json.value(token.keyID)
        json.name("nonce_match")
        json.value(token.nonceMatch?.rawValue)
        json.endObject()
    }

    private func writeKeys(to json: inout JSONWriter) {
        json.beginObject()
        json.name("source")
        json.value(keys.source.rawValue)
        json.name("age_seconds")
        json.value(max((now - keys.fetchedAt).milliseconds / 1000, 0))
        json.name("stale")
        json.value(keys.isStale(at: now))
        json.endObject()
    }
}
