import NIOSSL

extension TLSConfiguration {
    /// Shows a server that asks for one the certificate in a PEM file, with those that issued it.
    ///
    /// - Throws: ``ConfigurationError`` where the certificate or its key can't be read.
    mutating func presentCertificate(_ certificateFile: String, key keyFile: String) throws(ConfigurationError) {
        do {
            certificateChain = try NIOSSLCertificate.fromPEMFile(certificateFile).map { .certificate($0) }
            privateKey = .privateKey(try NIOSSLPrivateKey(file: keyFile, format: .pem))
        } catch {
            throw ConfigurationError(text: "the client certificate or its key can't be read; both must be PEM")
        }
    }
}
