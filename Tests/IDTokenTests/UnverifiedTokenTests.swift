import IDToken
import SignInFixtures
import Testing
import TestSupport

/// The form of ID Tokens, and what may be read from one that is not verified.
@Suite struct UnverifiedTokenTests {
    private func rejection(_ text: String) -> Rejection? {
        do throws(Rejection) {
            _ = try UnverifiedToken(text)
            return nil
        } catch {
            return error
        }
    }

    private func token(payload: String) -> String { "\(base64URL(#"{"alg":"RS256"}"#)).\(base64URL(payload)).Zg" }

    @Test func `a token is 16 KiB long at most`() {
        let stem = token(payload: "{}").dropLast(2)
        func padded(_ length: Int) -> String { stem + String(repeating: "A", count: length - stem.count) }
        let longest = 16 * 1024
        // A base64url text can't have 4n + 1 characters. These three lengths leave signatures of whole octets.
        let good = (longest - 3...longest).last { ($0 - stem.count) % 4 != 1 }!
        #expect(rejection(padded(good)) == nil)
        for length in [longest + 1, longest + 2, 65_536, 10_000_000] {
            #expect(rejection(padded(length)) == .tokenMalformed(.tooLong), "\(length)")
        }
        #expect(rejection(String(repeating: ".", count: 1_000_000)) == .tokenMalformed(.tooLong))
    }

    @Test(arguments: [
        ("", Rejection.TokenPart.empty), ("a.b", .serialization), ("a.b.c.d", .serialization),
        ("a.b.c.d.e", .encrypted),
        ("a.b.c.d.e.f", .serialization), ("!.e30.Zg", .header), ("bnVsbA.e30.Zg", .header), ("e30.!.Zg", .payload),
        ("e30.e30.!", .signature),
        ("e30..Zg", .payload), ("e30.bnVsbA.Zg", .payload), ("e30.W10.Zg", .payload), ("e30.NQ.Zg", .payload),
        ("e30.IngI.Zg", .payload),
    ])
    func `what is malformed says which part is`(text: String, part: Rejection.TokenPart) {
        #expect(rejection(text) == .tokenMalformed(part))
    }

    @Test(arguments: [
        "", "null", "[]", "5", #""x""#, "{", "{}{}", #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, #"{"a":{"b":1,"b":2}}"#,
        "{} x", "\u{feff}{}",
        #"{"a":"\u0000"}"#, #"{"a":"\ud800"}"#, #"{"a":1e400}"#, #"{"a":01}"#, "{\"a\":\"\n\"}",
    ])
    func `a payload that is not one strict JSON object is malformed`(payload: String) {
        #expect(rejection(token(payload: payload)) == .tokenMalformed(.payload))
    }

    @Test func `a nested token is no object`() {
        let inner = SignIn.plain.token
        #expect(rejection(token(payload: inner)) == .tokenMalformed(.payload))
        #expect(rejection(token(payload: "\"\(inner)\"")) == .tokenMalformed(.payload))
    }

    @Test func `an empty claims set has the form, and lacks an issuer`() {
        var signIn = SignIn.plain
        signIn.claims = ClaimsText([:])
        #expect(rejection(signIn.token) == nil)
        #expect(signIn.rejection == .missing("iss"))
    }

