private import Bytes
internal import IDToken
private import JOSE
private import OpenSSL

extension CheckDescriptions {
    func nonce(_ rejection: Rejection?) -> Check {
        let claimed = try? claims.utf8(.nonce)
        let found = claimed.map { Redaction.fingerprint($0.span, checker) }
        guard rejection != nil || nonceMatch != nil else {
            return .notAsked(
                .nonce,
                policy.nonce.isChecked
                    ? "Neither request nor token has a nonce, so nothing ties the token to this sign-in."
                    : """
                    The settings turn the check off (nonce: { check: off }), so nothing ties the token to \
                    this sign-in.
                    """,
                found: found)
        }
        return made(
            .nonce, rejection,
            passed: "The token was issued for this sign-in: it carries \(nonceMatch?.words ?? "")."
                + singleUseNote,
            failed: nonceDiagnosis(rejection, claimed), expected: expectedNonce, found: found)
    }

    private var singleUseNote: String {
        usesNoncesOnce
            ? " This provider's nonces are used once (nonce: { single_use: true }): a second use is refused (nonce_replayed). An explanation neither checks that nor uses up the nonce."
            : ""
    }

    private var expectedNonce: String? {
        guard let nonce = parameters.nonce else {
            return policy.nonce.isRequired ? "a nonce in request and token" : nil
        }
        let forms = policy.nonce.accepted.map(\.words).joined(separator: " or ")
        return "\(forms) (\(Redaction.fingerprint(nonce, checker)))"
    }

    private func nonceDiagnosis(_ rejection: Rejection?, _ claimed: ArraySlice<UInt8>?) -> Diagnosis {
        switch rejection {
        case .nonceRequired where claimed == nil:
            Diagnosis(
                "The provider \(policy.id) requires a nonce, but neither request nor token has one.",
                fix: "Generate a nonce for each sign-in, have the app pass it to the provider, and send it as nonce.")
        case .nonceRequired:
            Diagnosis(
                "The token has a nonce, but the request has none to compare it with.",
                fix: """
                    Set nonce to the raw nonce that the backend generated for this sign-in. If the app's SDK generated \
                    its own, as Google's can, pass the backend's to the SDK. If the SDK takes none, set nonce: \
                    { check: off } for the provider \(policy.id): nothing then ties the token to a sign-in.
                    """)
        case .nonceMissing: missingNonceDiagnosis
        default: mismatchDiagnosis(claimed ?? [], parameters.nonce ?? "")
        }
    }

    private var missingNonceDiagnosis: Diagnosis {
        if claims.value(at: ClaimPath("nonce_supported"))?.bool == false {
            return Diagnosis(
                "The token has no nonce: its nonce_supported says that this platform supports none.",
                fix: """
                    Omit nonce for sign-ins on this platform. Nothing then ties the token to a sign-in, so set a \
                    short max_token_age.
                    """)
        }
        return Diagnosis(
            "The token has no nonce, but the request has one.",
            fix: """
                Have the app pass the nonce to the provider when it starts the sign-in; if the provider, such as \
                LinkedIn, never returns one, set nonce: { check: off } for the provider \(policy.id).
                """)
    }

    // MARK: Wrong nonces

    private func mismatchDiagnosis(_ claimed: ArraySlice<UInt8>, _ nonce: String) -> Diagnosis {
        if let form = form(of: claimed, for: nonce) { return formDiagnosis(form, nonce) }
        if let twice = hashedTwice(claimed, nonce) { return twice }
        if let spelling = otherSpelling(claimed, nonce) { return spelling }
        return Diagnosis(
            "The token's nonce does not match the request's in any form: the token was issued for another sign-in.",
            fix: """
                Check that the backend stores the nonce in the user's session, and that the app passes this same nonce \
                to the provider.
                """)
    }

    /// How a claim matches a nonce, whether or not the settings accept that form.
    private func form(of claimed: ArraySlice<UInt8>, for nonce: String) -> NonceMatch? {
        NonceMatch.allCases.first {
            (try? matchesNonce(claimed.span, for: nonce.utf8.span, $0, checker)) == true
        }
    }

