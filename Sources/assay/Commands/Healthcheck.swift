import ArgumentParser
import HTTPServer
import Host
import NIOHTTP1
import NIOSSL
import OutboundHTTP
import Settings

struct Healthcheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask a running service for its health: for containers that have no curl.",
        discussion: """
            Asks the admin listener, whose connections callers can't use up. Exits with 0 if it answers /livez (or, with --ready, \
            /readyz) with 200; else with 1.
            """)

    @OptionGroup var file: ConfigurationFile

    @Flag(help: "Ask whether it is ready, not just whether it runs.")
    var ready = false

    @Flag(
        help:
            "Ask the service listener of the settings instead of the admin listener, on which no client can take slots."
    )
    var service = false

    @Option(help: "The address to ask at, host:port or unix:/path, instead of the one in the settings.")
    var address: String?

    @Flag(help: "Speak TLS with what is at --address. Whether it does is otherwise known from the settings.")
    var tls = false

    @OptionGroup var certificate: ClientCertificate

    func validate() throws {
        guard !(service && address != nil) else {
            throw ValidationError("--service is for the settings, not for --address")
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
