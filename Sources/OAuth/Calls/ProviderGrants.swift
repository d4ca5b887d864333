package import IDToken
package import Keys

/// The parts of a provider with clients: its rules, its endpoints, and the calls to them.
package final class ProviderGrants: Sendable {
    package let rules: GrantRules
    package let slots: CallSlots
    package let calls: ProviderCalls
    private let configured: [EndpointName: FetchURL]
    private let readsDiscovery: Bool

    /// - Parameters:
    ///   - endpoints: those that the settings or the preset name.
    ///   - readsDiscovery: whether a discovery document may name the others.
    /// - Throws: ``FetchFailure`` for an endpoint that can't be called.
    package init(
        _ rules: GrantRules, endpoints: ProviderEndpoints, readsDiscovery: Bool, allowingHTTP: Bool, slots: CallSlots,
        calls: ProviderCalls
    ) throws(FetchFailure) {
        self.rules = rules
        self.slots = slots
        self.calls = calls
        self.readsDiscovery = readsDiscovery
        let texts: KeyValuePairs<EndpointName, String?> = [
            .authorization: endpoints.authorization, .token: endpoints.token, .revocation: endpoints.revocation,
            .userInfo: endpoints.userInfo, .pushedRequest: endpoints.pushedRequest,
        ]
        var configured: [EndpointName: FetchURL] = [:]
        for case (let name, let text?) in texts { configured[name] = try FetchURL(text, allowingHTTP: allowingHTTP) }
        self.configured = configured
    }

    /// - Parameters:
    ///   - discovered: `nil` if no discovery document has been read yet.
    ///   - presents: whether the client presents a certificate there, for which a provider may have other endpoints.
    package func endpoint(
        _ name: EndpointName, _ discovered: DiscoveredEndpoints?, presentingCertificate presents: Bool = false
    ) -> OptionalEndpoint {
        if let url = configured[name] ?? discovered?.url(name, presentingCertificate: presents) { return .known(url) }
        return readsDiscovery && discovered == nil ? .unknown : .none
    }

    /// How clients may authenticate at the revocation endpoint; `nil` if that is not known.
    package func revocationMethods(_ discovered: DiscoveredEndpoints?) -> [String]? {
        configured[.revocation] == nil ? discovered?.revocationMethods : nil
    }

    /// Whether the provider says that its responses name the issuer; `nil` if that is not known yet.
    package func sendsResponseIssuer(_ discovered: DiscoveredEndpoints?) -> Bool? {
        discovered?.sendsResponseIssuer ?? (readsDiscovery ? nil : false)
    }

    /// The form of authorization requests that the provider demands; `nil` if that is not known yet.
    package func requiredForm(_ discovered: DiscoveredEndpoints?) -> AuthorizationRequestForm? {
        guard let discovered else { return readsDiscovery ? nil : .plain }
        return AuthorizationRequestForm(
            pushed: discovered.requiresPushedRequests, signed: discovered.requiresSignedRequests)
    }

    /// Whether the backend may get a proof for a URL: of the UserInfo endpoint, or of an origin that the client lists, but
    /// of no other endpoint of the provider, where it would be worth a token.
    ///
    /// - Returns: `nil` if the endpoints are not known, because the discovery document has not been read yet.
    package func allowsProof(
        for target: TargetURI, of client: OAuthClient, _ discovered: DiscoveredEndpoints?
    ) -> Bool? {
        guard discovered != nil || !readsDiscovery else { return nil }
        let own = configured.filter { $0.key != .userInfo }.values
        let reserved = own + (discovered?.allButUserInfo ?? [])
        guard !reserved.contains(where: { Self.isAlike(TargetURI($0.text), target) }) else { return false }
        let userInfo = configured[.userInfo] ?? discovered?[.userInfo]
        if let userInfo, TargetURI(userInfo.text) == target { return true }
        return client.proofOrigins.contains { target.text.hasPrefix($0 + "/") }
    }

    /// Whether a server may take one URL for the other, although they differ in case, or in repeated slashes or one at the end.
    private static func isAlike(_ url: TargetURI?, _ other: TargetURI) -> Bool {
        func form(_ url: TargetURI) -> [String] {
            url.text.lowercased().split(separator: "/").map(String.init)
        }
        return url.map { form($0) == form(other) } ?? false
    }

    /// An endpoint that not every provider has.
    package enum OptionalEndpoint {
        case known(FetchURL)
        /// The discovery document has not been read yet.
        case unknown
        case none
    }
}
