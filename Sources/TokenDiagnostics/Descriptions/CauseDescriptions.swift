public import IDToken
private import JOSE

extension Explanation {
    /// The most likely cause if several checks fail: one of the failed checks, not always the first.
    public struct Cause: Sendable, Equatable {
        /// The name of the check.
        public let check: Check.Name
        /// One sentence.
        public let explanation: String
        /// What to change and where; `nil` if there is nothing to change.
        public let fix: String?
    }
}

extension Explanation.Cause {
    init(_ check: Check) { self.init(check: check.name, explanation: check.explanation, fix: check.fix) }
}

extension CheckDescriptions {
    /// The failed check that best explains the others.
    ///
    /// A verification stops at the first failure, and claims come after the signature. But a token that was sent to the
    /// wrong provider already fails at its algorithm or key, which is a consequence, not the cause.
    func likelyCause(of checks: [Check]) -> Explanation.Cause? {
        let failed = checks.filter { $0.refusal != nil }
        guard let first = failed.first else { return nil }
        if let key = failed.first(where: { $0.name == .key }), isOfDevelopmentProvider { return Explanation.Cause(key) }
        if let cause = otherKind(failed) { return cause }
        guard [.algorithm, .key, .signature].contains(first.name) else { return Explanation.Cause(first) }
        if let issuer = failed.first(where: { $0.refusal == .rejected(.issuerMismatch) && $0.name == .issuer }) {
            return Explanation.Cause(issuer)
        }
        // Keys are not fetched for a token that is refused anyway, so missing keys mean little.
        guard first.name == .key, let claim = failed.first(where: { [.audience, .expiry].contains($0.name) }) else {
            return Explanation.Cause(first)
        }
        if claim.name == .expiry, first.refusal == .rejected(.keyNotFound), let age = expiredFor,
            age >= Self.longEnoughForOtherKeys
        {
            return Explanation.Cause(
                check: .expiry,
                explanation: """
                    The token expired \(Redaction.duration(age)) ago, and the provider no longer publishes the key \
                    that it names.
                    """,
                fix: "Use a token from a new sign-in; an old one can no longer be verified.")
        }
        return Explanation.Cause(claim)
    }

    /// The cause “the wrong kind of token was sent”, if a check failed that distinguishes the kinds of tokens.
    private func otherKind(_ failed: [Check]) -> Explanation.Cause? {
        if case .notification = kind { return nil }
        guard !failed.contains(where: { $0.name == .issuer }) else { return nil }
        // Only notifications have events, whatever else is wrong with them.
        if claims.contains(.events), let check = failed.first(where: { [.events, .tokenKind].contains($0.name) }) {
            return Explanation.Cause(check)
        }
        guard let check = failed.first(where: { isTelling($0.name) }) else { return nil }
        guard let diagnosis = kind.isAccessToken ? idTokenSent : accessTokenSent(check) else { return nil }
        return Explanation.Cause(check: check.name, explanation: diagnosis.explanation, fix: diagnosis.fix)
    }

    /// Whether a failure of this check can come from the kind of the token.
    private func isTelling(_ name: CheckName) -> Bool {
        switch name {
        case .header:
            guard case .accessToken(let dialect, _) = kind else { return true }
            // It may also have been refused for crit, b64 or zip, which say nothing about the kind.
            return (try? checkAccessTokenType(token.jws.header, dialect)) == nil
        case .audience, .authorizedParty, .client, .requiredClaims, .claimValues, .nonce, .tokenKind: return true
        default: return false
        }
    }

    /// The diagnosis “an access token was sent”, where ID Tokens are verified; `nil` if nothing says so.
    private func accessTokenSent(_ check: Check) -> Diagnosis? {
        let entry = accessTokens.flatMap { $0.fits ? $0 : nil }
        switch TokenKindGuess(token) {
        case .idToken: return nil
        case .accessToken(let sign): return .accessToken(because: sign, accessTokens)
        case .probablyAccessToken(let sign):
            if let entry { return .accessToken(because: sign, entry) }
            // That check describes the same guess, and how to turn it off.
            return check.name == .tokenKind ? nil : .probablyAccessToken(because: sign)
        case .unknown:
            return entry.map {
                .accessToken(because: "its aud and client are those that the provider \($0.id) expects", $0)
            }
        }
    }

    /// The diagnosis “an ID Token was sent”, where access tokens are verified; `nil` if nothing says so.
    private var idTokenSent: Diagnosis? {
        guard case .idToken(let reason) = TokenKindGuess(token) else { return nil }
        return Diagnosis(
            "The token is an ID Token, not an access token: \(reason).",
            fix: "Send the access_token of the provider's response here. POST /v1/verify verifies ID Tokens.")
    }

    /// A day: providers publish a key for some time after the last token that it signed has expired.
    private static let longEnoughForOtherKeys: Int64 = 86_400

    /// The number of seconds since the token expired.
    private var expiredFor: Int64? { (try? claims.time(.expiration)).map { now.seconds(since: $0) } }

    // MARK: A valid token

    /// Says that the token is valid, and what ties it to a sign-in, if anything does.
    func validSummary(_ checks: [Check]) -> String {
        func isPassed(_ name: Check.Name) -> Bool { checks.contains { $0.name == name && $0.state == .passed } }
        let issued = "The token is valid: the provider \(policy.id) issued it"
        switch kind {
        case .idToken: break
        case .accessToken: return issued + " for this API."
        case .notification: return "The notification is valid: the provider \(policy.id) sent it to this app."
        }
        if isPassed(.nonce) {
            let once = usesNoncesOnce ? " (whether the nonce was already used is not checked here)" : ""
            return issued + ", to this app and for this sign-in" + once + "."
        }
        let companions = [
            isPassed(.atHash) ? "access token" : nil, isPassed(.cHash) ? "code" : nil,
        ].compactMap(\.self)
        let together =
            companions.isEmpty ? "" : ", together with the request's \(companions.joined(separator: " and "))"
        let reason =
            policy.nonce.isChecked
            ? "neither request nor token has a nonce" : "the settings turn nonce checks off (nonce: { check: off })"
        return "\(issued) to this app\(together); nothing ties it to one sign-in, because \(reason)."
    }
}
