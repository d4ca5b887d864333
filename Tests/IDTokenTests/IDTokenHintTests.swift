import IDToken
import JOSE
import SignInFixtures
import Testing
import TestSupport

/// An ID Token as `id_token_hint`: everything but its age must hold.
@Suite struct IDTokenHintTests {
    private static let expired = SignIn.plain.at(1_900_000_000)

    private func verify(_ signIn: SignIn, audience: String? = nil) throws(Rejection) -> VerifiedHint {
        let verifier = try IDTokenVerifier()
        return try verifier.verifyHint(
            try verifier.read(Array(signIn.token.utf8)[...]), with: signIn.keySet, algorithms: .all,
            under: signIn.policy, audience: audience, now: UnixTime(seconds: signIn.now))
    }

    private func rejection(_ signIn: SignIn, audience: String? = nil) -> Rejection? {
        do throws(Rejection) {
            _ = try verify(signIn, audience: audience)
            return nil
        } catch {
            return error
        }
    }

    @Test func `an expired token still names its person`() throws {
        #expect(Self.expired.rejection == .tokenExpired)
        let hint = try verify(Self.expired)
        #expect(hint.issuer == "https://op.example" && hint.subject == "user")
    }

    @Test func `neither exp nor nonce nor an age is asked for`() {
        let strict = Self.expired.without("exp").policy {
            $0.maximumTokenAgeSeconds = 60
            $0.nonce.isRequired = true
        }
        #expect(rejection(strict) == nil)
    }

    @Test func `a token from the future is refused`() {
        #expect(rejection(SignIn.plain.at(1_699_999_999).policy { $0.clockSkewSeconds = 0 }) == .tokenNotYetValid)
        #expect(rejection(SignIn.plain.at(1_700_000_000).policy { $0.clockSkewSeconds = 0 }) == nil)
        #expect(rejection(SignIn.plain.with("nbf", "1800000000")) == .tokenNotYetValid)
    }

    @Test func `another provider's or client's token is refused`() {
        #expect(rejection(Self.expired.with("iss", #""https://op.example/""#)) == .issuerMismatch)
        #expect(rejection(Self.expired.with("aud", #""other""#)) == .audienceMismatch)
        let two = Self.expired.policy { $0.audiences = ["client", "shop"] }
        #expect(rejection(two, audience: "client") == nil)
        #expect(rejection(two, audience: "shop") == .audienceNotExpected)
        let shared = Self.expired.with("aud", #"["client","x"]"#).with("azp", #""other""#)
        #expect(rejection(shared) == .authorizedPartyMismatch)
    }

    @Test func `an issuer's alias is the issuer`() throws {
        let alias = Self.expired.policy { $0.issuerAliases = ["https://old.example"] }
        #expect(try verify(alias.with("iss", #""https://old.example""#)).issuer == "https://op.example")
    }

    @Test func `a logout token is no hint`() {
        let events = #"{"http://schemas.openid.net/event/backchannel-logout":{}}"#
        #expect(rejection(Self.expired.with("events", events)) == .invalid("events"))
    }

    @Test func `header and signature are checked`() {
        var signIn = Self.expired
        signIn.keys = [.rsa]
        #expect(rejection(signIn) == .keyNotFound)
        #expect(rejection(Self.expired.policy { $0.algorithms = [.rs256] }) == .algorithmNotAllowed)
        var critical = Self.expired
        critical.header = #"{"alg":"ES256","kid":"\#(critical.key.keyID)","crit":["x"],"x":1}"#
        #expect(rejection(critical) == .headerUnsupported)
        #expect(rejection(Self.expired.without("sub")) == .missing("sub"))
    }

    @Test func `keys are fetched only for a token of this issuer and client`() throws {
        func passes(_ signIn: SignIn) throws -> Bool {
            let token = try IDTokenVerifier().read(Array(signIn.token.utf8)[...])
            return (try? token.checkHintClaims(of: signIn.policy)) != nil
        }
        #expect(try passes(Self.expired))
        #expect(try !passes(Self.expired.with("iss", #""https://other.example""#)))
        #expect(try !passes(Self.expired.with("aud", #""other""#)))
    }
}
