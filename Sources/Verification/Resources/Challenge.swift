package import IDToken
package import JOSE

/// What an API answers to a client whose token it refuses: the status, and the value of `WWW-Authenticate`.
package struct Challenge: Sendable, Equatable {
    package let status: Int
    package let field: String

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("status", Int64(status))
            json.member("www_authenticate", field)
        }
    }
}

extension ServedResource {
    /// The challenge for a refused token, or for a request without one.
    ///
    /// `Bearer` comes first where bearer tokens are accepted, because clients look for it there.
    ///
    /// - Parameters:
    ///   - code: of the problem, or of a gateway's denial.
    ///   - scopes: those that the request needed; empty: the resource's.
    ///   - proofs: the rules of DPoP proofs; `nil`: they are not checked, and not mentioned.
    ///   - needsProof: whether the token, for which a key was not proven as it must be, goes with a DPoP proof.
    /// - Source: RFC 6750, section 3; RFC 9449, section 7.1; RFC 9728, section 5.1.
    package func challenge(code: String, scopes: [String], _ proofs: ProofRules?, needsProof: Bool) -> Challenge {
        let row = Row(code: code, needsProof: needsProof)
        let algorithms = proofs.map { "algs=\"\($0.algorithms.elements.map(\.rawValue).joined(separator: " "))\"" }
        let scopes = scopes.isEmpty ? resource.scopes : scopes
        let parameters = [
            row.error.map { "error=\"\($0)\"" },
            scopes.isEmpty ? nil : "scope=\"\(scopes.joined(separator: " "))\"",
            "resource_metadata=\"\(resource.address.metadataURL)\"",
        ].compactMap(\.self)
        let field =
            switch algorithms {
            case let algorithms? where row.isForProofs || requiresProofs:
                "DPoP " + (parameters + [algorithms]).joined(separator: ", ")
            case let algorithms?: "Bearer \(parameters.joined(separator: ", ")), DPoP \(algorithms)"
            case nil: "Bearer " + parameters.joined(separator: ", ")
            }
        return Challenge(status: row.status, field: field)
    }

    /// The facts about a code.
    private struct Row {
        let status: Int
        /// `nil`: another token would not help, or none came (RFC 6750, section 3.1).
        let error: String?
        /// Whether the client must answer with a DPoP proof, whatever else the resource accepts.
        let isForProofs: Bool

        init(code: String, needsProof: Bool) {
            (status, error, isForProofs) =
                switch code {
                case "scope_missing": (403, "insufficient_scope", false)
                case "subject_mismatch", "groups_overage", "requirement_not_met": (403, nil, false)
                case "dpop_proof_invalid", "dpop_proof_replayed": (401, "invalid_dpop_proof", true)
                case "dpop_nonce_required": (401, "use_dpop_nonce", true)
                case "token_missing": (401, nil, false)
                // Several tokens, or bytes that no token has.
                case "request_invalid": (401, "invalid_request", false)
                case "binding_required", "binding_missing", "binding_mismatch": (401, "invalid_token", needsProof)
                default: (401, "invalid_token", false)
                }
        }
    }
}

extension RequestVerifier {
    /// The resource that a request is for; `nil` if it names none, or one that is not configured.
    package func resource(of request: AccessTokenRequest) -> Resource? {
        request.resource.flatMap(resource)?.resource
    }

    /// The challenge with which an API answers a refused access token.
    ///
    /// - Parameters:
    ///   - problem: why the request was refused.
    ///   - proofs: the rules of DPoP proofs; `nil`: they are not checked.
    /// - Returns: `nil` if the request names no resource, or if the token was not refused.
    package func challenge(
        to request: AccessTokenRequest, _ problem: Problem?, provider: Int?, _ proofs: ProofRules?
    ) -> Challenge? {
        guard let problem, problem.status == 422, let resource = request.resource.flatMap(resource) else { return nil }
        return resource.challenge(
            code: problem.code, scopes: request.parameters.scopes, proofs,
            needsProof: needsProof(request.token, ofProvider: provider))
    }

    /// Whether a token goes with a DPoP proof: it is bound to a key of proofs, or its provider's settings demand that.
    /// Where a proof or a certificate would do, it is a proof.
    func needsProof(_ text: ArraySlice<UInt8>?, ofProvider number: Int?) -> Bool {
        guard let text, let number, let dialect = slots[number]?.provider.accessTokens,
            let token = try? read(text, ofProvider: number, among: ofAccessTokens).token
        else { return true }
        return token.goesWithProof(dialect)
    }
}
