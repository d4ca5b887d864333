import ArgumentParser
import Bytes
import FoundationEssentials
import HTTP
import JOSE
import Keys
import NIOHTTP1
import NIOPosix
import NIOSSL
import Settings

/// Options of a command that calls a running instance.
struct RunningInstance: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Use the keys and the clock of a running instance: the address of its admin listener, http://host:port, https://host:port or unix:/path.",
            valueName: "url"))
    var server: String?

    @Option(help: ArgumentHelp("A file that holds the API key for --server.", valueName: "file"))
    var apiKeyFile: String?

    @Option(
        help: ArgumentHelp("The environment variable that holds the API key for --server.", valueName: "variable"))
    var apiKeyEnv: String?

    @Option(help: ArgumentHelp("Additional CA certificates (PEM) to trust for --server.", valueName: "file"))
    var serverCa: String?

    @OptionGroup var certificate: ClientCertificate

    func validate() throws {
        let others = [apiKeyFile, apiKeyEnv, serverCa, certificate.clientCertificate, certificate.clientKey]
        guard server != nil || others.allSatisfy({ $0 == nil }) else {
            throw ValidationError(
                "--api-key-file, --api-key-env, --server-ca, --client-certificate and --client-key need --server")
        }
        guard apiKeyFile == nil || apiKeyEnv == nil else {
            throw ValidationError("give --api-key-file or --api-key-env, not both")
        }
        if let server { _ = try Self.address(server) }
    }

    /// Long, because the instance waits for keys for up to `limits.keys_timeout`. Its response is an explanation or a
    /// problem.
    private static let limits = HTTPExchange.Limits(
        connectTimeout: .seconds(5), totalTimeout: .seconds(30), maximumBody: 4 * 1024 * 1024)

    /// Posts a body and returns the JSON object of the response, whatever its status.
    ///
    /// - Throws: ``ConfigurationError`` if nothing answers, or something other than Assay's admin listener.
    func post(_ body: [UInt8], to path: String, at server: String) async throws -> [UInt8] {
        let (address, isSecure) = try Self.address(server)
        var fields: HTTPHeaders = ["Content-Type": "application/json"]
        if let key = try apiKey() {
            if !isSecure, !address.isLocal {
                printToStandardError("warning: the API key is sent without TLS: it can be read on the network")
            }
            fields.add(name: "Authorization", value: "Bearer " + key)
        }
        let answer = await address.request(
            .POST, path, tls: try isSecure ? tlsContext() : nil, fields: fields, body: body, limits: Self.limits)
        switch answer.body {
        case .failure(let error): throw ConfigurationError("\(server): \(Self.meaning(of: error))")
        case .success(let body):
            try Self.check(answer.head?.status.code ?? 0, body, server)
            return body
        }
    }

    /// Checks that a response comes from an admin listener.
    private static func check(_ status: UInt, _ body: [UInt8], _ server: String) throws(ConfigurationError) {
        let answer = (try? JSONTree(readingObject: body))?.object
        switch (status, answer?["code"]?.string) {
        case (200, _) where answer?["checks"]?.array != nil: return
        case (404, "not_found"):
            throw ConfigurationError(
                "\(server): this is the service listener; use the admin listener's address (admin.listen)")
        case (401, "caller_unauthenticated"):
            throw ConfigurationError(
                "\(server): the admin listener requires an API key; pass --api-key-file or --api-key-env")
        case (400..., .some): return
        default:
            throw ConfigurationError("\(server): this is not Assay's admin listener (status \(status))")
        }
    }

    // MARK: Where and how

    private static func address(_ server: String) throws(ValidationError) -> (ListenAddress, isSecure: Bool) {
        let socketScheme = "unix:"
        if server.hasPrefix(socketScheme + "/") {
            return (.unixSocket(path: String(server.dropFirst(socketScheme.count))), isSecure: false)
        }
        guard let url = try? FetchURL(server, allowingHTTP: true), url.requestTarget == "/" else {
            throw ValidationError("--server must be http://host:port, https://host:port or unix:/path")
        }
        return (.network(host: url.host, port: url.port), url.isSecure)
    }

    /// - Throws: ``ConfigurationError`` whose text never contains the key.
    private func apiKey() throws(ConfigurationError) -> String? {
        let key: String
        let source: String
        if let apiKeyFile {
            guard let bytes = FileManager.default.contents(atPath: apiKeyFile) else {
                throw ConfigurationError("--api-key-file \(apiKeyFile): the file can't be read")
            }
            (key, source) = (String(decoding: bytes, as: UTF8.self), "--api-key-file \(apiKeyFile)")
        } else if let apiKeyEnv {
            guard let value = ProcessInfo.processInfo.environment[apiKeyEnv] else {
                throw ConfigurationError("--api-key-env \(apiKeyEnv): there is no such variable")
            }
            (key, source) = (value, "--api-key-env \(apiKeyEnv)")
        } else {
            return nil
        }
        let trimmed = key.trimming(while: \.isWhitespace)
        guard !trimmed.isEmpty, trimmed.allSatisfy({ $0.isASCII && ("!"..."~").contains($0) }) else {
            throw ConfigurationError("\(source): an API key is one line of visible ASCII characters")
        }
        return String(trimmed)
    }

    private func tlsContext() throws(ConfigurationError) -> NIOSSLContext {
        var authorities: [NIOSSLCertificate] = []
        if let serverCa {
            do {
                authorities = try NIOSSLCertificate.fromPEMFile(serverCa)
            } catch {
                throw ConfigurationError("--server-ca \(serverCa): the file can't be read as PEM")
            }
        }
        return try certificate.tlsContext { $0.additionalTrustRoots = [.certificates(authorities)] }
    }

    /// Describes a failed exchange to the user who gave the address.
    private static func meaning(of error: HTTPExchangeError) -> String {
        switch error {
        case .connectTimeout, .tlsHandshakeTimeout: "no connection within 5 s"
        case .idleTimeout, .totalTimeout: "no response within 30 s"
        // A TLS listener may reset the connection of a plain-HTTP request instead of closing it, if part of the request
        // arrives after the rejection.
        case .connectionClosed, .connectionReset:
            "connection closed without a response; if the listener uses TLS, use https://"
        case .connectionFailed: "the connection was refused, or the host is not known"
        case .certificateForAnotherHost: "the certificate is not for this host"
        case .certificateNotTrusted: "the certificate is not trusted; see --server-ca"
        case .notTLS, .closedInHandshake, .handshakeFailed, .certificateNotAccepted, .uncleanShutdown, .tlsFailed:
            "the TLS handshake failed; if the listener uses plain HTTP, use http://"
        case .bodyTooLarge, .tooManyOctets: "the response is too large to be Assay's"
        case .proxyRefused, .notHTTP, .damagedCompression, .tooSlow, .other: "not a valid HTTP response"
        }
    }
}

