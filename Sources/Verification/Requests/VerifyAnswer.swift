package import HTTP
package import IDToken
package import JOSE
internal import Keys
internal import OAuth

/// The keys that verified a token, as an answer reports them.
package struct KeysUsed: Sendable {
    let source: KeySnapshot.Source
    let ageSeconds: Int64
    let isStale: Bool

    init(_ keys: SigningKeys, now: MonotonicTime) {
        self.init(keys.source, fetchedAt: keys.fetchedAt, freshUntil: keys.freshUntil, now: now)
    }

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
package struct VerifyAnswer: TokenAnswer {
    let token: VerifiedIDToken
    let keys: KeysUsed
    /// `nil` for most answers.
    let extras: AnswerExtras?

    /// The user whom the token names.
    package var identity: Identity { token.identity }
    /// `acr`.
    package var contextClass: String? { token.authenticationContextClass }
    /// `auth_time`.
    package var authenticatedAt: UnixTime? { token.authTime }

    /// Writes the answer as a JSON object that always has every member.
    package func write(to json: inout JSONWriter) {
        json.beginObject()
        writeMembers(to: &json)
        json.endObject()
    }

    /// Writes the answer's members into an object that has other members too.
    package func writeMembers(to json: inout JSONWriter) { writeMembers(token.identity, to: &json) }

    /// The same, with the identity completed from the UserInfo endpoint.
    package func writeMembers(_ identity: borrowing Identity, to json: inout JSONWriter) {
        json.name("identity")
        identity.write(to: &json, connection: extras?.connection)
        json.name("token")
        guard let extras else {
            json.beginObject()
            token.writeMembers(to: &json)
            json.endObject()
            return writeKeys(to: &json)
        }
        json.object { json in
            token.writeMembers(to: &json)
            if let encryption = extras.encryption {
                json.name("encryption")
                encryption.write(to: &json)
            }
        }
        writeKeys(to: &json)
        if extras.includesClaims {
            json.name("claims")
            json.raw(token.claimsText)
        }
    }

    private func writeKeys(to json: inout JSONWriter) {
        json.name("keys")
        keys.write(to: &json)
    }
}

extension Identity {
    /// Writes the identity as a JSON object that always has every member, but for `connection`.
    ///
    /// - Parameter connection: `nil` unless the provider has `issuers: any`.
    @inline(__always)
    func write(to json: inout JSONWriter, connection: String? = nil) {
        json.beginObject()
        json.member("provider", provider)
        json.member("issuer", issuer)
        json.member("subject", subject)
        json.member("email", email)
        json.member("email_verified", isEmailVerified)
        json.member("email_trust", emailTrust?.rawValue)
        json.member("is_private_email", isPrivateEmail)
        json.member("name", name)
        json.member("given_name", givenName)
        json.member("family_name", familyName)
        json.member("name_source", nameSource?.rawValue)
        json.member("preferred_username", preferredUsername)
        json.member("picture", picture)
        json.member("locale", locale)
        json.member("real_user_status", realUserStatus?.rawValue)
        json.member("transfer_subject", transferSubject)
        json.member("tenant", tenant)
        json.member("hosted_domain", hostedDomain)
        if let connection { json.member("connection", connection) }
        json.endObject()
    }
}

extension VerifiedToken {
    /// Writes the token's other claims, always every member, into an object that may have others too.
    @inline(__always)
    func writeMembers(to json: inout JSONWriter) {
        json.name("audience")
        json.beginArray()
        for audience in audiences { json.value(audience) }
        json.endArray()
        json.member("authorized_party", authorizedParty)
        json.member("issued_at", issuedAtSeconds)
        json.member("expires_at", expiresAtSeconds)
        json.member("not_before", notBefore?.seconds)
        json.member("auth_time", authTime?.seconds)
        json.member("token_id", tokenID)
        json.member("session_id", sessionID)
        json.member("acr", authenticationContextClass)
        json.name("amr")
        json.beginArray()
        for method in authenticationMethods { json.value(method) }
        json.endArray()
        json.member("algorithm", algorithmName)
        json.member("key_id", keyID)
        json.member("nonce_match", nonceMatch?.rawValue)
    }
}

/// The nonce of a verified token, for a provider whose nonces are single-use.
package struct SingleUseNonce {
    /// The provider's ID.
    package let provider: String
    /// As in the request.
    package let nonce: String
    package let match: NonceMatch
    /// The forms that the provider's policy accepts.
    package let accepted: [NonceMatch]
    /// The time after which the token is rejected as expired, including clock skew.
    package let expiresAt: UnixTime
}

extension SingleUseNonce {
    /// - Returns: `nil` if the token has no nonce.
    init?(_ answer: VerifyAnswer, of request: VerifyRequest, under policy: ProviderPolicy) {
        guard let nonce = request.parameters.nonce, let match = answer.token.nonceMatch else { return nil }
        provider = policy.id
        self.nonce = nonce
        self.match = match
        accepted = policy.nonce.accepted
        let tooOld = policy.maximumTokenAgeSeconds.map(answer.token.issuedAt.advanced(bySeconds:))
        let end = min(answer.token.expiresAt, tooOld ?? answer.token.expiresAt)
        expiresAt = end.advanced(bySeconds: policy.clockSkewSeconds)
    }
}

/// The result of verifying a token.
package enum Verdict<Answer> {
    /// - Parameter provider: the provider's number.
    case verified(Answer, provider: Int)
    case refused(Problem, provider: Int?)

    /// The answer to a verified token.
    package var answer: Answer? { if case .verified(let answer, _) = self { answer } else { nil } }

    /// The same verdict with another answer to a verified token.
    package func map<Other>(_ transform: (Answer) -> Other) -> Verdict<Other> {
        switch self {
        case .verified(let answer, let provider): .verified(transform(answer), provider: provider)
        case .refused(let problem, let provider): .refused(problem, provider: provider)
        }
    }

    /// Why it was rejected; `nil` if it was not.
    package var problem: Problem? { if case .refused(let problem, _) = self { problem } else { nil } }

    /// The number of the provider; `nil` if there is none.
    package var provider: Int? {
        switch self {
        case .verified(_, let provider): provider
        case .refused(_, let provider): provider
        }
    }

    /// The same verdict, unless another check has found a problem.
    package func unless(_ problem: Problem?) -> Verdict { problem.map { .refused($0, provider: provider) } ?? self }

    /// The problem's code, or `ok`.
    package var code: String { problem?.code ?? "ok" }
}

extension Verdict: Sendable where Answer: Sendable {}

/// The answer to a verified token.
package protocol TokenAnswer: Sendable {
    /// Writes the answer as a JSON object that always has every member.
    func write(to json: inout JSONWriter)
}

/// The parts of a verified token that responses contain, whatever its kind.
protocol VerifiedToken {
    /// `aud`.
    var audiences: [String] { get }
    /// `azp`.
    var authorizedParty: String? { get }
    /// `iat`; `nil` if the token has none.
    var issuedAtSeconds: Int64? { get }
    /// `exp`; `nil` if the token has none.
    var expiresAtSeconds: Int64? { get }
    /// `nbf`.
    var notBefore: UnixTime? { get }
    /// `auth_time`.
    var authTime: UnixTime? { get }
    /// `jti`.
    var tokenID: String? { get }
    /// `sid`.
    var sessionID: String? { get }
    /// `acr`.
    var authenticationContextClass: String? { get }
    /// `amr`.
    var authenticationMethods: [String] { get }
    /// The signature algorithm; `nil` for an opaque token.
    var algorithmName: String? { get }
    /// The header's `kid`.
    var keyID: String? { get }
    /// How the nonce matched; `nil` if no nonce was expected.
    var nonceMatch: NonceMatch? { get }
}

// Declared here, and not beside the types, so that `write(to:)` reads their members directly: calls to witnesses in
// other modules cost 400 instructions per response.
extension VerifiedIDToken: VerifiedToken {
    @inline(__always)
    var issuedAtSeconds: Int64? { issuedAt.seconds }
    @inline(__always)
    var expiresAtSeconds: Int64? { expiresAt.seconds }
    @inline(__always)
    var algorithmName: String? { algorithm.rawValue }
}

extension VerifiedAccessToken: VerifiedToken {
    var issuedAtSeconds: Int64? { issuedAt?.seconds }
    var expiresAtSeconds: Int64? { expiresAt.seconds }
    var algorithmName: String? { algorithm.rawValue }
}

extension IntrospectedToken: VerifiedToken {
    var issuedAtSeconds: Int64? { issuedAt?.seconds }
    var expiresAtSeconds: Int64? { expiresAt?.seconds }
    var algorithmName: String? { nil }
    var keyID: String? { nil }
    var nonceMatch: NonceMatch? { nil }
}

/// The time of a verification, on both clocks.
package struct VerificationTime {
    /// For comparison with the age of keys.
    package let monotonic: MonotonicTime
    /// For comparison with the token's times.
    package let wall: UnixTime

    package static func now() -> VerificationTime {
        VerificationTime(
            monotonic: SystemClocks.monotonic(), wall: UnixTime(seconds: SystemClocks.unixSeconds()))
    }
}
