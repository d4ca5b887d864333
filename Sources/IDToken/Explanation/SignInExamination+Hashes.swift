internal import JOSE
private import JSON
private import OpenSSL

extension SignInExamination {
    /// Whether the access token came with the ID Token.
    func atHash(_ jws: VerifiedJWS?) -> Check {
        guard let accessToken = expectations.accessToken else {
            return .notAsked(.atHash, "The request gives no access_token.", found: shownHash(.accessTokenHash))
        }
        return hash(
            .atHash, .accessTokenHash, of: accessToken, "access_token", other: (expectations.code, "code"), jws
        ) { digest throws(Rejection) in
            try checkTokenHashes(claims, by: digest, accessToken: accessToken, code: nil, checker)
        }
    }

    /// Whether the code came with the ID Token.
    func cHash(_ jws: VerifiedJWS?) -> Check {
        guard let code = expectations.code else {
            return .notAsked(.cHash, "The request gives no code.", found: shownHash(.codeHash))
        }
        return hash(
            .cHash, .codeHash, of: code, "code", other: (expectations.accessToken, "access_token"), jws
        ) { digest throws(Rejection) in
            try checkTokenHashes(claims, by: digest, accessToken: nil, code: code, checker)
        }
    }

    private func shownHash(_ claim: ClaimName) -> String? {
        claims.text(claim).map { ShownText.fingerprint($0, checker) }
    }

    private func hash(
        _ name: Check.Name, _ claim: ClaimName, of value: String, _ member: String,
        other: (value: String?, member: String), _ jws: VerifiedJWS?,
        by rule: (DigestAlgorithm) throws(Rejection) -> Void
    ) -> Check {
        // Where no key has verified, Ed25519 is what EdDSA most likely means.
        guard let digest = jws?.tokenHash ?? token.algorithm?.tokenHash(edwardsCurve: nil) else {
            return .notReached(name, "Not reached: the hash function depends on the token's algorithm.")
        }
        let found = shownHash(claim)
        let expected = "half the hash of \(member) (\(ShownText.fingerprint(value, checker)))"
        switch result(of: { () throws(Rejection) in try rule(digest) }) {
        case .success:
            return .passed(
                name, "The \(member) was issued with this token.", expected: expected, found: found)
        case .failure(let rejection):
            let diagnosis = Diagnosis(
                rejection,
                otherwise: claims.mentions(claim)
                    ? mismatchDiagnosis(claims.text(claim) ?? "", claim, value, member, other, digest)
                    : Diagnosis(
                        "The token has no \(claim.string) to hold the \(member) against.",
                        fix: "Leave \(member) out: providers write \(claim.string) in some flows only."))
            return .failed(name, rejection, diagnosis, expected: expected, found: found)
        }
    }

    private func mismatchDiagnosis(
        _ claimed: String, _ claim: ClaimName, _ value: String, _ member: String,
        _ other: (value: String?, member: String), _ digest: DigestAlgorithm
    ) -> Diagnosis {
        let octets = Array(claimed.utf8)[...]
        func isHalfHash(of value: String, by digest: DigestAlgorithm) -> Bool {
            (try? halfHash(of: value, by: digest, checker, equals: octets)) == true
        }
        if let value = other.value, isHalfHash(of: value, by: digest) {
            return Diagnosis(
                "The token's \(claim.string) is that of the request's \(other.member).",
                fix: "Don't mix up code and access_token.")
        }
        if [DigestAlgorithm.sha256, .sha384, .sha512].contains(where: { isHalfHash(of: value, by: $0) }) {
            return Diagnosis(
                "The token's \(claim.string) is the \(member)'s, but by another hash function than its algorithm's.",
                fix: "The provider breaks OpenID Connect Core 3.1.3.6; leave \(member) out until it is mended.")
        }
        let whole = try? checker.withHash(of: value.utf8.span, digest) { Base64URL.encode($0) }
        if let whole, claimed.isExactly(String(decoding: whole, as: UTF8.self)) {
            return Diagnosis(
                "The token's \(claim.string) is the whole hash of the \(member), and half of it is due.",
                fix: "The provider breaks OpenID Connect Core 3.1.3.6; leave \(member) out until it is mended.")
        }
        let trimmed = value.filter { !$0.isWhitespace }
        if trimmed.count < value.count, isHalfHash(of: trimmed, by: digest) {
            return Diagnosis(
                "The request's \(member) has white space around it, and is the right one without.",
                fix: "Strip the line end or the spaces where it is kept or passed on.")
        }
        return Diagnosis(
            "The \(member) is not the one that this token was issued with.",
            fix: "Send both as they came in one answer of the provider; a token that was refreshed since has another.")
    }
}
