import ArgumentParser
import HTTP
import NIOHTTP1
import NIOSSL
import Settings

struct Healthcheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check the health of a running service, for containers without curl.",
        discussion: """
            Calls /livez on the admin listener, or /readyz with --ready. The exit code is 0 if the response is 200, \
            and 1 otherwise. The service's clients can't use up the connections of the admin listener.
            """)

    @OptionGroup var file: ConfigurationFile

    @Flag(help: "Check whether the service is ready, not only whether it runs.")
    var ready = false

    @Flag(
        help:
            "Call the service listener instead of the admin listener. Clients can use up its connections."
    )
    var service = false

    @Option(help: "The address to call, host:port or unix:/path. Default: the one in the settings.")
    var address: String?

    @Flag(help: "Use TLS. Without --address, TLS is also used if the settings say so.")
    var tls = false

    @OptionGroup var certificate: ClientCertificate

    func validate() throws {
        guard !(service && address != nil) else {
            throw ValidationError("--service chooses a listener of the settings; omit it with --address")
        }
    }

    func run() async throws {
        let (listen, speaksTLS) = try target()
        // The listener's certificate is not verified, because it is called by address, not by name. An impostor would
        // learn nothing, and could only claim to be healthy.
        let tls = try speaksTLS ? certificate.tlsContext { $0.certificateVerification = .none } : nil
        let status = await listen.reachable.request(
            .GET, ready ? "/readyz" : "/livez", tls: tls,
            limits: HTTPExchange.Limits(connectTimeout: .seconds(3), totalTimeout: .seconds(3), maximumBody: 64 * 1024)
        ).head?.status
        guard status == .ok else {
            print(status.map { "unhealthy: status \($0.code)" } ?? "unhealthy: no answer")
            throw ExitCode(1)
        }
    }

    /// The address to call, and whether it uses TLS.
    private func target() throws -> (ListenAddress, speaksTLS: Bool) {
        guard let address else {
            let settings = try file.settingsOrDefaults()
            let listener = service ? settings.service : settings.admin
            return (listener.listen, tls || listener.tls != nil)
        }
        guard let listen = ListenAddress(address) else {
            throw ValidationError("--address must be host:port or unix:/path")
        }
        return (listen, tls)
    }
}

extension ListenAddress {
    /// An address at which this listener can be called: loopback, if it listens on all addresses.
    fileprivate var reachable: ListenAddress {
        switch self {
        case .network("0.0.0.0", let port): .network(host: "127.0.0.1", port: port)
        case .network("::", let port): .network(host: "::1", port: port)
        case .network, .unixSocket: self
        }
    }
}
