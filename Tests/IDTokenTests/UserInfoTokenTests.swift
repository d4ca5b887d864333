import IDToken
import JOSE
import SignInFixtures
import Testing
import TestSupport

/// A UserInfo response that is a signed JWT.
@Suite struct UserInfoTokenTests {
    private static let bare = SignIn.plain.without("iss").without("aud").without("exp").without("iat")

    private func rejection(_ signIn: SignIn, clientID: String = "client", subject: String = "user") -> Rejection? {
        do throws(Rejection) {
            let verifier = try IDTokenVerifier()
            _ = try verifier.verifyUserInfo(
                try verifier.read(Array(signIn.token.utf8)[...]), with: signIn.keySet, under: signIn.policy,
                clientID: clientID, subject: subject, now: UnixTime(seconds: signIn.now))
            return nil
        } catch {
            return error
        }
    }

    @Test func `only sub is required`() {
        #expect(rejection(Self.bare) == nil)
        #expect(rejection(Self.bare.without("sub")) == .missing("sub"))
        #expect(rejection(Self.bare.with("sub", "1")) == .invalid("sub"))
        for other in ["User", "users", "use", ""] { #expect(rejection(Self.bare, subject: other) == .subjectMismatch) }
    }

    @Test func `iss and aud are checked where they are`() {
        #expect(rejection(SignIn.plain) == nil)
        #expect(rejection(Self.bare.with("iss", #""https://op.example/""#)) == .issuerMismatch)
        #expect(rejection(Self.bare.with("aud", #"["other"]"#)) == .audienceMismatch)
        #expect(rejection(Self.bare.with("aud", #"["other","client"]"#)) == nil)
        // Another client of the same entry is another client.
        let two = SignIn.plain.policy { $0.audiences = ["client", "shop"] }
        #expect(rejection(two, clientID: "shop") == .audienceMismatch)
    }

    @Test func `exp and nbf are checked to the second where they are`() {
        let strict = Self.bare.policy { $0.clockSkewSeconds = 0 }.at(1_700_000_000)
        #expect(rejection(strict.with("exp", "1700000001")) == nil)
        #expect(rejection(strict.with("exp", "1700000000")) == .tokenExpired)
        #expect(rejection(strict.with("nbf", "1700000000")) == nil)
        #expect(rejection(strict.with("nbf", "1700000001")) == .tokenNotYetValid)
        #expect(rejection(strict.with("exp", #""x""#)) == .invalid("exp"))
    }

    @Test func `header, algorithm and signature are checked`() {
        var signIn = Self.bare
        signIn.keys = [.rsa]
        #expect(rejection(signIn) == .keyNotFound)
        #expect(rejection(Self.bare.policy { $0.algorithms = [.rs256] }) == .algorithmNotAllowed)
        var other = Self.bare
        other.header = #"{"alg":"ES256","kid":"\#(other.key.keyID)","typ":"at+jwt"}"#
        #expect(rejection(other) == .headerUnsupported)
        var none = Self.bare
        none.header = #"{"alg":"none"}"#
        #expect(rejection(none) == .algorithmNotAllowed)
    }
}
