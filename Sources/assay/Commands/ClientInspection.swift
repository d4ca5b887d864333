import Bytes
import Grants
import Host
import IDToken
import KeySource
import NIOCore
import ProviderClient
import Settings

/// Finds out whether a provider accepts its clients' credentials, without spending anything: it tries to redeem a refresh
/// token that does not exist.
struct ClientInspection: Sendable {
    private let provider: ProviderSettings
    private let proxy: ProxyEnvironment?
    private let loop: any EventLoop

    private static let timeout = Interval.seconds(10)

    init(_ provider: ProviderSettings, _ proxy: ProxyEnvironment?, _ loop: any EventLoop) {
        self.provider = provider
        self.proxy = proxy
        self.loop = loop
    }

    /// - Parameter discovered: the endpoints that the discovery document names; `nil` if none was read.
    /// - Returns: none for a provider without clients.
    func findings(_ discovered: DiscoveredEndpoints?) async -> [Finding] {
        guard !provider.clients.isEmpty else { return [] }
        var credentials: [String: ClientCredential] = [:]
        do throws(ConfigurationError) {
            for client in provider.clients {
                credentials[client.client.id] = try ClientFiles.credential(of: client, provider: provider.policy.id)
            }
        } catch {
            return [Finding(.clients, .failure, error.text)]
        }
        let calls = ProviderCalls(
            rules: provider.network, proxy: proxy, credentials: credentials,
            isInvalidRequestRevoked: provider.quirks.contains(.revokedIsInvalidRequest), on: loop
        ) { _ in }
        defer { calls.stop() }
        let rules = GrantRules(clients: provider.clients.map(\.client), quirks: provider.quirks)
        let grants: ProviderGrants
        do throws(FetchFailure) {
            grants = try ProviderGrants(
                rules, endpoints: provider.endpoints, readsDiscovery: false, allowingHTTP: provider.network.allowHTTP,
                slots: CallSlots(limit: 1), calls: calls)
        } catch {
            return [Finding(.clients, .failure, "endpoints: \(error.message)")]
        }
        guard let address = grants.tokenEndpoint(discovered) else {
            return [
                Finding(
                    .clients, .failure,
                    "no token endpoint is known: the discovery document names none, so set endpoints.token")
            ]
        }
        var findings = [
            Finding(.clients, .ok, "tokens are redeemed at \(address.text)" + revocation(grants, discovered))
        ]
        for client in provider.clients { findings.append(await finding(client.client.id, grants, address)) }
        return findings
    }

    private func revocation(_ grants: ProviderGrants, _ discovered: DiscoveredEndpoints?) -> String {
        if case .known(let address) = grants.revocationEndpoint(discovered) {
            return ", and revoked at \(address.text)"
        }
        return "; there is no revocation endpoint"
    }

    private func finding(_ clientID: String, _ grants: ProviderGrants, _ address: FetchURL) async -> Finding {
        let name = clientID.quotedASCII(maximumLength: 100)
        guard let slot = grants.slots.reserve(), let token = RefreshToken("assay-config-check-made-this-up") else {
            return Finding(.clients, .warning, "the client \(name) can't be tried")
        }
        let called = try? await grants.calls.exchange(
            .refresh(token, scopes: []), by: clientID, at: address, slot,
            until: SystemClocks.monotonic() + Self.timeout
        ).get()
        guard case .failure(let failure)? = called?.result else {
            return Finding(.clients, .warning, "the provider granted the client \(name) something for a made-up token")
        }
        switch failure {
        case .grantInvalid: return Finding(.clients, .ok, "the provider accepts the client \(name)")
        case .clientRejected(let error):
            return Finding(
                .clients, .failure,
                "the provider rejects the client \(name) (\(error.rawValue)): check its id, its auth, and the contents of its files"
            )
        case .refused(let error):
            return Finding(
                .clients, .warning,
                "the provider answered \(error.rawValue) to a made-up refresh token of the client \(name), which does not tell whether it accepts the client"
            )
        case .answerInvalid:
            return Finding(
                .clients, .failure,
                "the token endpoint's answer for the client \(name) is not one of OAuth: check endpoints.token")
        case .notSent, .unavailable:
            let reason = called?.reports.last?.reason ?? "no answer, or one that says to try again later"
            return Finding(.clients, .failure, "the token endpoint can't be used for the client \(name): \(reason)")
        }
    }
}
