import CLibcrypto
import Foundation
import IDToken
import JOSE
import JWTKit

/// Prints the microseconds that a verification takes by each library, and that its bare signature check takes.
///
/// jwt-kit's type for Apple's tokens checks issuer and expiry. Audience and nonce are added, as its users must, so that both do the
/// same work that a sign-in needs; the library does more (`azp`, times, types, the identity).
@main
struct Compare {
    static let rounds = 9
    static let calls = 500

    static func main() async throws {
        for token in [try Token.es256(), try Token.rs256()] {
            let jwks = #"{"keys":[\#(token.jwk)]}"#
            let keys = try JWKSet(Array(jwks.utf8))
            var policy = ProviderPreset.apple.policy(id: "apple", issuer: Token.issuer, audiences: [Token.audience])
            policy.nonce.accepted = [.plain]
            let verifier = try ProviderVerifier(policy)
            let parameters = VerificationParameters(nonce: "0123456789abcdef")
            let collection = JWTKeyCollection()
            try await collection.add(jwksJSON: jwks)
            guard let key = compareReadKey(token.pem) else { throw Failure() }
            defer { EVP_PKEY_free(key) }

            print("\(token.name), \(token.text.utf8.count) bytes")
            let bare = try await microseconds {
                compareVerify(
                    key, token.signature, token.signature.count, token.signingInput, token.signingInput.count) == 1
            }
            let assay = try await microseconds {
                try verifier.verify(
                    token.text, with: keys, expecting: parameters,
                    now: UnixTime(seconds: Int64(Date().timeIntervalSince1970))
                ).identity.isPrivateEmail == true
            }
            let otherBare = try await microseconds { token.isValidBySwiftCrypto() }
            let jwtKit = try await microseconds {
                let claims = try await collection.verify(token.text, as: AppleIdentityToken.self)
                try claims.audience.verifyIntendedAudience(includes: Token.audience)
                return claims.nonce == "0123456789abcdef"
            }
            line("bare check by OpenSSL", bare)
            line("Assay", assay, above: bare)
            line("bare check by swift-crypto", otherBare)
            line("jwt-kit", jwtKit, above: otherBare)
        }
    }

    /// The median of the rounds.
    static func microseconds(_ isValid: () async throws -> Bool) async throws -> Double {
        let clock = ContinuousClock()
        var results: [Double] = []
        for _ in 0..<rounds {
            let start = clock.now
            for _ in 0..<calls { guard try await isValid() else { throw Failure() } }
            results.append((clock.now - start) / .microseconds(1) / Double(calls))
        }
        return results.sorted()[rounds / 2]
    }

    static func line(_ name: String, _ value: Double, above floor: Double? = nil) {
        let rest = floor.map { String(format: "  %6.1f µs above its bare check", value - $0) } ?? ""
        print("  " + name.padding(toLength: 28, withPad: " ", startingAt: 0) + String(format: "%7.1f µs", value) + rest)
    }

    struct Failure: Error {}
}
