import ArgumentParser
import NIOSSL
import OutboundHTTP

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
    func tlsContext(_ configure: (inout TLSConfiguration) -> Void) throws(ConfigurationError) -> NIOSSLContext {
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
            throw ConfigurationError(text: "the client certificate or its key can't be read; both must be PEM")
        }
    }
}
