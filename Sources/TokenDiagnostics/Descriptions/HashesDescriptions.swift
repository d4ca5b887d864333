private import Bytes
internal import IDToken
private import JOSE
private import OpenSSL

extension CheckDescriptions {
    /// Whether the access token was issued with the ID Token.
    func atHash(_ rejection: Rejection?) -> Check {
        hash(
            .atHash, .accessTokenHash, of: parameters.accessToken, "access_token",
            other: (parameters.code, "code"), rejection)
    }

    /// Whether the code was issued with the ID Token.
    func cHash(_ rejection: Rejection?) -> Check {
        hash(
            .cHash, .codeHash, of: parameters.code, "code", other: (parameters.accessToken, "access_token"),
            rejection)
    }

    /// The hash in the token, for a check that the request did not enable.
    func hashNotAsked(_ name: CheckName) -> String? {
        switch name {
        case .atHash: fingerprint(of: .accessTokenHash)
        case .cHash: fingerprint(of: .codeHash)
        default: nil
        }
    }

    /// The redacted form of a claim that is secret or personal.
    func fingerprint(of claim: ClaimName) -> String? {
        claims.text(claim).map { Redaction.fingerprint($0, checker) }
    }

    private func hash(
        _ name: CheckName, _ claim: ClaimName, of value: String?, _ member: String,
        other: (value: String?, member: String), _ rejection: Rejection?
    ) -> Check {
        let value = value ?? ""
        return made(
            name, rejection, passed: "The \(member) was issued with this token.",
            failed: claims.contains(claim)
                ? mismatchDiagnosis(claims.text(claim) ?? "", claim, value, member, other)
                : Diagnosis(
                    "The token has no \(claim.string) to check the \(member) against.",
                    fix: "Omit \(member): providers add \(claim.string) only in some flows."),
            expected: "half the hash of \(member) (\(Redaction.fingerprint(value, checker)))",
            found: fingerprint(of: claim))
    }

    private func mismatchDiagnosis(
        _ claimed: String, _ claim: ClaimName, _ value: String, _ member: String,
        _ other: (value: String?, member: String)
    ) -> Diagnosis {
        let octets = Array(claimed.utf8)[...]
        let digest = token.hashAlgorithm(jws) ?? .sha256
        func isHalfHash(of value: String, by digest: DigestAlgorithm) -> Bool {
            (try? halfHash(of: value, by: digest, checker, equals: octets)) == true
        }
        if let value = other.value, isHalfHash(of: value, by: digest) {
            return Diagnosis(
                "The token's \(claim.string) matches the request's \(other.member): code and access_token are swapped.",
                fix: "Send each under its own name.")
        }
        if [DigestAlgorithm.sha256, .sha384, .sha512].contains(where: { isHalfHash(of: value, by: $0) }) {
            return Diagnosis(
                "The token's \(claim.string) is that of the \(member), but with the wrong hash function for the token's alg.",
                fix:
                    "The provider violates OpenID Connect Core 3.1.3.6; omit \(member) until the provider has fixed it."
            )
        }
        let whole = try? checker.withHash(of: value.utf8.span, digest) { Base64URL.encode($0) }
        if let whole, claimed.isExactly(String(decoding: whole, as: UTF8.self)) {
            return Diagnosis(
                "The token's \(claim.string) is the whole hash of the \(member), but half of it is expected.",
                fix:
                    "The provider violates OpenID Connect Core 3.1.3.6; omit \(member) until the provider has fixed it."
            )
        }
        let trimmed = value.filter { !$0.isWhitespace }
        if trimmed.count < value.count, isHalfHash(of: trimmed, by: digest) {
            return Diagnosis(
                "The request's \(member) is the right one, but has whitespace around it.",
                fix: "Strip the newline or the spaces where it is stored or passed on.")
        }
        return Diagnosis(
            "The \(member) is not the one that this token was issued with.",
            fix: "Send both from the same response of the provider; a refreshed token has a different hash.")
    }
}
