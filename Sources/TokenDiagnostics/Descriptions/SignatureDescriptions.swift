internal import IDToken
internal import JOSE

extension CheckDescriptions {
    func header(_ rejection: Rejection?) -> Check {
        let isTypeGood = (try? checkTokenType(token.jws.header)) != nil
        return made(
            .header, rejection, passed: "The header is that of an ID Token.",
            failed: isTypeGood ? parametersDiagnosis : typeDiagnosis(token.jws.header.type ?? ""),
            expected: expectedHeader("JWT or none"), found: foundHeader)
    }

    /// What the check of the header accepts.
    ///
    /// - Parameter types: the values of `typ`.
    func expectedHeader(_ types: String) -> String {
        "typ \(types); none of \(JOSEHeader.unsupportedParameters.map(\.string).joined(separator: ", "))"
    }

    /// What the check of the header reads.
    var foundHeader: String {
        (["typ " + (token.jws.header.type.map(Redaction.text) ?? "absent")] + refusedParameters).joined(separator: ", ")
    }

    private var refusedParameters: [String] {
        JOSEHeader.unsupportedParameters.filter { token.jws.headerObject?[$0] != nil }.map(\.string)
    }

    /// The diagnosis for a header with parameters that the verifier does not support.
    var parametersDiagnosis: Diagnosis {
        let tokens = kind.isAccessToken ? "access tokens" : "ID Tokens"
        return Diagnosis(
            "The header has \(refusedParameters.joined(separator: " and ")), which \(tokens) must not use.",
            fix: "Check that it is \(kind.article). If so, configure the provider not to use these parameters.")
    }

    private func typeDiagnosis(_ type: String) -> Diagnosis {
        let fix = "Send the id_token of the provider's response."
        let kind: String? =
            switch type.lowercased() {
            case "at+jwt", "application/at+jwt": "an access token"
            case "logout+jwt", "application/logout+jwt": "a logout token"
            case "secevent+jwt", "application/secevent+jwt": "a security event"
            case "dpop+jwt": "a DPoP proof"
            default: nil
            }
        guard let kind else {
            return Diagnosis("The token's typ, \(Redaction.quoted(type)), is not that of an ID Token.", fix: fix)
        }
        return Diagnosis("The token's typ says that it is \(kind) (\(Redaction.text(type))).", fix: fix)
    }

    // MARK: Algorithm

    func algorithm(_ rejection: Rejection?) -> Check {
        let expected = (policy.algorithms ?? keys?.algorithms ?? .all).names.joined(separator: ", ")
        let alg = token.jws.headerObject?["alg"]
        let found = alg.map { $0.string.map(Redaction.text) ?? "not a string" }
        // The provider may have added the algorithm, and a key for it, since its keys were last fetched.
        if rejection != nil, let keys, keys.isMissingKey, policy.algorithms == nil, token.algorithm != nil {
            return .failed(
                .algorithm, .keysUnavailable, unfetchedKeyDiagnosis(keys), expected: expected, found: found)
        }
        return made(
            .algorithm, rejection, passed: "The algorithm\(found.map { " " + $0 } ?? "") is allowed.",
            failed: algorithmDiagnosis(alg?.string), expected: expected, found: found)
    }

    private func algorithmDiagnosis(_ name: String?) -> Diagnosis {
        guard let name else {
            return Diagnosis(
                "The header names no algorithm (alg).", fix: "Check that the token is from this provider.")
        }
        if let algorithm = SignatureAlgorithm(rawValue: name) {
            let source =
                policy.algorithms == nil
                ? "the provider's discovery document lists others" : "the settings of \(policy.id) allow others"
            return Diagnosis(
                "The token is signed with \(algorithm.rawValue), but \(source).",
                fix: """
                    If the provider really signs with \(algorithm.rawValue), add it to algorithms of the \
                    provider \(policy.id); otherwise configure the client there to use another algorithm.
                    """)
        }
        switch name.uppercased() {
        case "NONE":
            return Diagnosis(
                "The token is not signed (alg none), so anyone could have made it.",
                fix: "Never accept such a token; configure the client at the provider so that its tokens are signed.")
        case "HS256", "HS384", "HS512":
            if policy.issuer == ProviderPreset.line.facts(PresetArguments()).policy.issuer {
                return Diagnosis(
                    """
                    LINE signs tokens of web channels with \(name) and the channel secret; Assay supports no \
                    symmetric algorithms.
                    """,
                    fix: """
                        Sign in from a native app or LIFF, whose tokens are signed with ES256; or use LINE's \
                        own verify endpoint.
                        """)
            }
            return Diagnosis(
                """
                The token is signed with \(Redaction.text(name)) and a secret that provider and client share, \
                which Assay does not support: anyone who can verify such a token can forge one.
                """,
                fix: "Configure the client at the provider so that its tokens are signed with RS256 or ES256.")
        case let upper where SignatureAlgorithm(rawValue: upper) != nil:
            return Diagnosis(
                "Algorithm names are case-sensitive; \(Redaction.quoted(name)) is not one.",
                fix: "Check that the token is from this provider: JOSE libraries don't create such a header.")
        default:
            return Diagnosis(
                "The algorithm \(Redaction.quoted(name)) is not supported.",
                fix: "Configure the client at the provider so that its tokens are signed with RS256 or ES256.")
        }
    }

