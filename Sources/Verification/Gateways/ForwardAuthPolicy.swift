package import IDToken

/// The conditions under which a gateway may let a request pass, and the header fields that it then forwards.
package struct ForwardAuthPolicy: Sendable, Equatable {
    /// The third segment of the path that the gateway requests, byte for byte.
    package var id: String
    /// The IDs of the providers whose tokens are accepted. No two of them have the same issuer.
    package var providers: [String]
    /// The ID of the resource that tokens must be for, and whose challenges are sent; `nil`: tokens are for their
    /// providers' audiences.
    package var resource: String?
    /// Where to look for the token. The first source that the request contains is used.
    package var sources: [TokenSource]
    package var requirements: Requirements
    /// The header fields of a response that lets the request pass. All of them are always sent.
    package var headers: [IdentityHeader]
    /// Whether the gateway must send an API key of its own.
    package var requiresKey: Bool
    /// Whether Envoy is told to remove the token from the request that it forwards.
    package var stripsToken: Bool
    /// How the gateway names the client's request, which DPoP proofs must name too; `nil`: the policy takes no proofs.
    package var requestURL: RequestURL?
    /// Where the gateway puts the client's certificate; `nil`: it has none.
    package var clientCertificate: CertificateField?
    /// What proofs need, where it differs from more general settings.
    package var proofUse = ProofUse()

    package var takesProofs: Bool { requestURL != nil }

    package init(
        id: String, providers: [String], sources: [TokenSource] = [.bearer], requirements: Requirements = .init(),
        headers: [IdentityHeader] = IdentityHeader.usual, requiresKey: Bool = true, stripsToken: Bool = false
    ) {
        self.id = id
        self.providers = providers
        self.sources = sources
        self.requirements = requirements
        self.headers = headers
        self.requiresKey = requiresKey
        self.stripsToken = stripsToken
    }

    /// Checks the requirements, and returns the header fields that tell the backend who sent the request.
    ///
    /// - Parameter domains: the only ones about whose mail addresses the issuer's word counts; `nil`: all.
    /// - Returns: the fields of the response, each name once.
    /// - Throws: ``Denial/scopeMissing(needed:)``, ``Denial/requirementNotMet``, ``Denial/groupsOverage``,
    ///   ``Denial/valuesTooLong``.
    package func fields(
        for token: GatewayToken, speakingFor domains: [String]? = nil, now: UnixTime, clockSkewSeconds: Int64
    ) throws(Denial) -> [(name: String, value: String)] {
        try requirements.check(token, now: now, clockSkewSeconds: clockSkewSeconds)
        guard var fields = values(of: token, speakingFor: domains) else { throw .valuesTooLong }
        if stripsToken { fields.append((Self.strippingField, sources.compactMap(\.headerName).joined(separator: ","))) }
        return fields
    }

    /// Whether the values of ``headers`` fit into a response.
    package func fits(_ token: GatewayToken) -> Bool { values(of: token, speakingFor: nil) != nil }

    /// An address in another domain than the issuer may speak for could be anybody's, so the backend gets none.
    ///
    /// - Returns: `nil` if the values are longer than ``maximumValuesLength``.
    private func values(of token: GatewayToken, speakingFor domains: [String]?) -> [(name: String, value: String)]? {
        var fields: [(name: String, value: String)] = []
        fields.reserveCapacity(headers.count + 1)
        var length = 0
        let identity = token.identity
        let hidesAddress = domains.map { !(identity?.hasAddress(in: $0) ?? false) } ?? false
        for header in headers {
            let value = hidesAddress && header.value.isOfAddress ? "" : header.value.text(of: token, identity)
            length += value.utf8.count
            fields.append((header.name, value))
        }
        return length <= Self.maximumValuesLength ? fields : nil
    }

    /// The limit on the total length of all values, in bytes.
    static let maximumValuesLength = 4096

    /// Names the fields that Envoy removes before it forwards the request.
    ///
    /// - Source: Envoy, ext_authz filter, "x-envoy-auth-headers-to-remove".
    private static let strippingField = "x-envoy-auth-headers-to-remove"
}

/// The settings for requests from gateways.
package struct ForwardAuthSettings: Sendable, Equatable {
    /// If empty, `/v1/forward-auth/{policy}` responds with 404.
    package var policies: [ForwardAuthPolicy] = []
    /// How long a request waits for keys.
    package var keysTimeoutMilliseconds: Int64 = 100
    /// How long a request waits for a provider's answer about an opaque token.
    package var introspectionTimeoutMilliseconds: Int64 = 1000
    /// How long a request waits in all, for keys and for the store of proofs. The shipped gateway configurations wait
    /// 200 ms for the whole response.
    package var timeoutMilliseconds: Int64 = 150

    package init() {}
}

