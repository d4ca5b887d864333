import IDToken
import SignInFixtures
import Testing
import TestSupport
@testable import TokenDiagnostics

/// Which kind of token was sent, as far as it says so.
@Suite struct TokenKindGuessTests {
    private func guess(_ claims: ClaimsText, type: String? = nil) throws -> TokenKindGuess {
        let type = type.map { #","typ":"\#($0)""# } ?? ""
        let text = compactJWS(header: #"{"alg":"ES256"\#(type)}"#, payload: claims.json, signedBy: .p256)
        return TokenKindGuess(try UnverifiedToken(text))
    }

    @Test func `the header's type decides`() throws {
        for type in ["at+jwt", "AT+JWT", "application/at+jwt"] {
            #expect(try guess(ClaimsText(["nonce": #""n""#]), type: type) == .accessToken(reason: "its typ is at+jwt"))
        }
        #expect(try guess(ClaimsText([:]), type: "JWT") == .unknown)
    }

    @Test func `then what the provider says`() throws {
        #expect(try guess(ClaimsText(["typ": #""ID""#, "scope": #""a""#])) == .idToken(reason: "its typ is ID"))
        #expect(
            try guess(ClaimsText(["typ": #""Bearer""#, "nonce": #""n""#])) == .accessToken(reason: "its typ is Bearer"))
        #expect(try guess(ClaimsText(["token_use": #""id""#])) == .idToken(reason: "its token_use is id"))
        #expect(try guess(ClaimsText(["token_use": #""access""#])) == .accessToken(reason: "its token_use is access"))
        #expect(try guess(ClaimsText(["typ": "5", "token_use": #""refresh""#])) == .unknown)
    }

    @Test func `then claims that only one kind has`() throws {
        for claim in ["nonce", "at_hash", "c_hash"] {
            let both: ClaimsText = ClaimsText(["scope": #""a""#]).with(claim, #""x""#)
            #expect(try guess(both) == .idToken(reason: "it has \(claim)"))
        }
        for claim in ["azpacr", "appidacr", "cid"] {
            #expect(try guess(ClaimsText([:]).with(claim, #""x""#)) == .accessToken(reason: "it has \(claim)"))
        }
        for claim in ["scope", "scp", "client_id"] {
            #expect(try guess(ClaimsText([:]).with(claim, #""x""#)) == .probablyAccessToken(reason: "it has \(claim)"))
        }
        #expect(try guess(ClaimsText(["sub": #""user""#])) == .unknown)
    }

    @Test(arguments: GoldenToken.all)
    func `no provider's ID Token is taken for an access token, unless it is one`(golden: GoldenToken) throws {
        let token = try UnverifiedToken(golden.signIn.token)
        if case .accessToken(let reason) = TokenKindGuess(token) { Issue.record("\(golden.preset.name): \(reason)") }
    }

    @Test func `a kind is the likely cause only where a check tells the kinds apart`() {
        let other = SignIn.plain.with("aud", #""api""#).with("scope", #""a""#)
        #expect(other.explanation.likelyCause?.check == .audience)
        #expect(
            other.explanation.summary.hasPrefix("The token is probably an access token, not an ID Token: it has scope"))
        // A workload's claim of that name is no OAuth scope.
        let workload = SignIn.plain.with("scope", #""owner:1:project:2""#)
        #expect(workload.explanation.likelyCause?.check == .tokenKind)
        #expect(workload.explanation.summary.hasPrefix("The token is probably an access token: it has scope"))
        #expect(workload.explanation.likelyCause?.fix?.contains("refuse_access_tokens: false") == true)
        let expired = SignIn.plain.with("scope", #""a""#).with("nonce", #""n""#).at(1_800_000_000)
        #expect(expired.explanation.likelyCause?.explanation.contains("access token") == false)
        let stranger = other.with("iss", #""https://other.example""#)
        #expect(stranger.explanation.likelyCause?.check == .issuer)
    }

    @Test func `an AWS load balancer's assertion is recognized`() throws {
        let header = #"{"alg":"ES256","kid":"k","signer":"arn:aws:elasticloadbalancing:…"}"#
        let text = Array(paddedJWS(header: header, payload: "{}", signedBy: .p256).utf8)[...]
        let explanation = try IDTokenVerifier().explain(malformed: text, .tokenMalformed(.signature))
        #expect(explanation.summary.contains("the assertion of an AWS load balancer"))
        let other = Array(paddedJWS(header: #"{"alg":"ES256"}"#, payload: "{}", signedBy: .p256).utf8)[...]
        #expect(
            try IDTokenVerifier().explain(malformed: other, .tokenMalformed(.signature)).summary.contains(
                "padded with ="))
    }
}
