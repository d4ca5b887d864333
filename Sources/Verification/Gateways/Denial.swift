/// Why a gateway must not let a request pass.
package enum Denial: Error, Equatable, Sendable {
    /// The gateway's own key is missing, wrong, or sent more than once.
    case gatewayUnauthenticated
    /// The gateway's own key is for other paths.
    case gatewayForbidden
    /// The gateway does not say once which method and URL the client's request has, which a proof must name.
    case requestUnknown
    /// The request contains none of the policy's sources.
    case tokenMissing
    /// The source is empty, or contains several tokens or bytes that no token can contain.
    case tokenUnreadable
    /// The field for the client's certificate does not contain one certificate.
    case certificateUnreadable
    /// - Parameter code: the code of the problem with which the other endpoints reject such a token.
    case tokenRejected(code: String)
    /// The token is not bound to the key that is needed, or its sender has not proven the key.
    case bindingRejected(code: String)
    /// The DPoP proof proves nothing, or was used before.
    case proofRejected(code: String)
    /// The DPoP proof needs a nonce.
    case nonceRequired(code: String)
    case scopeMissing(needed: [String])
    /// The token is valid, but does not meet a requirement of the policy other than its scopes.
    case requirementNotMet
    /// The policy or the provider's settings have a rule for the user's groups, of which there are too many for the
    /// provider to list.
    case groupsOverage
    /// The values for the backend are longer than ``ForwardAuthPolicy/maximumValuesLength``.
    case valuesTooLong

    /// The reason in the log and in metrics.
    package var code: String {
        switch self {
        case .gatewayUnauthenticated: "caller_unauthenticated"
        case .gatewayForbidden: "caller_forbidden"
        case .requestUnknown: "request_unknown"
        case .tokenMissing: "token_missing"
        case .tokenUnreadable, .certificateUnreadable: "request_invalid"
        case .tokenRejected(let code), .bindingRejected(let code), .proofRejected(let code), .nonceRequired(let code):
            code
        case .scopeMissing: "scope_missing"
        case .requirementNotMet: "requirement_not_met"
        case .groupsOverage: "groups_overage"
        case .valuesTooLong: "values_too_long"
        }
    }

    /// The HTTP status: 401 if another token or proof could help, 503 if only the gateway's operator can help, else
    /// 403. Never 400, because nginx treats it as a failed subrequest and responds with 500.
    package var status: Int {
        switch self {
        case .tokenMissing, .tokenUnreadable, .certificateUnreadable, .tokenRejected, .bindingRejected, .proofRejected,
            .nonceRequired:
            401
        case .gatewayUnauthenticated, .gatewayForbidden, .scopeMissing, .requirementNotMet, .groupsOverage,
            .valuesTooLong:
            403
        case .requestUnknown: 503
        }
    }

    /// Whether the client could do something about its token.
    var isAboutToken: Bool {
        switch self {
        case .gatewayUnauthenticated, .gatewayForbidden, .requestUnknown, .valuesTooLong: false
        case .tokenMissing, .tokenUnreadable, .certificateUnreadable, .tokenRejected, .bindingRejected, .proofRejected,
            .nonceRequired, .scopeMissing, .requirementNotMet, .groupsOverage:
            true
        }
    }

    /// The value of `WWW-Authenticate` without a resource; `nil` if there is none.
    ///
    /// - Source: RFC 6750, section 3: no error code for a request without authentication information; RFC 9449,
    ///   section 7.1.
    package func challenge(_ schemes: ChallengeSchemes) -> String? {
        switch self {
        case .tokenMissing: schemes.challenge()
        case .tokenUnreadable, .certificateUnreadable: schemes.challenge(error: "invalid_request")
        case .tokenRejected: schemes.challenge(error: "invalid_token")
        case .bindingRejected: schemes.challenge(toProve: "invalid_token")
        case .proofRejected: schemes.challenge(toProve: "invalid_dpop_proof")
        case .nonceRequired: schemes.challenge(toProve: "use_dpop_nonce")
        case .scopeMissing(let needed): schemes.challenge(error: "insufficient_scope", scopes: needed)
        case .gatewayUnauthenticated, .gatewayForbidden, .requestUnknown, .requirementNotMet, .groupsOverage,
            .valuesTooLong:
            nil
        }
    }
}

/// The `Authorization` schemes that a policy takes, and how its challenges name them.
package struct ChallengeSchemes: Sendable, Equatable {
    /// Whether a token without a proof may pass.
    private let takesBearer: Bool
    /// The signature algorithms of proofs; empty: the policy takes none.
    private let proofAlgorithms: [String]

    /// - Parameter proofAlgorithms: empty: the policy takes no proofs.
    package init(takesBearer: Bool = true, proofAlgorithms: [String] = []) {
        self.takesBearer = takesBearer
        self.proofAlgorithms = proofAlgorithms
    }

    /// A challenge in which clients without a proof find an error. `Bearer` is first, where they look for it.
    fileprivate func challenge(error: String? = nil, scopes: [String] = []) -> String {
        var parameters = error.map { ["error=\"\($0)\""] } ?? []
        if !scopes.isEmpty { parameters.append("scope=\"\(scopes.joined(separator: " "))\"") }
        guard takesBearer || proofAlgorithms.isEmpty else { return proofs(parameters) }
        let bearer = Self.challenge("Bearer", parameters)
        return proofAlgorithms.isEmpty ? bearer : "\(bearer), \(proofs([]))"
    }

    /// A challenge after an error that a proof can mend.
    fileprivate func challenge(toProve error: String) -> String {
        proofAlgorithms.isEmpty ? challenge(error: error) : proofs(["error=\"\(error)\""])
    }

    private func proofs(_ parameters: [String]) -> String {
        Self.challenge(
            ForwardAuthPolicy.proofScheme, parameters + ["algs=\"\(proofAlgorithms.joined(separator: " "))\""])
    }

    private static func challenge(_ scheme: String, _ parameters: [String]) -> String {
        parameters.isEmpty ? scheme : "\(scheme) \(parameters.joined(separator: ", "))"
    }
}
