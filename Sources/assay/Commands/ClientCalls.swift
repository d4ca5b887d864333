import Bytes
import HTTP
import IDToken
import Keys
import NIOCore
import OAuth
import Settings

/// Calls a provider's endpoints for a command, as the provider's clients.
struct ClientCalls: Sendable {
    let grants: ProviderGrants
    private let allowsHTTP: Bool

    private static let timeout = Interval.seconds(10)

    /// - Parameters:
    ///   - keys: Assay's own, with which clients without a key file sign.
    ///   - maximumInFlight: the maximum number of simultaneous requests.
    /// - Throws: ``ConfigurationError`` if a client's file, or an endpoint, can't be used.
    init(
        _ provider: ProviderSettings, _ proxy: ProxyEnvironment?, _ keys: ClientKeys = ClientKeys(),
        on loop: any EventLoop, maximumInFlight: Int = 1
    ) throws(ConfigurationError) {
        var credentials: [String: ClientCredential] = [:]
        for client in provider.clients {
            credentials[client.client.id] = try ClientFiles.credential(
                of: client, provider: provider.policy.id, keys)
        }
        let calls = ProviderCalls(
            rules: provider.network, proxy: proxy, credentials: credentials,
            quirks: provider.quirks, keptConnections: maximumInFlight, on: loop
        ) { _ in }
        let rules = GrantRules(clients: provider.clients.map(\.client), quirks: provider.quirks)
        allowsHTTP = provider.network.allowHTTP
        // Twice as many slots, because a slot is released a moment after its call has ended.
        do throws(FetchFailure) {
            grants = try ProviderGrants(
                rules, endpoints: provider.endpoints, readsDiscovery: false, allowingHTTP: allowsHTTP,
                slots: CallSlots(limit: 2 * maximumInFlight), calls: calls)
        } catch {
            throw ConfigurationError("endpoints: \(error.message)")
        }
    }

    func stop() { grants.calls.stop() }

    /// - Parameters:
    ///   - discovered: the endpoints that the discovery document names; `nil` if none was read.
    ///   - presents: whether the client presents a certificate.
    /// - Returns: `nil` if it is not known.
    func endpoint(
        _ name: EndpointName, _ discovered: DiscoveredEndpoints? = nil, presentingCertificate presents: Bool = false
    ) -> FetchURL? {
        let endpoint = grants.endpoint(name, discovered, presentingCertificate: presents)
        return if case .known(let address) = endpoint { address } else { nil }
    }

    /// Apple's endpoint for users who move to another team. It is next to the token endpoint.
    func userMigrationEndpoint(besides token: FetchURL) throws(ConfigurationError) -> FetchURL {
        let path = token.text.prefix { $0 != "?" }
        let directory = path.reversed().drop { $0 != "/" }.reversed()
        do throws(FetchFailure) {
            return try FetchURL(String(directory) + "usermigrationinfo", allowingHTTP: allowsHTTP)
        } catch {
            throw ConfigurationError("endpoints.token: \(error.message)")
        }
    }

    // MARK: Calls

    /// A provider's verdict on a client.
    enum Verdict: Sendable {
        /// The error with which it refused the made-up token.
        case accepted(OAuthErrorName)
        case rejected(ProviderError)
        /// An error that says nothing about the client.
        case unclear(ProviderError)
        /// It granted something for a made-up token.
        case granted
        /// - Parameter reason: what is wrong with the response.
        case notOAuth(reason: String)
        case unreachable(String)
    }

    /// An error of the provider, and its own explanation.
    struct ProviderError: Sendable {
        let name: OAuthErrorName
        let description: String?

        /// Both for display.
        var text: String {
            name.rawValue + (description.map { ": " + $0.quotedASCII(maximumLength: 300) } ?? "")
        }
    }

    /// Finds out whether a provider accepts a client's credentials, by sending a refresh token that does not exist.
    /// Uses nothing up.
    func verdict(on clientID: String, at address: FetchURL) async -> Verdict {
        guard let token = RefreshToken("assay-made-this-up") else { return .unreachable("no request can be made") }
        let isBound = grants.rules.client(clientID)?.senderConstraint == .dpop
        let proofKey = isBound ? try? ProofKey.made() : nil
        let called = await called { calls, slot, deadline in
            calls.exchange(
                .refresh(token, scopes: []), by: .configured(clientID), provenBy: proofKey, at: address, slot,
                until: deadline)
        }
        guard case .failure(let failure) = called.result else { return .granted }
        return switch failure {
        case .grantInvalid(let error, _): .accepted(error)
        case .clientRejected(let error): .rejected(ProviderError(name: error, description: called.description))
        case .refused(let error): .unclear(ProviderError(name: error, description: called.description))
        case .answerInvalid(let fault):
            .notOAuth(
                reason: fault.text
                    + (called.description.map { ", and says " + $0.quotedASCII(maximumLength: 300) } ?? ""))
        case .notSent, .unavailable: .unreachable(called.reason)
        }
    }

    /// Gets an access token for the client itself.
    func clientCredentials(
        _ scope: String, for clientID: String, at address: FetchURL
    ) async -> Result<Grant, CallFailure> {
        await called { calls, slot, deadline in
            calls.exchange(
                .clientCredentials(scope: scope), by: .configured(clientID), at: address, slot, until: deadline)
        }.result
    }

    func migrate(
        _ request: UserMigrationRequest, with token: AccessToken, by clientID: String, at address: FetchURL
    ) async -> Result<UserMigration, CallFailure> {
        await called { calls, slot, deadline in
            calls.migrate(request, with: token, by: .configured(clientID), at: address, slot, until: deadline)
        }.result
    }

    /// - Returns: the result, a human-readable reason if there is no usable answer, and the provider's own explanation.
    private func called<Value>(
        _ call: @Sendable (ProviderCalls, CallSlot, MonotonicTime) -> EventLoopFuture<Called<Value>>
    ) async -> (result: Result<Value, CallFailure>, reason: String, description: String?) {
        let unknown = "no response, or one that says to try again later"
        // Calls never fail, and there are enough slots.
        guard let slot = grants.slots.reserve(),
            let called = try? await call(grants.calls, slot, SystemClocks.monotonic() + Self.timeout).get()
        else { return (.failure(.notSent(.unreachable)), unknown, nil) }
        let last = called.reports.last
        return (called.result, last?.reason ?? unknown, last?.providerDescription)
    }
}