    /// Describes one check of the verifier as two: that the key was found, and that the signature is valid.
    ///
    /// - Parameter isAlgorithmRefused: whether the previous check refused the algorithm. The signature is still
    ///   checked: if it is valid, the settings are wrong.
    func keyAndSignature(_ outcome: CheckRecorder.Outcome, isAlgorithmRefused: Bool) -> [Check] {
        let unreachedSignature = Check.notReached(.signature, "Not reached: there is no key to check it with.")
        switch outcome {
        case .notAsked, .notReached:
            return [.notReached(.key, "Not reached: \(reasonNotReached(.key))."), unreachedSignature]
        case .passed:
            return [
                key(nil, isAlgorithmRefused),
                .passed(
                    .signature, "The signature is valid: the provider's key made it, and the token was not altered."),
            ]
        case .failed(let rejection) where [.keyNotFound, .keyUnsuitable].contains(rejection):
            return [key(rejection, isAlgorithmRefused), unreachedSignature]
        case .failed(let rejection):
            return [
                key(nil, isAlgorithmRefused), .failed(.signature, rejection, signatureDiagnosis(rejection)),
            ]
        }
    }

    private func key(_ rejection: Rejection?, _ isAlgorithmRefused: Bool) -> Check {
        guard let keys, !keys.set.keys.isEmpty else { return withoutKeys(isAlgorithmRefused) }
        let kids = keys.set.keys.compactMap(\.keyID)
        let expected = kids.isEmpty ? "a key without kid" : "kid " + Redaction.list(kids)
        let found = token.keyID.map { "kid " + Redaction.text($0) } ?? "no kid"
        let type = candidates.first?.typeText
        guard let rejection else {
            return .passed(
                .key, "The provider publishes a key for this token (\(type ?? "")).", expected: expected,
                found: found)
        }
        guard rejection != .keyUnsuitable else {
            let type = type ?? "unreadable"
            return .failed(
                .key, rejection,
                Diagnosis(
                    """
                    The provider's key for this token is too small, malformed, or on the wrong curve (\(type)); nothing \
                    can be verified with it.
                    """,
                    fix: "Have the provider use an RSA key of 2048 bits or more, or one on P-256."),
                expected: expected, found: found + ", " + type)
        }
        let (refusal, diagnosis): (Check.Refusal, Diagnosis) =
            keys.isMissingKey
            ? (.keysUnavailable, unfetchedKeyDiagnosis(keys)) : (.rejected(rejection), missingKeyDiagnosis(keys))
        return .failed(.key, refusal, diagnosis, expected: expected, found: found)
    }

    private func withoutKeys(_ isAlgorithmRefused: Bool) -> Check {
        guard !isAlgorithmRefused else {
            return .notReached(.key, "Not reached: Assay has no keys for the provider.")
        }
        guard !fetchesLazily || wouldPassClaims else {
            return .notReached(
                .key,
                "Not reached: Assay has no keys for this issuer yet, and fetches them only for a token whose issuer, audience and expiry pass (see the checks below)."
            )
        }
        return .failed(
            .key, .keysUnavailable,
            Diagnosis(
                """
                Assay has no keys for \(fetchesLazily ? "this issuer" : "the provider \(policy.id)"), so the signature can't be checked\
                \(keys?.fetchFailure.map { ": \($0)" } ?? "").
                """,
                fix: keys?.fetchAdvice ?? "Send the token again once the keys have been fetched."),
            found: token.keyID.map { "kid " + Redaction.text($0) })
    }

    /// Whether fetching keys for the token could help.
    private var wouldPassClaims: Bool { (try? kind.checkClaims(token, under: policy, now: now)) != nil }

    /// The keys that may have created the signature.
    private var candidates: [JWK] {
        guard let keys, let algorithm = token.algorithm else { return [] }
        return keys.set.candidates(keyID: token.keyID).filter { $0.fits(algorithm) }
    }

