internal import JOSE
private import JSON

extension SignInExamination {
    /// The checks of header, algorithm, key and signature, and the verified JWS, if it is one.
    ///
    /// A supported algorithm that the settings don't allow has its signature checked all the same: where it holds, the
    /// settings are what is wrong.
    func checkSignature() -> (checks: [Check], verified: VerifiedJWS?) {
        let header = header()
        let algorithm = algorithm()
        let isReadable = !token.jws.header.hasUnsupportedParameter
        guard isReadable, let name = token.algorithm else {
            let reason =
                isReadable
                ? "there is no algorithm to choose a key by" : "the header changes how the token is to be read"
            return (
                [header, algorithm, .notReached(.key, "Not reached: \(reason).")]
                    + [.notReached(.signature, "Not reached: there is no key to check it with.")], nil
            )
        }
        guard let keys else { return ([header, algorithm] + withoutKeys(algorithm), nil) }
        let outcome: Result<VerifiedJWS, JWSError>
        do throws(JWSError) {
            outcome = .success(try verifier.verify(token.jws, with: keys.set, allowing: [name]))
        } catch {
            outcome = .failure(error)
        }
        return ([header, algorithm] + keyAndSignature(outcome, name, keys), try? outcome.get())
    }

    /// The names of parameters that would change how a JWS is read.
    private static let unsupported = ["crit", "b64", "zip"]

    private var headerObject: JSONObject? {
        Base64URL.decode(token.jws.headerText.span).flatMap { try? JSONObject($0) }
    }

    // MARK: Header

    private func header() -> Check {
        let type = token.jws.header.type
        let expected = "typ JWT or none; no crit, b64 or zip"
        let parameters = Self.unsupported.filter { headerObject?[JSONName($0)] != nil }
        let found = ["typ " + (type.map(ShownText.text) ?? "absent")] + parameters
        if case .failure(let rejection) = result(of: { () throws(Rejection) in try checkTokenType(token.jws.header) }) {
            return .failed(
                .header, rejection, typeDiagnosis(type ?? ""), expected: expected,
                found: found.joined(separator: ", "))
        }
        do throws(JWSError) {
            try verifier.checkHeader(token.jws.header, allowing: SignatureAlgorithm.all)
        } catch .headerUnsupported {
            return .failed(
                .header, .headerUnsupported,
                Diagnosis(
                    "The header has \(parameters.joined(separator: " and ")), which changes how a token is to be read and no ID Token needs.",
                    fix: "See that it is an ID Token; if it is, have the provider sign it plainly."),
                expected: expected, found: found.joined(separator: ", "))
        } catch {
            // The algorithm has a check of its own.
        }
        return .passed(
            .header, "The header says nothing that an ID Token's may not.", expected: expected,
            found: found.joined(separator: ", "))
    }

    private func typeDiagnosis(_ type: String) -> Diagnosis {
        let fix = "Send the id_token of the provider's answer."
        let kind: String? =
            switch type.lowercased() {
            case "at+jwt", "application/at+jwt": "an access token"
            case "logout+jwt", "application/logout+jwt": "a logout token"
            case "secevent+jwt", "application/secevent+jwt": "a security event"
            case "dpop+jwt": "a DPoP proof"
            default: nil
            }
        guard let kind else {
            return Diagnosis("The token's typ, \(ShownText.quoted(type)), is that of no ID Token.", fix: fix)
        }
        return Diagnosis("The token says of itself that it is \(kind) (typ \(ShownText.text(type))).", fix: fix)
    }

    // MARK: Algorithm

    private var allowedAlgorithms: Set<SignatureAlgorithm> {
        policy.algorithms ?? keys?.algorithms ?? SignatureAlgorithm.all
    }

    private func algorithm() -> Check {
        guard !token.jws.header.hasUnsupportedParameter else {
            return .notReached(.algorithm, "Not reached: the header changes how the token is to be read.")
        }
        let expected = SignatureAlgorithm.allCases.filter(allowedAlgorithms.contains).map(\.rawValue)
            .joined(separator: ", ")
        let alg = headerObject?["alg"]
        let found = alg.map { $0.string.map(ShownText.text) ?? "no string" }
        do throws(JWSError) {
            try verifier.checkHeader(token.jws.header, allowing: allowedAlgorithms)
            return .passed(
                .algorithm, "The provider may sign with \(found ?? "it").", expected: expected, found: found)
        } catch {
            return .failed(
                .algorithm, Rejection(error), algorithmDiagnosis(alg?.string), expected: expected, found: found)
        }
    }

    private func algorithmDiagnosis(_ name: String?) -> Diagnosis {
        guard let name else {
            return Diagnosis(
                "The header names no algorithm (alg).", fix: "See that it is a token of this provider's.")
        }
        if let algorithm = SignatureAlgorithm(rawValue: name) {
            let source =
                policy.algorithms == nil
                ? "the provider's discovery document lists others" : "the settings of \(policy.id) allow others"
            return Diagnosis(
                "The token is signed with \(algorithm.rawValue), and \(source).",
                fix:
                    "If the provider really signs with \(algorithm.rawValue), write it to algorithms of the provider \(policy.id); else set the client up at the provider to get another."
            )
        }
        switch name.uppercased() {
        case "NONE":
            return Diagnosis(
                "The token is not signed (alg none), so anyone could have made it.",
                fix: "Never accept such a token; set the client up at the provider to get signed ones.")
        case "HS256", "HS384", "HS512":
            if policy.issuer == ProviderPreset.line.facts(PresetArguments()).policy.issuer {
                return Diagnosis(
                    "LINE signs tokens of web channels with \(name), by the channel's secret, which is never supported.",
                    fix:
                        "Sign in from a native app or LIFF, whose tokens are signed with ES256; or ask LINE's own verify endpoint."
                )
            }
            return Diagnosis(
                "The token is signed with \(ShownText.text(name)), by a secret that provider and client share, which is never supported: who can verify such a token can make one.",
                fix: "Set the client up at the provider to get ID Tokens signed with RS256 or ES256.")
        case let upper where SignatureAlgorithm(rawValue: upper) != nil:
            return Diagnosis(
                "The names of algorithms are told apart by case, and \(ShownText.quoted(name)) is none.",
                fix: "See that the token is this provider's; such a header is no library's.")
        default:
            return Diagnosis(
                "The algorithm \(ShownText.quoted(name)) is not supported.",
                fix: "Set the client up at the provider to get ID Tokens signed with RS256 or ES256.")
        }
    }

