package import IDToken
package import Keys

/// The parts of a provider with clients: its rules, its endpoints, and the calls to them.
package final class ProviderGrants: Sendable {
    package let rules: GrantRules
    package let slots: CallSlots
    package let calls: ProviderCalls
    private let authorization: FetchURL?
    private let token: FetchURL?
    private let revocation: FetchURL?
    private let userInfo: FetchURL?
    private let pushedRequest: FetchURL?
    private let readsDiscovery: Bool

    /// - Parameters:
    ///   - endpoints: those that the settings or the preset name.
    ///   - readsDiscovery: whether a discovery document may name the others.
    /// - Throws: ``FetchFailure`` for an endpoint that can't be called.
    package init(
        _ rules: GrantRules, endpoints: ProviderEndpoints, readsDiscovery: Bool, allowingHTTP: Bool, slots: CallSlots,
        calls: ProviderCalls
    ) throws(FetchFailure) {
        func url(_ text: String?) throws(FetchFailure) -> FetchURL? {
            guard let text else { return nil }
            return try FetchURL(text, allowingHTTP: allowingHTTP)
        }
        self.rules = rules
        self.slots = slots
        self.calls = calls
        self.readsDiscovery = readsDiscovery
        authorization = try url(endpoints.authorization)
        token = try url(endpoints.token)
        revocation = try url(endpoints.revocation)
        userInfo = try url(endpoints.userInfo)
        pushedRequest = try url(endpoints.pushedRequest)
    }

    /// - Parameters:
    ///   - discovered: `nil` if no discovery document has been read yet.
    ///   - presents: whether the client presents a certificate there, for which a provider may have other endpoints.
    /// - Returns: `nil` if it is not known.
    package func tokenEndpoint(
        _ discovered: DiscoveredEndpoints?, presentingCertificate presents: Bool
    ) -> FetchURL? {
        token ?? (presents ? discovered?.aliases.token : nil) ?? discovered?.token
    }

    package func authorizationEndpoint(_ discovered: DiscoveredEndpoints?) -> OptionalEndpoint {
        optional(authorization ?? discovered?.authorization, discovered)
    }

    package func revocationEndpoint(
        _ discovered: DiscoveredEndpoints?, presentingCertificate presents: Bool
    ) -> OptionalEndpoint {
        optional(revocation ?? (presents ? discovered?.aliases.revocation : nil) ?? discovered?.revocation, discovered)
    }

    /// How clients may authenticate at the revocation endpoint; `nil` if that is not known.
    package func revocationMethods(_ discovered: DiscoveredEndpoints?) -> [String]? {
        revocation == nil ? discovered?.revocationMethods : nil
    }

    package func userInfoEndpoint(
        _ discovered: DiscoveredEndpoints?, presentingCertificate presents: Bool
    ) -> OptionalEndpoint {
        optional(userInfo ?? (presents ? discovered?.aliases.userInfo : nil) ?? discovered?.userInfo, discovered)
    }

    package func pushedRequestEndpoint(
        _ discovered: DiscoveredEndpoints?, presentingCertificate presents: Bool
    ) -> OptionalEndpoint {
        optional(
            pushedRequest ?? (presents ? discovered?.aliases.pushedRequest : nil) ?? discovered?.pushedRequest,
            discovered)
    }

    /// Where users sign out in the browser. Only the discovery document names it.
    package func endSessionEndpoint(_ discovered: DiscoveredEndpoints?) -> OptionalEndpoint {
        optional(discovered?.endSession, discovered)
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
        let reserved = [
            authorization, token, revocation, pushedRequest, discovered?.authorization, discovered?.token,
            discovered?.revocation, discovered?.introspection, discovered?.pushedRequest, discovered?.aliases.token,
            discovered?.aliases.revocation, discovered?.aliases.introspection, discovered?.aliases.pushedRequest,
        ]
        let all = reserved.compactMap(\.self) + (discovered?.others ?? [])
        guard !all.contains(where: { Self.isAlike(TargetURI($0.text), target) }) else { return false }
        if let userInfo = userInfo ?? discovered?.userInfo, TargetURI(userInfo.text) == target { return true }
        return client.proofOrigins.contains { target.text.hasPrefix($0 + "/") }
    }

    /// Whether a server may take one URL for the other, although they differ in case, or in repeated slashes or one at the end.
    private static func isAlike(_ url: TargetURI?, _ other: TargetURI) -> Bool {
        func form(_ url: TargetURI) -> [String] {
            url.text.lowercased().split(separator: "/").map(String.init)
        }
        return url.map { form($0) == form(other) } ?? false
    }

    private func optional(_ url: FetchURL?, _ discovered: DiscoveredEndpoints?) -> OptionalEndpoint {
        if let url { return .known(url) }
        return readsDiscovery && discovered == nil ? .unknown : .none
    }

    /// An endpoint that not every provider has.
    package enum OptionalEndpoint {
        case known(FetchURL)
        /// The discovery document has not been read yet.
        case unknown
        case none
    }
}
