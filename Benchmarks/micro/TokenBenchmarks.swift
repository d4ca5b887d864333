import IDToken
import JOSE
import OpenSSL

/// The cost of an ID Token's claims.
let tokenBenchmarks = [
    Benchmark("nonce") {
        let fixtures = try Fixtures()
        let claims = Claims(try JSONObject(try fixtures.decodedPart(1, of: "RS256")))
        let rule = applePolicy().nonce
        let checker = try SignatureChecker()
        return { try checkNonce(claims, rule, expected: fixtures.nonce, checker) == .sha256Hex }
    },
    Benchmark("id-token-read") {
        let token = try Fixtures().token("RS256")[...]
        let verifier = try IDTokenVerifier()
        return { try verifier.read(token).algorithm == .rs256 }
    },
    // Includes the signature, whose cost is mostly OpenSSL's and counted separately.
    Benchmark("id-token-verify") {
        let fixtures = try Fixtures()
        let keys = try JWKSet(try fixtures.keySet(["RS256", "RS384", "RS512"]))
        let verifier = try IDTokenVerifier()
        let token = try verifier.read(try fixtures.token("RS256")[...])
        let policy = applePolicy()
        var parameters = VerificationParameters()
        parameters.nonce = fixtures.nonce
        return { [parameters] in
            try verifier.verify(
                token, with: keys, under: policy, expecting: parameters, now: UnixTime(seconds: 1_700_000_060)
            ).nonceMatch == .sha256Hex
        }
    },
]

/// The policy that matches the fixtures' tokens.
func applePolicy() -> ProviderPolicy {
    var policy = ProviderPreset.apple.policy(
        id: "apple", issuer: "https://appleid.apple.com", audiences: ["com.example.app"])
    policy.algorithms = [.rs256, .es256]
    return policy
}
