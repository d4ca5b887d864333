package import HTTPServer

/// Everything an operator can set, checked.
package struct Settings: Sendable {
    package var service = Listener(.network(host: "127.0.0.1", port: 8080))
    package var admin = Listener(.network(host: "127.0.0.1", port: 9090))
    /// Whether a listener that other machines can reach needs nothing that says who may call.
    package var allowsInsecureListen = false
    package var limits = Limits()
    package var keys = Keys()
    package var log = Log()
    /// `nil`: nothing is traced.
    package var tracing: Tracing?
    /// What sign-ins need; `nil`: they are off.
    package var signIns: SignIns?
    /// Where the last good key sets are kept over a restart; `nil`: nowhere.
    package var cacheDirectory: String?
    /// How many verified tokens are remembered; 0: none.
    package var verifiedTokenCacheEntries = 10_000
    /// The API keys that callers may present; none: no key is asked for.
    package var apiKeys: [APIKey] = []
    /// The same of operators, on the admin listener; `nil`: what callers may present will do.
    package var adminAPIKeys: [APIKey]?
    /// Names, in lower case, that a keyless admin listener answers to beside `localhost` and IP addresses.
    package var adminHosts: [String] = []
    /// Whether the admin listener has a page for operators.
    package var servesConsole = false
    /// Connections to the admin listener.
    package var adminMaximumConnections = 64
    /// For how long after a stop was asked for requests are still answered as before.
    package var shutdownDelaySeconds: Int64 = 0
    /// How long a stop waits for requests under way.
    package var shutdownGraceSeconds: Int64 = 10
    /// That of providers which set none.
    package var clockSkewSeconds: Int64 = 60
    package var providers: [ProviderSettings] = []
    /// The names of environment variables that Kubernetes set for a Service named `assay`, and that set nothing here.
    package var serviceLinks: [String] = []

    package init() {}

    package struct Limits: Sendable, Equatable {
        /// Those of the service listener.
        package var listener = ListenerLimits()
        package var maximumBody = 64 * 1024
        package var maximumBatchBody = 4 * 1024 * 1024
        package var keysTimeoutSeconds: Int64 = 5
        package var queueTimeoutMilliseconds: Int64 = 500
        /// Those that are set, of the limits that else follow from the memory there is.
        var given: Set<ListenerLimit> = []
    }

    package struct Keys: Sendable, Equatable {
        package var staleIfErrorSeconds: Int64 = 24 * 3600
    }

    package struct Log: Sendable, Equatable {
        package var level = "info"
        package var requests = Requests.all
        /// Whether answered probes and scrapes (`/livez`, `/readyz`, `/metrics`) have a line.
        package var probes = false

        package static let levels = ["debug", "info", "warning", "error"]

        /// Which requests have a line.
        package enum Requests: String, Sendable, CaseIterable {
            case all = "true"
            case none = "false"
            case refused
        }
    }

    /// The API keys that operators may present; none: no key is asked for.
    package var operatorKeys: [APIKey] { adminAPIKeys ?? apiKeys }

    /// What an operator should know about settings that are allowed and risky: a start-up warning each.
    package var warnings: [String] {
        Self.warnings("the service", service, apiKeys)
            + Self.warnings("the admin listener", admin, operatorKeys)
            + (tracing?.warnings ?? []) + (signIns?.warnings ?? []) + providers.flatMap(\.warnings)
            + serviceLinkWarnings
    }

    private var serviceLinkWarnings: [String] {
        guard !serviceLinks.isEmpty else { return [] }
        let names = serviceLinks.joined(separator: ", ")
        return [
            "ignored, because Kubernetes sets them for a Service (enableServiceLinks: false turns them off): \(names)"
        ]
    }

    private static func warnings(_ name: String, _ listener: Listener, _ keys: [APIKey]) -> [String] {
        guard !listener.listen.isLocal, !listener.asksForCertificates else { return [] }
        if keys.isEmpty { return ["\(name) listens beyond this machine and asks for no API key or certificate"] }
        if listener.tls == nil {
            return ["\(name) listens beyond this machine without TLS: API keys can be read on the way"]
        }
        return []
    }
}
