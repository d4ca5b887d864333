import HTTPServer
import ArgumentParser
import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOSSL
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

    @Option(help: "A certificate to show, in PEM, to a listener that asks for one.")
    var clientCertificate: String?

    @Option(help: "The private key of --client-certificate, in PEM.")
    var clientKey: String?

    func validate() throws {
        guard !(service && address != nil) else {
            throw ValidationError("--service is for the settings, not for --address")
        }
        guard (clientCertificate == nil) == (clientKey == nil) else {
            throw ValidationError("--client-certificate and --client-key go together")
        }
    }

    func run() async throws {
        let (listen, speaksTLS) = try target()
        let client = HTTPClient(
            eventLoopGroupProvider: .singleton,
            configuration: HTTPClient.Configuration(tlsConfiguration: speaksTLS ? try tlsConfiguration() : nil))
        var request = HTTPClientRequest(url: url(listen, ready ? "/readyz" : "/livez", speaksTLS))
        // For a socket the client sends no host of its own.
        if case .unixSocket = listen { request.headers.add(name: "Host", value: "localhost") }
        let status = try? await client.execute(request, timeout: .seconds(3)).status
        try? await client.shutdown()
        guard status == .ok else {
            print(status.map { "unhealthy: status \($0.code)" } ?? "unhealthy: no answer")
            throw ExitCode(1)
        }
    }

    /// Where to ask, and whether TLS is spoken there.
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

    /// The listener's certificate is not verified: it is asked at its address and not by its name, and whoever could stand in
    /// for it learns nothing and could only say that it is well.
    private func tlsConfiguration() throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        if let clientCertificate, let clientKey {
            try configuration.presentCertificate(clientCertificate, key: clientKey)
        }
        return configuration
    }

    private func url(_ listen: ListenAddress, _ path: String, _ speaksTLS: Bool) -> String {
        let scheme = speaksTLS ? "https" : "http"
        switch listen {
        case .unixSocket(let socket, _): return scheme + "+unix://" + socket.percentEncoded + path
        case .network(let host, let port):
            // What listens on every address answers on this one.
            let reached = host == "0.0.0.0" ? "127.0.0.1" : host == "::" ? "::1" : host
            return scheme + "://" + (reached.contains(":") ? "[\(reached)]" : reached) + ":\(port)" + path
        }
    }
}
