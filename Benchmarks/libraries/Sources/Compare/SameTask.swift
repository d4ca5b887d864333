import Crypto
import JWTKit

// The task of docs/libraries.md, by jwt-kit.

struct Refused: Error {}

func verifyByJWTKit(token: String, rawNonce: String, fetchAppleKeys: () async throws -> String) async throws {
    let keys = JWTKeyCollection()
    try await keys.add(jwksJSON: try await fetchAppleKeys())  // yours: fetch, cache, refresh
    let claims = try await keys.verify(token, as: AppleIdentityToken.self)
    guard claims.audience.value.contains("com.example.app") else { throw Refused() }
    guard claims.nonce == hexSHA256(rawNonce) else { throw Refused() }
}

private func hexSHA256(_ text: String) -> String {
    SHA256.hash(data: Array(text.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