    /// The diagnosis if the provider may have published the key since its keys were fetched.
    private func unfetchedKeyDiagnosis(_ keys: ExplainedKeys) -> Diagnosis {
        let key = token.keyID.map { "no key " + Redaction.quoted($0) } ?? "no key for the token"
        let age = keys.fetchedAt.map { ", fetched \(Redaction.duration(now.seconds(since: $0))) ago" } ?? ""
        return Diagnosis(
            """
            There is \(key) in the provider's key set\(age), and newer keys could not be fetched: \
            \(keys.fetchFailure ?? "the fetch took too long"); the token therefore can't be verified.
            """,
            fix:
                """
                Send the token again once the keys of \(policy.id) have been fetched. \
                \(keys.fetchAdvice ?? "The provider's last_error says why they are not.")
                """)
    }

    /// Whether the token names a key of `assay dev`.
    var isOfDevelopmentProvider: Bool { DevelopmentKeys.contain(token.keyID) }

    private func missingKeyDiagnosis(_ keys: ExplainedKeys) -> Diagnosis {
        if isOfDevelopmentProvider {
            let isDevelopment = keys.set.keys.contains { DevelopmentKeys.contain($0.keyID) }
            return isDevelopment
                ? Diagnosis(
                    "Assay does not have this key of assay dev: the token is from an earlier start, or the provider has rotated its keys or leaves this one out (fault thin_keys).",
                    fix: "Switch off the fault, if it is on, and sign in again.")
                : Diagnosis(
                    "The token was signed by assay dev (its kid begins with \(DevelopmentKeys.keyIDPrefix)), not by the provider \(policy.id).",
                    fix: """
                        Send it to the instance that assay dev runs: no other accepts its keys. Or sign in at the real \
                        provider.
                        """)
        }
        let algorithm = token.algorithm?.rawValue ?? ""
        var known = "the provider's key set"
        if let fetchedAt = keys.fetchedAt { known += ", fetched at \(Redaction.time(fetchedAt, now: now))" }
        var fix =
            """
            If the provider has just rotated its keys, refresh them (POST /v1/providers/\(policy.id)/refresh on the \
            admin listener)
            """
        if let nextFetchAt = keys.nextFetchAt {
            fix += ", or wait up to \(Redaction.duration(max(nextFetchAt.seconds(since: now), 0)))"
        }
        fix += ". Otherwise, the token is from another provider, tenant or environment."
        if !wouldPassClaims {
            fix =
                """
                Fix the issuer, audience or expiry first (see the checks below): Assay does not fetch new keys for a \
                token that would be refused anyway.
                """
        }
        guard let keyID = token.keyID else {
            return Diagnosis(
                "The token names no key (kid), and no key in \(known) can verify \(algorithm).", fix: fix)
        }
        if let other = keys.set.candidates(keyID: keyID).first {
            let use = [other.algorithm, other.use.map { "use " + $0 }].compactMap { $0.map(Redaction.text) }
            return Diagnosis(
                """
                The key \(Redaction.quoted(keyID)) exists, but can't verify \(algorithm): it is \
                \(([other.typeText] + use).joined(separator: ", ")).
                """,
                fix: "Check that the token is from this provider: it names a key that can't have signed it.")
        }
        return Diagnosis("There is no key \(Redaction.quoted(keyID)) in \(known).", fix: fix)
    }

    /// Text that says since when the provider may have replaced a key.
    private var keysFetched: String {
        guard let fetchedAt = keys?.fetchedAt else { return "" }
        return " since the fetch at \(Redaction.time(fetchedAt, now: now))"
    }

    private func signatureDiagnosis(_ rejection: Rejection) -> Diagnosis {
        let length = token.jws.signature.count
        let lengths = candidates.compactMap(\.signatureLength)
        if let needed = lengths.first, !lengths.contains(length) {
            return Diagnosis(
                """
                The signature has \(length) bytes, but this key's signatures have \(needed): the token was \
                \(length < needed ? "truncated" : "changed").
                """,
                fix: Diagnosis.truncationFix)
        }
        if token.jws.headerObject?["nonce"] != nil {
            return Diagnosis(
                "The signature is not valid, and the header has a nonce: it is an access token for Microsoft Graph.",
                fix:
                    "Send the id_token of the provider's response, not the access_token, which only Microsoft Graph can verify."
            )
        }
        let unseenKey =
            keys?.fetchFailure.map { "; newer keys could not be fetched: \($0)" } ?? ""
        return Diagnosis(
            rejection, of: kind,
            otherwise: Diagnosis(
                token.keyID.map {
                    """
                    The signature does not match the provider's key \(Redaction.quoted($0)), which the token names: \
                    the header or payload was changed, or another key signed them\(unseenKey).
                    """
                }
                    ?? """
                    The signature does not match any of the provider's keys: the header or payload was changed, or \
                    another key signed them\(unseenKey).
                    """,
                fix: """
                    Check that the token is unaltered, and not from a test environment or emulator with the same key IDs. \
                    If the provider may have rotated the key\(keysFetched), refresh its keys: \
                    POST /v1/providers/\(policy.id)/refresh on the admin listener. Otherwise, the token is forged.
                    """))
    }
}
