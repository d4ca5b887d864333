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

    /// Claims that this program reads itself. Apple sends the boolean as a string.
    struct AppleClaims: Decodable {
        let is_private_email: String
        let auth_time: UnixTime
    }

    static func main() throws {
        let arguments = CommandLine.arguments
        let vectors = try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: URL(filePath: arguments[1])))
        let keys = try JWKSet(Array(Data(contentsOf: URL(filePath: arguments[2]))))
        let policy = ProviderPreset.apple.policy(id: "apple", audiences: [vectors.audience])
        let verifier = try ProviderVerifier(policy)
        let token = vectors.tokens[0].jwt
        let now = UnixTime(seconds: vectors.tokens[0].verify_at)

        let verified = try verifier.verify(token, with: keys, now: now)
        print("\(verified.identity.issuer) \(verified.identity.subject)")
        let claims = try verified.claims(as: AppleClaims.self)
        print("relay: \(claims.is_private_email), authenticated at \(claims.auth_time.seconds)")

        let late = now.advanced(bySeconds: 7 * 86400)
        do {
            _ = try verifier.verify(token, with: keys, now: late)
            print("a token of last week was accepted")
            exit(1)
        } catch {
            print("a week later: \(error)")
            print("explained: \(try verifier.explain(token, with: keys, now: late).summary)")
        }
    }
}
