import IDToken
import JOSE
import Testing
@testable import Verification

@Suite struct ChallengeTests {
    private static let place =
        #"resource_metadata="https://m.example/.well-known/oauth-protected-resource/mcp""#
    private static let proofs: ProofRules = {
        var rules = ProofRules()
        rules.algorithms = [.es256, .edDSA]
        return rules
    }()

    /// A resource without providers, which takes bearer tokens unless all its providers demand proofs.
    private func challenge(
        _ code: String, scopes: [String] = [], own: [String] = ["use"], _ proofs: ProofRules? = nil,
        needsProof: Bool = false
    ) throws -> Challenge {
        let address = try #require(ResourceAddress("https://m.example/mcp"))
        let resource = Resource(id: "m", address: address, providers: [], authorizationServers: [], scopes: own)
        return ServedResource(resource, [], number: { _ in nil }).challenge(
            code: code, scopes: scopes, proofs, needsProof: needsProof)
    }

    @Test(arguments: [
        ("scope_missing", 403, "insufficient_scope"), ("subject_mismatch", 403, nil), ("groups_overage", 403, nil),
        ("token_missing", 401, nil), ("token_expired", 401, "invalid_token"), ("token_inactive", 401, "invalid_token"),
        ("audience_mismatch", 401, "invalid_token"), ("binding_required", 401, "invalid_token"),
        ("dpop_proof_invalid", 401, "invalid_dpop_proof"), ("dpop_proof_replayed", 401, "invalid_dpop_proof"),
        ("dpop_nonce_required", 401, "use_dpop_nonce"),
    ])
    func `each code has a status and an error`(code: String, status: Int, error: String?) throws {
        let challenge = try challenge(code)
        #expect(challenge.status == status)
        let parameter = error.map { #"error="\#($0)", "# } ?? ""
        #expect(challenge.field == "Bearer \(parameter)scope=\"use\", \(Self.place)")
    }

    @Test func `scopes are those of the request, or else the resource's`() throws {
        #expect(try challenge("token_missing", scopes: ["a", "b"]).field.contains(#"scope="a b""#))
        #expect(try challenge("token_missing", own: []).field == "Bearer \(Self.place)")
    }

    @Test func `a proof is asked for where one is needed`() throws {
        let only = #"DPoP error="invalid_token", scope="use", \#(Self.place), algs="ES256 EdDSA""#
        #expect(try challenge("binding_missing", Self.proofs, needsProof: true).field == only)
        let needed = try challenge("dpop_nonce_required", Self.proofs).field
        #expect(needed.hasPrefix(#"DPoP error="use_dpop_nonce", "#) && needed.hasSuffix(#"algs="ES256 EdDSA""#))
        // Without the setting dpop, nothing speaks of proofs.
        #expect(try challenge("binding_missing", needsProof: true).field.hasPrefix("Bearer "))
    }
}
