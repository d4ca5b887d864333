import Foundation
import IDToken
import JOSE
import TokenDiagnostics

/// Verifies a real, long-expired Apple token at the time it was issued.
///
///     usage: Client TOKENS.json JWKS.json
@main
struct Client {
    struct Vectors: Decodable {
        struct Token: Decodable {
            let jwt: String
            let verify_at: Int64
        }

        let audience: String
        let tokens: [Token]
    }

    static func main() throws {
        let arguments = CommandLine.arguments
        let vectors = try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: URL(filePath: arguments[1])))
        let keys = try JWKSet(Array(Data(contentsOf: URL(filePath: arguments[2]))))
        let verifier = try IDTokenVerifier()
        let vector = vectors.tokens[0]
        let policy = ProviderPreset.apple.policy(
            id: "apple", issuer: "https://appleid.apple.com", audiences: [vectors.audience])
        let token = try verifier.read(Array(vector.jwt.utf8)[...])
        let now = UnixTime(seconds: vector.verify_at)
        let verified = try verifier.verify(
            token, with: keys, under: policy, expecting: VerificationParameters(), now: now)
        print("\(verified.identity.issuer) \(verified.identity.subject)")
        do {
            let late = now.advanced(bySeconds: 7 * 86400)
            print("explained: \(explain(token, keys, policy, verifier, late))")
            _ = try verifier.verify(token, with: keys, under: policy, expecting: VerificationParameters(), now: late)
            print("a token of last week was accepted")
            exit(1)
        } catch Rejection.tokenExpired {
            print("a week later: \(Rejection.tokenExpired.code.rawValue)")
        }
    }

    /// Why a token is rejected, in one sentence.
    static func explain(
        _ token: UnverifiedToken, _ keys: JWKSet, _ policy: ProviderPolicy, _ verifier: IDTokenVerifier, _ now: UnixTime
    ) -> String {
        verifier.explain(
            token, with: ExplainedKeys(set: keys), under: policy, expecting: VerificationParameters(), now: now
        ).summary
    }
}
