import HTTPServer
import ArgumentParser
import AsyncHTTPClient
import FoundationEssentials
import JSON
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Settings

/// A running instance, as options of a command that asks it.
struct RunningInstance: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Ask a running instance, by its keys and its clock: the address of its admin listener, http://host:port, https://host:port or unix:/path.",
            valueName: "url"))
    var server: String?

    @Option(help: ArgumentHelp("A file that holds the API key for --server.", valueName: "file"))
    var apiKeyFile: String?

    @Option(
        help: ArgumentHelp("The environment variable that holds the API key for --server.", valueName: "variable"))
    var apiKeyEnv: String?

    @Option(help: ArgumentHelp("CA certificates (PEM) to trust for --server, beside the system's.", valueName: "file"))
    var serverCa: String?

    @Option(help: ArgumentHelp("The client certificate (PEM) to show to --server.", valueName: "file"))
    var clientCertificate: String?

    @Option(help: ArgumentHelp("The private key (PEM) of --client-certificate.", valueName: "file"))
    var clientKey: String?

    func validate() throws {
        let others = [apiKeyFile, apiKeyEnv, serverCa, clientCertificate, clientKey]
        guard server != nil || others.allSatisfy({ $0 == nil }) else {
            throw ValidationError(
                "--api-key-file, --api-key-env, --server-ca, --client-certificate and --client-key go with --server")
        }
        guard apiKeyFile == nil || apiKeyEnv == nil else {
            throw ValidationError("give --api-key-file or --api-key-env, not both")
        }
        guard (clientCertificate == nil) == (clientKey == nil) else {
            throw ValidationError("--client-certificate and --client-key go together")
        }
        if let server { _ = try Self.url(server, "/") }
    }

    /// An answer of the instance's: an explanation or a problem.
    private static let maximumAnswer = 4 * 1024 * 1024
    /// The instance waits for keys for as long as its `limits.keys_timeout` says.
    private static let timeout = TimeAmount.seconds(30)

    /// Posts a body and gives back the JSON object that is answered, whatever the status.
    ///
    /// - Throws: ``ConfigurationError``: nothing answers there, or something other than Assay's admin listener.
    func post(_ body: [UInt8], to path: String, at server: String) async throws -> [UInt8] {
        var request = HTTPClientRequest(url: try Self.url(server, path))
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        if server.hasPrefix(Self.socketScheme) { request.headers.add(name: "Host", value: "localhost") }
        if let key = try apiKey() { request.headers.add(name: "Authorization", value: "Bearer " + key) }
        request.body = .bytes(ByteBuffer(bytes: body))
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: try tlsConfiguration(), redirectConfiguration: .disallow)
        configuration.timeout.connect = .seconds(5)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<(status: Int, body: [UInt8]), any Error>
        do {
            let response = try await client.execute(request, timeout: Self.timeout)
            let bytes = try await response.body.collect(upTo: Self.maximumAnswer)
            result = .success((Int(response.status.code), Array(bytes.readableBytesView)))
        } catch {
            result = .failure(error)
        }
        try? await client.shutdown()
        switch result {
        case .failure(let error): throw ConfigurationError(text: "\(server): \(Self.meaning(of: error))")
        case .success(let answer):
            try Self.check(answer.status, answer.body, server)
            return answer.body
        }
    }

    /// Whether an answer is one of the admin listener's.
    private static func check(_ status: Int, _ body: [UInt8], _ server: String) throws(ConfigurationError) {
        let answer = (try? JSONTree(readingObject: body))?.object
        switch (status, answer?["code"]?.string) {
        case (200, _) where answer?["checks"]?.array != nil: return
        case (404, "not_found"):
            throw ConfigurationError(
                text: "\(server): this is Assay's service listener; ask at its admin listener (admin.listen)")
        case (401, "caller_unauthenticated"):
            throw ConfigurationError(
                text:
                    "\(server): it asks for an API key of its admin listener; give it by --api-key-file or --api-key-env"
            )
        case (400..., .some): return
        default:
            throw ConfigurationError(
                text: "\(server): what answers there is not Assay's admin listener (status \(status))")
        }
    }

    // MARK: Where and how

    private static let socketScheme = "unix:"

    private static func url(_ server: String, _ path: String) throws(ValidationError) -> String {
        if server.hasPrefix(socketScheme + "/") {
            return "http+unix://" + String(server.dropFirst(socketScheme.count)).percentEncoded + path
        }
        for scheme in ["http://", "https://"] where server.hasPrefix(scheme) {
            let authority = server.dropFirst(scheme.count)
            let address = authority.hasSuffix("/") ? authority.dropLast() : authority
            guard !address.isEmpty, !address.contains(where: { "/?#@\\ ".contains($0) }) else { break }
            return scheme + address + path
        }
        throw ValidationError("--server must be http://host:port, https://host:port or unix:/path")
    }

    /// - Throws: ``ConfigurationError`` whose text never holds the key.
    private func apiKey() throws(ConfigurationError) -> String? {
        let key: String
        let source: String
        if let apiKeyFile {
            guard let bytes = FileManager.default.contents(atPath: apiKeyFile) else {
                throw ConfigurationError(text: "--api-key-file \(apiKeyFile): it can't be read")
            }
            (key, source) = (String(decoding: bytes, as: UTF8.self), "--api-key-file \(apiKeyFile)")
        } else if let apiKeyEnv {
            guard let value = ProcessInfo.processInfo.environment[apiKeyEnv] else {
                throw ConfigurationError(text: "--api-key-env \(apiKeyEnv): there is no such variable")
            }
            (key, source) = (value, "--api-key-env \(apiKeyEnv)")
        } else {
            return nil
        }
        let trimmed = key.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()
        guard !trimmed.isEmpty, trimmed.allSatisfy({ $0.isASCII && ("!"..."~").contains($0) }) else {
            throw ConfigurationError(text: "\(source): an API key is one line of visible ASCII characters")
        }
        return String(trimmed)
    }

    private func tlsConfiguration() throws(ConfigurationError) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if let serverCa {
            do {
                configuration.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMFile(serverCa))]
            } catch {
                throw ConfigurationError(text: "--server-ca \(serverCa): it can't be read as PEM")
            }
        }
        if let clientCertificate, let clientKey {
            try configuration.presentCertificate(clientCertificate, key: clientKey)
        }
        return configuration
    }

    /// What a client library's error means; only its kind is told.
    private static func meaning(of error: any Error) -> String {
        if let error = error as? HTTPClientError { return meaning(of: error) }
        return switch error {
        case is NIOConnectionError, is IOError, is ChannelError: "the connection was refused, or the host is not known"
        case is NIOSSLExtraError: "the certificate is not for this host"
        case let error as NIOSSLError where "\(error)".contains("CERTIFICATE_VERIFY_FAILED"):
            "the certificate is not trusted; see --server-ca"
        case is NIOSSLError, is BoringSSLError: "the TLS handshake failed; does it speak TLS, or plain HTTP (http)?"
        case is NIOTooManyBytesError: "the answer is too large to be Assay's"
        default: "it did not answer as an HTTP server"
        }
    }

    private static func meaning(of error: HTTPClientError) -> String {
        switch error {
        case .connectTimeout, .tlsHandshakeTimeout: "no connection within 5 s"
        case .deadlineExceeded, .readTimeout: "no answer within 30 s"
        case .remoteConnectionClosed: "the connection was closed without an answer; does it speak TLS (https)?"
        default: "it did not answer as an HTTP server"
        }
    }
}
