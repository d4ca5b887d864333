import Bytes
import HTTP
import IDToken
import Keys
import NIOCore
import OAuth
import Settings

/// Finds out whether a provider answers questions about opaque tokens, by asking about one that does not exist.
struct IntrospectionInspection: Sendable {
    private let provider: ProviderSettings
    private let proxy: ProxyEnvironment?
    private let keys: ClientKeys
    private let loop: any EventLoop

    private static let timeout = Interval.seconds(10)

    /// - Parameter keys: Assay's own, with which clients without a key file sign.
    init(_ provider: ProviderSettings, _ proxy: ProxyEnvironment?, _ keys: ClientKeys, _ loop: any EventLoop) {
        self.provider = provider
        self.proxy = proxy
        self.keys = keys
        self.loop = loop
    }

    /// - Parameter discovered: the endpoints that the discovery document names; `nil` if none was read.
    /// - Returns: none for a provider whose tokens are not opaque.
    func findings(_ discovered: DiscoveredEndpoints?) async -> [Finding] {
        guard let rules = provider.introspection, let client = provider.clients.first else { return [] }
        do throws(ConfigurationError) {
            let credential = try ClientFiles.credential(of: client, provider: provider.policy.id, keys)
            let alias = client.client.hasCertificate ? discovered?.aliases.introspection : nil
            guard let address = try endpoint(rules) ?? alias ?? discovered?.introspection else {
                return [
                    Finding(
                        .clients, .failure,
                        "no introspection endpoint is known: the discovery document names none that can be called, so set introspection.endpoint"
                    )
                ]
            }
            let calls = ProviderCalls(
                rules: provider.network, proxy: proxy, credentials: [client.client.id: credential],
                quirks: provider.quirks, keptConnections: 1, on: loop
            ) { _ in }
            defer { calls.stop() }
            return [
                Finding(.clients, .ok, "tokens are asked about at \(address.text)"),
                await verdict(of: calls, on: client.client.id, rules, at: address),
            ]
        } catch {
            return [Finding(.clients, .failure, error.text)]
        }
    }

    private func endpoint(_ rules: IntrospectionRules) throws(ConfigurationError) -> FetchURL? {
        guard let text = rules.endpoint else { return nil }
        do throws(FetchFailure) {
            return try FetchURL(text, allowingHTTP: provider.network.allowHTTP)
        } catch {
            throw ConfigurationError(text: "introspection.endpoint: \(error.message)")
        }
    }

    private func verdict(
        of calls: ProviderCalls, on clientID: String, _ rules: IntrospectionRules, at address: FetchURL
    ) async -> Finding {
        let name = clientID.quotedASCII(maximumLength: 100)
        // A call never fails, and there is a slot.
        guard let slot = CallSlots(limit: 1).reserve(), let token = AccessToken("assay-made-this-up"),
            let called = try? await calls.introspect(
                IntrospectionRequest(token), by: clientID, at: address, mustBeSigned: rules.mustBeSigned, slot,
                until: SystemClocks.monotonic() + Self.timeout
            ).get()
        else { return Finding(.clients, .failure, "no question can be asked") }
        switch called.result {
        case .success(.plain(.inactive)):
            return Finding(
                .clients, .ok, "the provider accepts the client \(name), and says that a made-up token is not active")
        case .success(.plain(.active)):
            return Finding(
                .clients, .failure, "the provider says that a made-up token is active: check introspection.endpoint")
        case .success(.signed):
            return Finding(
                .clients, .ok, "the provider accepts the client \(name), and signs its answers (not verified here)")
        case .failure(.clientRejected(let error)):
            let reason =
                called.reports.last?.providerDescription.map { ": " + $0.quotedASCII(maximumLength: 300) } ?? ""
            return Finding(
                .clients, .failure,
                "the provider rejects the client \(name) (\(error.rawValue)\(reason)): check its id, its auth, and the contents of its files"
            )
        case .failure(let failure):
            let reason = called.reports.last?.reason ?? CallOutcome(failure).rawValue
            return Finding(
                .clients, .failure,
                "the introspection endpoint can't be used for the client \(name): \(reason); check introspection.endpoint"
            )
        }
    }
}
