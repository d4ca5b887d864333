internal import IDToken
internal import JOSE

extension CheckDescriptions {
    /// The header, for members that the verifier does not read.
    var headerObject: JSONObject? { token.jws.headerObject }

    func header(_ rejection: Rejection?) -> Check {
        let type = token.jws.header.type
        let refused = JOSEHeader.unsupportedParameters.map(\.string).joined(separator: ", ")
        let expected = "typ JWT or none; none of \(refused)"
        let parameters = JOSEHeader.unsupportedParameters.filter { headerObject?[$0] != nil }.map(\.string)
        let found = (["typ " + (type.map(Redaction.text) ?? "absent")] + parameters).joined(separator: ", ")
        let isTypeGood = (try? checkTokenType(token.jws.header)) != nil
        let diagnosis =
            isTypeGood
            ? Diagnosis(
                """
                The header has \(parameters.joined(separator: " and ")), which ID Tokens must not use.
                """,
                fix: "Check that it is an ID Token. If so, configure the provider not to use these parameters.")
            : typeDiagnosis(type ?? "")
        return made(
            .header, rejection, passed: "The header is that of an ID Token.", failed: diagnosis,
            expected: expected, found: found)
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

    private var allowedAlgorithms: SignatureAlgorithms {
        policy.algorithms ?? keys?.algorithms ?? .all
    }

    func algorithm(_ rejection: Rejection?) -> Check {
        let expected = allowedAlgorithms.names.joined(separator: ", ")
        let alg = headerObject?["alg"]
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
                fix:
                    """
                    If the provider really signs with \(algorithm.rawValue), add it to algorithms of the \
                    provider \(policy.id); otherwise configure the client there to use another algorithm.
                    """
            )
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
                    fix:
                        """
                        Sign in from a native app or LIFF, whose tokens are signed with ES256; or use LINE's \
                        own verify endpoint.
                        """
                )
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
}
