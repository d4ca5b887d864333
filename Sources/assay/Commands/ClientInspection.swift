import Bytes
import Grants
import KeySource
import NIOCore
import Settings

/// Finds out whether a provider accepts its clients' credentials, without using anything up.
struct ClientInspection: Sendable {
    private let provider: ProviderSettings
    private let proxy: ProxyEnvironment?
    private let loop: any EventLoop

    init(_ provider: ProviderSettings, _ proxy: ProxyEnvironment?, _ loop: any EventLoop) {
        self.provider = provider
        self.proxy = proxy
        self.loop = loop
    }

    /// - Parameter discovered: the endpoints that the discovery document names; `nil` if none was read.
    /// - Returns: none for a provider without clients.
    func findings(_ discovered: DiscoveredEndpoints?) async -> [Finding] {
        guard !provider.clients.isEmpty else { return [] }
        let calls: ClientCalls
        do throws(ConfigurationError) {
            calls = try ClientCalls(provider, proxy, on: loop)
        } catch {
            return [Finding(.clients, .failure, error.text)]
        }
        defer { calls.stop() }
        guard let address = calls.tokenEndpoint(discovered) else {
            return [
                Finding(
                    .clients, .failure,
                    "no token endpoint is known: the discovery document names none, so set endpoints.token")
            ]
        }
        let revocation = calls.revocationEndpoint(discovered).map { ", and revoked at \($0.text)" }
        var findings = [
            Finding(
                .clients, .ok,
                "tokens are redeemed at \(address.text)" + (revocation ?? "; there is no revocation endpoint"))
        ]
        for client in provider.clients {
            findings.append(Self.finding(client.client.id, await calls.verdict(on: client.client.id, at: address)))
        }
        return findings
    }

    private static func finding(_ clientID: String, _ verdict: ClientCalls.Verdict) -> Finding {
        let name = clientID.quotedASCII(maximumLength: 100)
        return switch verdict {
        case .accepted: Finding(.clients, .ok, "the provider accepts the client \(name)")
        case .rejected(let error):
            Finding(
                .clients, .failure,
                "the provider rejects the client \(name) (\(error.text)): check its id, its auth, and the contents of its files"
            )
        case .unclear(let error):
            Finding(
                .clients, .warning,
                "the provider answered \(error.text) to a made-up refresh token of the client \(name), which does not show whether it accepts the client"
            )
        case .granted:
            Finding(
                .clients, .warning,
                "the provider accepted a made-up refresh token of the client \(name): check endpoints.token")
        case .notOAuth(let reason):
            Finding(
                .clients, .failure,
                "the token endpoint's response for the client \(name) is not an OAuth response: \(reason); check endpoints.token"
            )
        case .unreachable(let reason):
            Finding(.clients, .failure, "the token endpoint can't be used for the client \(name): \(reason)")
        }
    }
}