/// Why a gateway must not let a request pass.
package enum Denial: Error, Equatable, Sendable {
    /// The gateway's own key is missing, wrong, or sent more than once.
    case gatewayUnauthenticated
    /// The gateway's own key is for other paths.
    case gatewayForbidden
    /// The gateway did not send exactly once the method and the URL of the client's request, which a proof must name.
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

    // Inlined, so that a caller makes only the fact that it reads.
    @inline(__always)
    private var row: (code: String, status: Int, isAboutToken: Bool) {
        switch self {
        case .gatewayUnauthenticated: ("caller_unauthenticated", 403, false)
        case .gatewayForbidden: ("caller_forbidden", 403, false)
        case .requestUnknown: ("request_unknown", 503, false)
        case .tokenMissing: ("token_missing", 401, true)
        case .tokenUnreadable, .certificateUnreadable: ("request_invalid", 401, true)
        case .tokenRejected(let code), .bindingRejected(let code), .proofRejected(let code), .nonceRequired(let code):
            (code, 401, true)
        case .scopeMissing: ("scope_missing", 403, true)
        case .requirementNotMet: ("requirement_not_met", 403, true)
        case .groupsOverage: ("groups_overage", 403, true)
        case .valuesTooLong: ("values_too_long", 403, false)
        }
    }

    /// The reason in the log and in metrics.
    package var code: String { row.code }

    /// The HTTP status: 401 if another token or proof could help, 503 if only the gateway's operator can help, else
    /// 403. Never 400, because nginx treats it as a failed subrequest and responds with 500.
    package var status: Int { row.status }

    /// Whether the client could do something about its token.
    var isAboutToken: Bool { row.isAboutToken }

    /// The value of `WWW-Authenticate` without a resource; `nil` if there is none.
    ///
    /// - Source: RFC 6750, section 3: no error code for a request without authentication information; RFC 9449,
    ///   section 7.1.
    func challenge(_ schemes: ChallengeSchemes) -> String? {
        switch self {
        case .tokenMissing: schemes.challenge()
        case .tokenUnreadable, .certificateUnreadable: schemes.challenge(error: "invalid_request")
        case .tokenRejected: schemes.challenge(error: "invalid_token")
        case .bindingRejected: schemes.challenge(error: "invalid_token", isForProofs: true)
        case .proofRejected: schemes.challenge(error: "invalid_dpop_proof", isForProofs: true)
        case .nonceRequired: schemes.challenge(error: "use_dpop_nonce", isForProofs: true)
        case .scopeMissing(let needed): schemes.challenge(error: "insufficient_scope", scopes: needed)
        case .gatewayUnauthenticated, .gatewayForbidden, .requestUnknown, .requirementNotMet, .groupsOverage,
            .valuesTooLong:
            nil
        }
    }
}

/// The `Authorization` schemes that a policy or a resource takes, and how its challenges name them.
struct ChallengeSchemes: Equatable {
    /// Whether a token without a proof may pass.
    var takesBearer = true
    /// The signature algorithms of proofs; empty: none are taken.
    var proofAlgorithms: [String] = []

    /// The value of `WWW-Authenticate`. `Bearer` is first where it is taken, because clients without a proof look for it
    /// there.
    ///
    /// - Parameters:
    ///   - metadata: the URL of the resource's metadata.
    ///   - isForProofs: whether the error is one that a proof can mend.
    func challenge(
        error: String? = nil, scopes: [String] = [], metadata: String? = nil, isForProofs: Bool = false
    ) -> String {
        let parameters = [
            error.map { "error=\"\($0)\"" },
            scopes.isEmpty ? nil : "scope=\"\(scopes.joined(separator: " "))\"",
            metadata.map { "resource_metadata=\"\($0)\"" },
        ].compactMap(\.self)
        let bearer = parameters.isEmpty ? "Bearer" : "Bearer \(parameters.joined(separator: ", "))"
        guard !proofAlgorithms.isEmpty else { return bearer }
        let algorithms = "algs=\"\(proofAlgorithms.joined(separator: " "))\""
        guard takesBearer, !isForProofs else {
            return "\(ForwardAuthPolicy.proofScheme) \((parameters + [algorithms]).joined(separator: ", "))"
        }
        return "\(bearer), \(ForwardAuthPolicy.proofScheme) \(algorithms)"
    }
}

/// A caller's API key, stored as a digest only.
package struct APIKey: Sendable, Equatable {
    /// Its name in the log and in metrics.
    package var name: String
    /// SHA-256, 32 octets.
    package var digest: [UInt8]
    /// What its caller may ask for.
    package var permissions: Set<Permission>

    package init(name: String, digest: [UInt8], permissions: Set<Permission> = Permission.all) {
        self.name = name
        self.digest = digest
        self.permissions = permissions
    }

    /// What a key can be for. The raw value is the word in the settings.
    package enum Permission: String, CaseIterable, Sendable {
        case verify
        case signIns = "sign_ins"
        case grants, notifications
        case accessTokens = "access_tokens"
        case forwardAuth = "forward_auth"
        case explain

        /// What a key may do unless its settings say otherwise.
        package static let all = Set(allCases)
    }
}
