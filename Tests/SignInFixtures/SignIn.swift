package import IDToken
package import JOSE
private import Testing
package import TestSupport
package import TokenDiagnostics

/// A sign-in with a valid token, unless a test changes it.
package struct SignIn: Sendable {
    package var claims: ClaimsText
    package var policy: ProviderPolicy
    package var parameters = VerificationParameters()
    package var now: Int64
    /// The key that signs the token.
    package var key: TestKey
    /// `alg` in the header and for signing; `nil`: the key's own.
    package var algorithm: String?
    /// The whole header, if it differs from just `alg` and `kid`.
    package var header: String?
    /// The provider's keys.
    package var keys: [TestKey] = [.p256, .rsa]
    /// Additional members of the JWKs that match the token's algorithm.
    package var keyMembers: [String: JSONTree?] = [:]

    package init(
        claims: ClaimsText, policy: ProviderPolicy, now: Int64 = 1_700_000_100, key: TestKey = .p256
    ) {
        self.claims = claims
        self.policy = policy
        self.now = now
        self.key = key
    }

    /// A generic provider's token, issued at 1 700 000 000 for an hour.
    package static let plain = SignIn(
        claims: ClaimsText([
            "iss": #""https://op.example""#, "aud": #""client""#, "sub": #""user""#, "iat": "1700000000",
            "exp": "1700003600",
        ]),
        policy: ProviderPolicy(id: "op", issuer: "https://op.example", audiences: ["client"]))

    /// Apple's token, for an app that sends no nonce.
    package static let apple = SignIn(
        claims: ClaimsText([
            "iss": #""https://appleid.apple.com""#, "aud": #""com.example.app""#, "exp": "1700086400",
            "iat": "1700000000",
            "sub": #""001234.0123456789abcdef0123456789abcdef.0123""#, "auth_time": "1700000000",
            "nonce_supported": "true",
        ]),
        policy: ProviderPreset.apple.policy(
            id: "apple", issuer: "https://appleid.apple.com", audiences: ["com.example.app"]),
        key: .rsa)

    package static let google = SignIn(
        claims: ClaimsText([
            "iss": #""https://accounts.google.com""#, "azp": #""123-android.apps.googleusercontent.com""#,
            "aud": #""123-web.apps.googleusercontent.com""#, "sub": #""110169484474386276334""#, "iat": "1700000000",
            "exp": "1700003600",
        ]),
        policy: ProviderPreset.google.policy(
            id: "google", issuer: "https://accounts.google.com", audiences: ["123-web.apps.googleusercontent.com"]),
        key: .rsa)

    /// A copy with one claim replaced or added.
    package func with(_ claim: String, _ json: String) -> SignIn {
        var copy = self
        copy.claims = claims.with(claim, json)
        return copy
    }

    package func without(_ claim: String) -> SignIn {
        var copy = self
        copy.claims = claims.without(claim)
        return copy
    }

    /// A copy with other settings.
    package func policy(_ change: (inout ProviderPolicy) -> Void) -> SignIn {
        var copy = self
        change(&copy.policy)
        return copy
    }

    /// A copy with other parameters.
    package func expecting(_ change: (inout VerificationParameters) -> Void) -> SignIn {
        var copy = self
        change(&copy.parameters)
        return copy
    }

    /// A copy with another member in the JWKs that match the token's algorithm.
    package func keys(with name: String, _ value: JSONTree) -> SignIn {
        var copy = self
        copy.keyMembers[name] = value
        return copy
    }

    package func at(_ now: Int64) -> SignIn {
        var copy = self
        copy.now = now
        return copy
    }

    package var token: String {
        let alg = algorithm ?? key.algorithm
        return compactJWS(
            header: header ?? #"{"alg":"\#(alg)","kid":"\#(key.keyID)"}"#, payload: claims.json, signedBy: key, as: alg)
    }

    package var keySet: JWKSet {
        try! JWKSet(jwkSet(keys.map { $0.algorithm == key.algorithm ? $0.jwk(keyMembers) : $0.jwk() }))
    }

    /// Verifies the token and explains it. Checks that both agree, in every test.
    package func verify() throws(Rejection) -> VerifiedIDToken {
        let explanation = explanation
        do throws(Rejection) {
            let verifier = try IDTokenVerifier()
            let verified = try verifier.verify(
                verifier.read(Array(token.utf8)[...]), with: keySet, under: policy, expecting: parameters,
                now: UnixTime(seconds: now))
            if !explanation.isValid || explanation.refusal != nil { Issue.record("\(explanation.summary)") }
            return verified
        } catch {
            if explanation.isValid || explanation.refusal != .rejected(error) { Issue.record("\(explanation.summary)") }
            throw error
        }
    }

    package var explanation: Explanation { explanation() }

    /// - Parameter change: changes what is known about the keys.
    package func explanation(
        others: [ProviderPolicy] = [], keys change: (inout ExplainedKeys) -> Void = { _ in }
    ) -> Explanation {
        let verifier = try! IDTokenVerifier()
        let text = Array(token.utf8)[...]
        do throws(Rejection) {
            var keys = ExplainedKeys(set: keySet)
            change(&keys)
            return verifier.explain(
                try verifier.read(text), with: keys, under: policy, isNamed: false, others: others,
                expecting: parameters, now: UnixTime(seconds: now))
        } catch {
            return verifier.explain(malformed: text, error)
        }
    }

    /// Why the token is rejected; `nil` if it is verified.
    package var rejection: Rejection? {
        do throws(Rejection) {
            _ = try verify()
            return nil
        } catch {
            return error
        }
    }
}

extension Rejection {
    package static func missing(_ claim: String) -> Rejection { .claimMissing(ClaimName(claim)) }
    package static func invalid(_ claim: String) -> Rejection { .claimInvalid(ClaimName(claim)) }
}

extension Explanation {
    package subscript(name: CheckName) -> Check { checks.first { $0.name == name }! }
}
