package import IDToken
package import JOSE
package import TestSupport

/// A token of another kind than ID Tokens, with what verifies it. A test changes one of them and verifies it.
package protocol SentToken: Sendable {
    associatedtype Verified

    var claims: ClaimsText { get set }
    var policy: ProviderPolicy { get set }
    var now: Int64 { get set }
    /// The key that signs the token.
    var key: TestKey { get set }
    /// Header members other than `alg` and `kid`, each after a comma.
    var headerMembers: String { get set }

    func verify(with keys: JWKSet) throws(Rejection) -> Verified
}

extension SentToken {
    package func change(_ body: (inout Self) -> Void) -> Self {
        var copy = self
        body(&copy)
        return copy
    }

    package func with(_ claim: String, _ json: String) -> Self { change { $0.claims = claims.with(claim, json) } }
    package func without(_ claim: String) -> Self { change { $0.claims = claims.without(claim) } }
    package func header(_ members: String) -> Self { change { $0.headerMembers = members } }
    package func at(_ now: Int64) -> Self { change { $0.now = now } }
    package func policy(_ body: (inout ProviderPolicy) -> Void) -> Self { change { body(&$0.policy) } }

    package var token: String {
        compactJWS(
            header: #"{"alg":"\#(key.algorithm)","kid":"\#(key.keyID)"\#(headerMembers)}"#, payload: claims.json,
            signedBy: key)
    }

    package func unverified() throws(Rejection) -> UnverifiedToken { try UnverifiedToken(token) }

    package func verify() throws(Rejection) -> Verified {
        try verify(with: try! JWKSet(jwkSet([TestKey.rsa.jwk(), TestKey.p256.jwk(), TestKey.loadBalancer.jwk()])))
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