/// Options for the client certificate that a command presents to a listener.
struct ClientCertificate: ParsableArguments {
    @Option(help: ArgumentHelp("The client certificate (PEM), for a listener that requires one.", valueName: "file"))
    var clientCertificate: String?

    @Option(help: ArgumentHelp("The private key (PEM) of --client-certificate.", valueName: "file"))
    var clientKey: String?

    func validate() throws {
        guard (clientCertificate == nil) == (clientKey == nil) else {
            throw ValidationError("--client-certificate and --client-key go together")
        }
    }

    /// The TLS context for connections to a listener.
    ///
    /// - Parameter configure: sets which server certificates to trust.
    /// - Throws: ``ConfigurationError`` if the certificate or its key can't be used.
    fileprivate func tlsContext(_ configure: (inout TLSConfiguration) -> Void) throws(ConfigurationError)
        -> NIOSSLContext
    {
        var configuration = TLSConfiguration.forExchanges
        configure(&configuration)
        do {
            if let clientCertificate, let clientKey {
                configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(clientCertificate)
                    .map { .certificate($0) }
                configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: clientKey, format: .pem))
            }
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw ConfigurationError("the client certificate or its key can't be read; both must be PEM")
        }
    }
}

extension ListenAddress {
    /// Sends a request to this listener.
    ///
    /// - Parameters:
    ///   - tls: `nil` for plain HTTP.
    ///   - fields: in addition to `Host`.
    func request(
        _ method: HTTPMethod, _ path: String, tls: NIOSSLContext?, fields: HTTPHeaders = [:], body: [UInt8] = [],
        limits: HTTPExchange.Limits
    ) async -> HTTPAnswer {
        let destination: HTTPExchange.Destination
        let name: String?
        var head = HTTPRequestHead(version: .http1_1, method: method, uri: path, headers: fields)
        switch self {
        case .network(let host, let port):
            (destination, name) = (.host(host, port: port), host)
            head.headers.add(name: "Host", value: text)
        case .unixSocket(let path, _):
            (destination, name) = (.unixSocket(path), nil)
            head.headers.add(name: "Host", value: "localhost")
        }
        let exchange = HTTPExchange(
            to: destination, tls: tls.map { HTTPExchange.TLS(context: $0, host: name) }, head: head, body: body,
            limits: limits)
        return await exchange.perform(on: MultiThreadedEventLoopGroup.singleton.next())
    }

    /// Posts a body over plain HTTP.
    ///
    /// - Returns: `nil` if there is no complete response.
    func post(
        _ body: [UInt8], to path: String, as type: String = "application/json"
    ) async -> (status: Int, body: [UInt8])? {
        let answer = await request(
            .POST, path, tls: nil, fields: ["Content-Type": type], body: body,
            limits: HTTPExchange.Limits(
                connectTimeout: .seconds(5), totalTimeout: .seconds(30), maximumBody: 1024 * 1024))
        guard let head = answer.head, case .success(let body) = answer.body else { return nil }
        return (Int(head.status.code), body)
    }
}

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