    @Test func `a payload nested without end is malformed`() {
        #expect(
            rejection(token(payload: #"{"a":"# + String(repeating: "[", count: 10_000))) == .tokenMalformed(.payload))
        #expect(rejection(token(payload: String(repeating: #"{"a":"#, count: 2_400))) == .tokenMalformed(.payload))
    }

    @Test func `the issuer it claims can be read, and is nil where it is no string`() throws {
        #expect(try UnverifiedToken(SignIn.plain.token).unverifiedIssuer == "https://op.example")
        #expect(try UnverifiedToken(SignIn.plain.with("iss", #""https:\/\/x""#).token).unverifiedIssuer == "https://x")
        for json in ["5", "null", "[]"] {
            #expect(try UnverifiedToken(SignIn.plain.with("iss", json).token).unverifiedIssuer == nil)
        }
        #expect(try UnverifiedToken(SignIn.plain.without("iss").token).unverifiedIssuer == nil)
    }

    @Test func `only a token whose issuer, audience and expiry would pass is worth a fetch`() throws {
        func wouldPass(_ signIn: SignIn) throws -> Bool {
            try UnverifiedToken(signIn.token).wouldPassClaims(of: signIn.policy, now: UnixTime(seconds: signIn.now))
        }
        #expect(try wouldPass(.plain))
        #expect(try !wouldPass(SignIn.plain.with("iss", #""https://evil.example""#)))
        #expect(try !wouldPass(SignIn.plain.without("iss")))
        #expect(try !wouldPass(SignIn.plain.with("aud", #""other""#)))
        #expect(try !wouldPass(SignIn.plain.with("aud", #"["client","other"]"#)))
        #expect(try !wouldPass(SignIn.plain.with("aud", "5")))
        #expect(try wouldPass(SignIn.plain.at(1_700_003_659)))
        #expect(try !wouldPass(SignIn.plain.at(1_700_003_660)))
        #expect(try !wouldPass(SignIn.plain.without("exp")))
        #expect(try !wouldPass(SignIn.plain.with("exp", #""1700003600""#)))
        // All other checks are made later, by the verifier.
        #expect(try wouldPass(SignIn.plain.without("sub").without("iat")))
    }
}

/// The texts and codes of errors.
@Suite struct RejectionTests {
    @Test func `codes are the contract's`() {
        let codes: [(Rejection, String)] = [
            (.tokenMalformed(.tooLong), "token_malformed"), (.headerUnsupported, "header_unsupported"),
            (.algorithmNotAllowed, "algorithm_not_allowed"), (.keyNotFound, "key_not_found"),
            (.keyUnsuitable, "key_unsuitable"),
            (.signatureInvalid, "signature_invalid"), (.issuerMismatch, "issuer_mismatch"),
            (.audienceMismatch, "audience_mismatch"),
            (.authorizedPartyMismatch, "authorized_party_mismatch"), (.tokenExpired, "token_expired"),
            (.tokenNotYetValid, "token_not_yet_valid"), (.tokenTooOld, "token_too_old"),
            (.authTimeTooOld, "auth_time_too_old"),
            (.missing("sub"), "claim_missing"), (.invalid("sub"), "claim_invalid"), (.nonceRequired, "nonce_required"),
            (.nonceMissing, "nonce_missing"), (.nonceMismatch, "nonce_mismatch"), (.atHashMissing, "at_hash_missing"),
            (.atHashMismatch, "at_hash_mismatch"), (.cHashMissing, "c_hash_missing"),
            (.cHashMismatch, "c_hash_mismatch"), (.sessionRevoked, "session_revoked"),
            (.subjectMismatch, "subject_mismatch"),
            (.scopeMissing, "scope_missing"), (.bindingRequired, "binding_required"),
            (.bindingMissing, "binding_missing"), (.bindingMismatch, "binding_mismatch"),
            (.proofInvalid(.form), "dpop_proof_invalid"), (.proofNonceRequired, "dpop_nonce_required"),
            (.groupsOverage, "groups_overage"), (.tokenInactive, "token_inactive"),
            (.cryptographyUnavailable, "internal"),
        ]
        for (rejection, code) in codes { #expect(rejection.code.rawValue == code) }
        #expect(Set(codes.map(\.0.code)) == Set(Rejection.Code.allCases))
    }

    @Test func `a claim is named where one is missing or invalid, and nowhere else`() {
        #expect(Rejection.missing("sub").claim?.string == "sub")
        #expect(Rejection.invalid("exp").claim?.string == "exp")
        #expect(Rejection.tokenExpired.claim == nil)
    }

    @Test func `presets are found by their names`() {
        #expect(ProviderPreset.all.map(\.name) == ProviderPreset.all.map(\.name).sorted())
        for preset in ProviderPreset.all { #expect(ProviderPreset.named(preset.name)?.name == preset.name) }
        #expect(ProviderPreset.named("Apple") == nil)
        #expect(ProviderPreset.named("") == nil)
    }
}
