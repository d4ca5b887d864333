import IDToken
import JOSE
import SignInFixtures
import Testing
import TestSupport

/// The verifier that is shared between threads.
@Suite struct ProviderVerifierTests {
    @Test func `a token is verified as it was received`() throws {
        let signIn = SignIn.plain.with("nonce", #""n""#)
        let verifier = try ProviderVerifier(signIn.policy)
        let now = UnixTime(seconds: signIn.now)
        let verified = try verifier.verify(
            signIn.token, with: signIn.keySet, expecting: VerificationParameters(nonce: "n"), now: now)
        #expect(verified.identity == (try signIn.expecting { $0.nonce = "n" }.verify().identity))
        #expect(throws: Rejection.nonceMismatch) {
            try verifier.verify(
                signIn.token, with: signIn.keySet, expecting: VerificationParameters(nonce: "m"), now: now)
        }
        #expect(throws: Rejection.tokenMalformed(.serialization)) {
            try verifier.verify("not a token", with: signIn.keySet, now: now)
        }
    }

    @Test func `a token that was read is verified too`() throws {
        let verifier = try ProviderVerifier(SignIn.plain.policy)
        let token = try verifier.read(SignIn.plain.token)
        #expect(token.unverifiedIssuer == "https://op.example")
        let verified = try verifier.verify(token, with: SignIn.plain.keySet, now: UnixTime(seconds: SignIn.plain.now))
        #expect(verified.identity.subject == "user")
    }

    @Test func `a token longer than the limit is not read`() throws {
        let verifier = try ProviderVerifier(SignIn.plain.policy, maximumTokenLength: 100)
        #expect(throws: Rejection.tokenMalformed(.tooLong)) { try verifier.read(SignIn.plain.token) }
    }

    /// As many tasks as like, with one key set: each verdict is that of its own token.
    @Test(.timeLimit(.minutes(5))) func `many tasks share one verifier`() async throws {
        let verifier = try ProviderVerifier(SignIn.plain.policy, signatureCacheCapacity: 16)
        let (keys, now) = (SignIn.plain.keySet, UnixTime(seconds: SignIn.plain.now))
        let signIns = (0..<16).map { number in
            var signIn = SignIn.plain.with("sub", #""user \#(number)""#)
            signIn.key = number.isMultiple(of: 2) ? .p256 : .rsa
            return number.isMultiple(of: 3) ? signIn.with("exp", "1") : signIn
        }
        let tokens = signIns.map(\.token)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for round in 0..<32 {
                        let number = (task + round) % 16
                        let result = Result { () throws(Rejection) in
                            try verifier.verify(tokens[number], with: keys, now: now).identity.subject
                        }
                        #expect(
                            result == (number.isMultiple(of: 3) ? .failure(.tokenExpired) : .success("user \(number)")))
                    }
                }
            }
        }
    }

    @Test(arguments: [
        (Rejection.tokenExpired, "token_expired: exp has passed"),
        (.claimMissing(ClaimName("email")), "claim_missing: email is missing"),
        (.tokenMalformed(.encrypted), "token_malformed: the token is encrypted (JWE)"),
        (.cryptographyUnavailable, "internal: OpenSSL failed; the token may be valid"),
    ])
    func `a rejection describes itself by its code and a reason`(rejection: Rejection, text: String) {
        #expect("\(rejection)" == text)
    }
}