    // MARK: Key and signature

    private func withoutKeys(_ algorithm: Check) -> [Check] {
        let signature = Check.notReached(.signature, "Not reached: there is no key to check it with.")
        guard algorithm.refusal == nil else {
            return [.notReached(.key, "Not reached: there are no keys of the provider's."), signature]
        }
        return [
            .failed(
                .key, .keysUnavailable,
                Diagnosis(
                    "There are no keys of the provider \(policy.id), so nothing can be said of the signature.",
                    fix: "See last_error of the provider; assay config check --live says what is in the way."),
                found: token.keyID.map { "kid " + ShownText.text($0) }), signature,
        ]
    }

    private func keyAndSignature(
        _ outcome: Result<VerifiedJWS, JWSError>, _ algorithm: SignatureAlgorithm, _ keys: ExplainedKeys
    ) -> [Check] {
        let kids = keys.set.keys.compactMap(\.keyID)
        let expected = kids.isEmpty ? "a key without kid" : "kid " + ShownText.list(kids)
        let found = token.keyID.map { "kid " + ShownText.text($0) } ?? "no kid"
        let candidates = keys.set.candidates(keyID: token.keyID).filter { $0.fits(algorithm) }
        let key = Check.passed(
            .key, "The provider has published a key for this token (\(candidates.first?.typeText ?? "")).",
            expected: expected, found: found)
        switch outcome {
        case .success:
            return [
                key, .passed(.signature, "The signature holds: the provider's key made it, and nothing was changed."),
            ]
        case .failure(.keyNotFound):
            return [
                .failed(.key, .keyNotFound, missingKeyDiagnosis(algorithm, keys), expected: expected, found: found),
                .notReached(.signature, "Not reached: there is no key to check it with."),
            ]
        case .failure(.keyUnsuitable):
            let type = candidates.first?.typeText ?? "unreadable"
            return [
                .failed(
                    .key, .keyUnsuitable,
                    Diagnosis(
                        "The provider's key for this token is too small or malformed (\(type)), and nothing can be verified with it.",
                        fix: "Have the provider use an RSA key of 2048 bits or more, or one on P-256."),
                    expected: expected, found: found + ", " + type),
                .notReached(.signature, "Not reached: there is no key to check it with."),
            ]
        case .failure(let error):
            return [key, .failed(.signature, Rejection(error), signatureDiagnosis(error, candidates))]
        }
    }

    private func missingKeyDiagnosis(_ algorithm: SignatureAlgorithm, _ keys: ExplainedKeys) -> Diagnosis {
        var known = "the provider's key set"
        if let fetchedAt = keys.fetchedAt {
            known += ", fetched \(ShownText.duration(now.seconds(since: fetchedAt))) ago,"
        }
        var fix =
            "If the provider has just changed its keys, have them fetched: POST /v1/providers/\(policy.id)/refresh on the admin listener"
        if let nextFetchAt = keys.nextFetchAt {
            fix += " (else within \(ShownText.duration(max(nextFetchAt.seconds(since: now), 0))))"
        }
        fix += "; if not, the token is from another provider, tenant or environment."
        guard let keyID = token.keyID else {
            return Diagnosis(
                "The token names no key (kid), and none in \(known) fits \(algorithm.rawValue).", fix: fix)
        }
        if let other = keys.set.candidates(keyID: keyID).first {
            let use = [other.algorithm, other.use.map { "use " + $0 }].compactMap { $0.map(ShownText.text) }
            return Diagnosis(
                "The key \(ShownText.quoted(keyID)) is there, but not for \(algorithm.rawValue): it is \(([other.typeText] + use).joined(separator: ", ")).",
                fix: "See that the token is this provider's: it names a key that can't have signed it.")
        }
        return Diagnosis("There is no key \(ShownText.quoted(keyID)) in \(known).", fix: fix)
    }

    private func signatureDiagnosis(_ error: JWSError, _ candidates: [JWK]) -> Diagnosis {
        let length = token.jws.signature.count
        let lengths = candidates.compactMap(\.signatureLength)
        if let needed = lengths.first, !lengths.contains(length) {
            return Diagnosis(
                "The signature has \(length) bytes, and one by this key has \(needed): it was \(length < needed ? "cut off" : "changed").",
                fix:
                    "Send the token as the provider gave it; look for a column or a header field that is too short for it."
            )
        }
        return Diagnosis(
            Rejection(error),
            otherwise: Diagnosis(
                "The signature does not hold under the provider's key: header or payload were changed, or another key signed them.",
                fix:
                    "See that the token is sent as the provider gave it, and is not one of a test or an emulator; else somebody forges tokens."
            ))
    }
}
