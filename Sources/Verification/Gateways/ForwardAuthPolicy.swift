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
    package static let maximumValuesLength = 4096

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