    private func formDiagnosis(_ form: NonceMatch, _ nonce: String) -> Diagnosis {
        let accepted = policy.nonce.accepted.map(\.rawValue).joined(separator: ", ")
        let setting = "nonce: { match: [\(form.rawValue)] }"
        guard form == .plain else {
            return Diagnosis(
                "The token carries \(form.words), but nonce.match of the provider \(policy.id) is \(accepted).",
                fix:
                    "Set \(setting) for the provider \(policy.id), or have the app send the form that nonce.match expects."
            )
        }
        if isHash(nonce) {
            return Diagnosis(
                """
                The request's nonce equals the token's claim and looks like a SHA-256, but nonce.match of the \
                provider \(policy.id) is \(accepted).
                """,
                fix: "Send the raw nonce, before it was hashed: anyone with the token could send the claim's value.")
        }
        return Diagnosis(
            "The token carries your nonce itself, but nonce.match of the provider \(policy.id) is \(accepted).",
            fix: """
                Have the app pass the nonce's SHA-256 to the provider, or set \(setting) for the provider \
                \(policy.id).
                """)
    }

    /// Whether a string has the form of a SHA-256.
    private func isHash(_ text: String) -> Bool {
        let octets = Array(text.utf8)
        let isHexadecimal = octets.allSatisfy(\.isLowercaseHexadecimal)
        return (octets.count == 64 && isHexadecimal) || (octets.count == 43 && Base64URL.decode(octets.span) != nil)
    }

    private func hashedTwice(_ claimed: ArraySlice<UInt8>, _ nonce: String) -> Diagnosis? {
        for once in hashes(of: nonce) where form(of: claimed, for: once).map({ $0 != .plain }) == true {
            return Diagnosis(
                "The token carries the SHA-256 of the SHA-256 of your nonce: it was hashed twice.",
                fix: "Hash it once: some libraries hash the nonce themselves; pass such a library the raw nonce.")
        }
        return nil
    }

    private func hashes(of nonce: String) -> [String] {
        let hashes = try? checker.withHash(of: nonce.utf8.span, .sha256) {
            [String(hexadecimal: $0), String(decoding: Base64URL.encode($0), as: UTF8.self)]
        }
        return hashes ?? []
    }

    /// Whether the two would match if one of them was spelled differently.
    private func otherSpelling(_ claimed: ArraySlice<UInt8>, _ nonce: String) -> Diagnosis? {
        let claim = String(decoding: claimed, as: UTF8.self)
        let fix = "Have the app send the hash in the expected form: the claim is compared byte for byte."
        if let form = form(of: Array(claim.lowercased().utf8)[...], for: nonce), form == .sha256Hex {
            return Diagnosis(
                "The token carries the SHA-256 of your nonce in upper case, but lower case is expected.", fix: fix)
        }
        let canonical = claim.filter { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
        if let form = form(of: Array(String(canonical).utf8)[...], for: nonce), form == .sha256Base64URL {
            return Diagnosis(
                "The token carries the SHA-256 of your nonce in plain base64, but unpadded base64url is expected.",
                fix: fix)
        }
        let (bareClaim, bareNonce) = (claim.filter { !$0.isWhitespace }, nonce.filter { !$0.isWhitespace })
        if bareClaim.count < claim.count || bareNonce.count < nonce.count,
            form(of: Array(bareClaim.utf8)[...], for: bareNonce) != nil
        {
            return Diagnosis(
                "The nonces of token and request differ only in whitespace.",
                fix: "Strip the newline or the spaces where the nonce is stored or passed on.")
        }
        return nil
    }

    func atHash(_ rejection: Rejection?) -> Check {
        hash(
            .atHash, .accessTokenHash, of: parameters.accessToken, "access_token",
            other: (parameters.code, "code"), rejection)
    }

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
        let fix = "The provider violates OpenID Connect Core 3.1.3.6; omit \(member) until the provider has fixed it."
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
                fix: fix)
        }
        let whole = try? checker.withHash(of: value.utf8.span, digest) { Base64URL.encode($0) }
        if let whole, claimed.isExactly(String(decoding: whole, as: UTF8.self)) {
            return Diagnosis(
                "The token's \(claim.string) is the whole hash of the \(member), but half of it is expected.",
                fix: fix)
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

extension NonceMatch {
    /// What a claim with this match contains.
    fileprivate var words: String {
        switch self {
        case .sha256Hex: "the SHA-256 (hex) of your nonce"
        case .sha256Base64URL: "the SHA-256 (base64url) of your nonce"
        case .plain: "your nonce itself"
        }
    }
}
