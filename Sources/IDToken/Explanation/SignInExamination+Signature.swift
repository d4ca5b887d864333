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
                    + [.signatureWithoutKey], nil
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

    // MARK: Key and signature

    private func withoutKeys(_ algorithm: Check) -> [Check] {
        let signature = Check.signatureWithoutKey
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
            let (refusal, diagnosis): (Check.Refusal, Diagnosis) =
                keys.lacksKey
                ? (.keysUnavailable, unfetchedKeyDiagnosis(keys))
                : (.rejected(.keyNotFound), missingKeyDiagnosis(algorithm, keys))
            return [.failed(.key, refusal, diagnosis, expected: expected, found: found), .signatureWithoutKey]
        case .failure(.keyUnsuitable):
            let type = candidates.first?.typeText ?? "unreadable"
            return [
                .failed(
                    .key, .keyUnsuitable,
                    Diagnosis(
                        """
                        The provider's key for this token is too small or malformed (\(type)), and nothing can \
                        be verified with it.
                        """,
                        fix: "Have the provider use an RSA key of 2048 bits or more, or one on P-256."),
                    expected: expected, found: found + ", " + type),
                .signatureWithoutKey,
            ]
        case .failure(let error):
            return [key, .failed(.signature, Rejection(error), signatureDiagnosis(error, candidates))]
        }
    }

    /// For a key that the provider may have published since its keys were fetched.
    func unfetchedKeyDiagnosis(_ keys: ExplainedKeys) -> Diagnosis {
        let key = token.keyID.map { "no key " + ShownText.quoted($0) } ?? "no key that fits the token"
        let age = keys.fetchedAt.map { ", fetched \(ShownText.duration(now.seconds(since: $0))) ago" } ?? ""
        return Diagnosis(
            """
            There is \(key) in the provider's key set\(age), and newer keys could not be fetched: \
            \(keys.fetchFailure ?? "the fetch took too long"). So nothing can be said of the token.
            """,
            fix:
                """
                Send the token again when the keys of \(policy.id) have been fetched; assay config check --live says \
                what is in the way.
                """)
    }

    private func missingKeyDiagnosis(_ algorithm: SignatureAlgorithm, _ keys: ExplainedKeys) -> Diagnosis {
        var known = "the provider's key set"
        if let fetchedAt = keys.fetchedAt { known += ", fetched at \(ShownText.time(fetchedAt, now: now))" }
        var fix =
            """
            If the provider has just changed its keys, have them fetched: POST \
            /v1/providers/\(policy.id)/refresh on the admin listener
            """
        if let nextFetchAt = keys.nextFetchAt {
            fix += " (else within \(ShownText.duration(max(nextFetchAt.seconds(since: now), 0))))"
        }
        fix += "; if not, the token is from another provider, tenant or environment."
        if !token.wouldPassClaims(of: policy, now: now) {
            fix =
                """
                First mend its issuer, audience or expiry, see below: newer keys are not looked for where a token would be \
                refused with them, too.
                """
        }
        guard let keyID = token.keyID else {
            return Diagnosis(
                "The token names no key (kid), and no key fits \(algorithm.rawValue) in \(known).", fix: fix)
        }
        if let other = keys.set.candidates(keyID: keyID).first {
            let use = [other.algorithm, other.use.map { "use " + $0 }].compactMap { $0.map(ShownText.text) }
            return Diagnosis(
                """
                The key \(ShownText.quoted(keyID)) is there, but not for \(algorithm.rawValue): it is \
                \(([other.typeText] + use).joined(separator: ", ")).
                """,
                fix: "See that the token is this provider's: it names a key that can't have signed it.")
        }
        return Diagnosis("There is no key \(ShownText.quoted(keyID)) in \(known).", fix: fix)
    }

    /// Since when the provider may have replaced a key unnoticed.
    private var keysFetched: String {
        guard let fetchedAt = keys?.fetchedAt else { return "" }
        return " since the fetch at \(ShownText.time(fetchedAt, now: now))"
    }

    private func signatureDiagnosis(_ error: JWSError, _ candidates: [JWK]) -> Diagnosis {
        let length = token.jws.signature.count
        let lengths = candidates.compactMap(\.signatureLength)
        if let needed = lengths.first, !lengths.contains(length) {
            return Diagnosis(
                """
                The signature has \(length) bytes, and one by this key has \(needed): it was \
                \(length < needed ? "cut off" : "changed").
                """,
                fix:
                    """
                    Send the token as the provider gave it; look for a column or a header field that is too \
                    short for it.
                    """
            )
        }
        if headerObject?["nonce"] != nil {
            return Diagnosis(
                "The signature does not hold, and the header has a nonce: it is an access token for Microsoft Graph.",
                fix:
                    "Send the id_token of the provider's answer, not the access_token: nobody but Graph can verify that."
            )
        }
        let unseenKey =
            keys?.fetchFailure.map { "; newer keys could not be fetched: \($0)" } ?? ""
        return Diagnosis(
            Rejection(error),
            otherwise: Diagnosis(
                token.keyID.map {
                    """
                    The signature does not hold under the provider's key \(ShownText.quoted($0)), which the token names: \
                    header or payload were changed, or another key signed them\(unseenKey).
                    """
                }
                    ?? """
                    The signature does not hold under any of the provider's keys: header or payload were changed, or \
                    another key signed them\(unseenKey).
                    """,
                fix:
                    """
                    See that the token is sent as the provider gave it, and is not of another environment (test, emulator) \
                    whose keys have the same names; if the provider may have replaced the key\(keysFetched), have its keys \
                    fetched: POST /v1/providers/\(policy.id)/refresh on the admin listener; if it is none of these, \
                    somebody forges tokens.
                    """
            ))
    }
}

extension Check {
    fileprivate static let signatureWithoutKey = Check.notReached(
        .signature, "Not reached: there is no key to check it with.")
}
