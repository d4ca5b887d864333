private import NIOCore
internal import NIOSSL
private import Synchronization

/// A listener's TLS credentials, read from its files.
struct TLSCredentials: Sendable {
    private let context: NIOSSLContext
    private let versions: [SmallFile.Version?]
    /// When the listener's own certificate expires.
    let expiresAtUnixSeconds: Int64

    /// Four times the size of a bundle with a whole system's CAs.
    private static let maximumSize = 1024 * 1024

    /// Reads the files. Blocks.
    ///
    /// - Throws: ``TLSFileError`` if one of them can't be used.
    init(reading files: TLSFiles) throws(TLSFileError) {
        let certificateFile = try Self.read(.certificate, files.certificate)
        let keyFile = try Self.read(.key, files.key)
        let authoritiesFile = try files.clientAuthorities.map { path throws(TLSFileError) in
            try Self.read(.clientAuthorities, path)
        }
        let chain = try Self.certificates(in: certificateFile, .certificate, files.certificate)
        let key = try Self.privateKey(in: keyFile, files.key)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuiteValues = Self.cipherSuites
        configuration.signingSignatureAlgorithms = Self.signatureAlgorithms
        configuration.verifySignatureAlgorithms = Self.signatureAlgorithms
        configuration.applicationProtocols = ["http/1.1"]
        configuration.shutdownTimeout = .seconds(2)
        if let authoritiesFile, let path = files.clientAuthorities {
            // A client has no host name to verify: only its CA decides.
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .certificates(
                try Self.certificates(in: authoritiesFile, .clientAuthorities, path))
            configuration.sendCANameList = true
        }
        do {
            context = try NIOSSLContext(configuration: configuration)
        } catch NIOSSLError.failedToLoadPrivateKey {
            throw TLSFileError(.key, files.key, "this is not the key of the certificate in \(files.certificate)")
        } catch {
            throw TLSFileError(
                .certificate, files.certificate,
                "the certificate's key type is not supported")
        }
        expiresAtUnixSeconds = Int64(chain[0].notValidAfter)
        versions = [certificateFile, keyFile].map(\.version) + [authoritiesFile].compactMap(\.?.version)
    }

    /// Whether the files are unchanged since they were read. Symbolic links are followed: Kubernetes and certbot
    /// replace a link.
    func areCurrent(_ files: TLSFiles) -> Bool { versions == files.paths.map(SmallFile.version(atPath:)) }

    /// A handler for one connection, to be placed next to the network.
    func makeHandler() -> NIOSSLServerHandler {
        var configuration = NIOSSLHandler.Configuration()
        // A single large response must not hold memory for the life of its connection.
        configuration.maximumPreservedOutboundBufferCapacity = 64 * 1024
        return NIOSSLServerHandler(context: context, configuration: configuration)
    }

    // MARK: Parameters

    /// For TLS 1.2: only suites with forward secrecy and authenticated encryption. TLS 1.3 has no others.
    private static let cipherSuites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    /// For our own certificates and clients'; without SHA-1.
    private static let signatureAlgorithms: [SignatureAlgorithm] = [
        .ed25519, .ecdsaSecp256R1Sha256, .ecdsaSecp384R1Sha384, .ecdsaSecp521R1Sha512, .rsaPssRsaeSha256,
        .rsaPssRsaeSha384, .rsaPssRsaeSha512, .rsaPkcs1Sha256, .rsaPkcs1Sha384, .rsaPkcs1Sha512,
    ]

    // MARK: Reading

    private static func read(_ kind: TLSFileKind, _ path: String) throws(TLSFileError) -> SmallFile {
        do throws(SmallFile.Failure) {
            return try SmallFile(path: path, maximumSize: maximumSize, followingLinks: true)
        } catch {
            throw TLSFileError(kind, path, error.text(maximumSize: maximumSize))
        }
    }

    private static func certificates(
        in file: SmallFile, _ kind: TLSFileKind, _ path: String
    ) throws(TLSFileError) -> [NIOSSLCertificate] {
        guard !file.bytes.isEmpty, let certificates = try? NIOSSLCertificate.fromPEMBytes(file.bytes),
            !certificates.isEmpty
        else { throw TLSFileError(kind, path, "it contains no PEM certificate") }
        return certificates
    }

    private static func privateKey(in file: SmallFile, _ path: String) throws(TLSFileError) -> NIOSSLPrivateKey {
        guard !file.bytes.contains("ENCRYPTED".utf8) else {
            throw TLSFileError(
                .key, path, "the key is encrypted; store it without a passphrase, readable only by this user")
        }
        guard !file.bytes.isEmpty, let key = try? NIOSSLPrivateKey(bytes: file.bytes, format: .pem) else {
            throw TLSFileError(.key, path, "it contains no PEM private key")
        }
        return key
    }

    /// All faults of the files, in the order of the settings. Blocks.
    static func faults(of files: TLSFiles) -> [TLSFileError] {
        var faults: [TLSFileError] = []
        func check(_ body: () throws(TLSFileError) -> Void) {
            do throws(TLSFileError) { try body() } catch { faults.append(error) }
        }
        check { () throws(TLSFileError) in
            _ = try certificates(in: read(.certificate, files.certificate), .certificate, files.certificate)
        }
        check { () throws(TLSFileError) in _ = try privateKey(in: read(.key, files.key), files.key) }
        if let path = files.clientAuthorities {
            check { () throws(TLSFileError) in
                _ = try certificates(in: read(.clientAuthorities, path), .clientAuthorities, path)
            }
        }
        // Whether they match each other is checked only if each is valid.
        if faults.isEmpty { check { () throws(TLSFileError) in _ = try TLSCredentials(reading: files) } }
        return faults
    }
}

/// The PEM files with which a listener authenticates itself and its clients.
package struct TLSFiles: Sendable, Equatable {
    /// The listener's certificate, followed by the intermediate certificates.
    package let certificate: String
    /// The private key, not encrypted.
    package let key: String
    /// The CAs of client certificates; `nil` if clients need none.
    package let clientAuthorities: String?
    /// URIs and DNS names, one of which a client's certificate must have; `nil` for any certificate of the CAs.
    package let clientNames: [String]?

    package init(
        certificate: String, key: String, clientAuthorities: String? = nil, clientNames: [String]? = nil
    ) {
        self.certificate = certificate
        self.key = key
        self.clientAuthorities = clientAuthorities
        self.clientNames = clientNames
    }

    /// All faults of the files, in the order of the settings; empty if a listener can use them. Blocks.
    package func faults() -> [TLSFileError] { TLSCredentials.faults(of: self) }

    var paths: [String] { [certificate, key] + [clientAuthorities].compactMap(\.self) }
}

/// Why one of the files can't be used. The text contains no part of the file's contents.
package struct TLSFileError: Error, Equatable, CustomStringConvertible {
    package let file: TLSFileKind
    /// Starts with the path.
    package let description: String

    init(_ file: TLSFileKind, _ path: String, _ reason: String) {
        self.file = file
        description = "\(path): \(reason)"
    }
}

/// The purpose of a listener's TLS file, by the setting that names the file.
package enum TLSFileKind: String, Sendable {
    case certificate = "certificate_file"
    case key = "key_file"
    case clientAuthorities = "client_ca_file"
}

/// TLS of one listener: its credentials, which are reloaded when the files change, and its handshake counts.
package final class ListenerTLS: Sendable {
    private let files: TLSFiles
    private let onFailedHandshake: @Sendable (String) -> Void
    // Locked once per connection, which is negligible beside the handshake.
    private let credentials: Mutex<TLSCredentials>
    private let failedHandshakes = Atomic(0)

    /// Reads the files for the first time. Blocks.
    ///
    /// - Parameter onFailedHandshake: called with the reason, one of a closed set.
    /// - Throws: ``TLSFileError`` if one of them can't be used.
    package init(
        _ files: TLSFiles, onFailedHandshake: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(TLSFileError) {
        self.files = files
        self.onFailedHandshake = onFailedHandshake
        credentials = Mutex(try TLSCredentials(reading: files))
    }

    /// Reads the files again if they have changed. New connections use the new contents; existing ones stay as they
    /// are. Blocks; calls must not overlap.
    ///
    /// - Returns: whether they have changed.
    /// - Throws: ``TLSFileError`` if they can't be used; the previous ones stay in use.
    package func reload() throws(TLSFileError) -> Bool {
        guard !credentials.withLock(\.self).areCurrent(files) else { return false }
        let new = try TLSCredentials(reading: files)
        credentials.withLock { $0 = new }
        return true
    }

    /// When the listener's certificate expires.
    package var expiresAtUnixSeconds: Int64 { credentials.withLock { $0.expiresAtUnixSeconds } }

    /// The number of failed handshakes, except those that the client aborted.
    package var handshakeFailures: Int { failedHandshakes.load(ordering: .relaxed) }

    /// The handlers between the network and HTTP on one connection.
    ///
    /// - Parameter seconds: the timeout of the handshake.
    func makeHandlers(handshakeWithin seconds: Int64) -> (NIOSSLServerHandler, TLSHandshake) {
        let handler = credentials.withLock { $0.makeHandler() }
        let handshake = TLSHandshake(of: handler, clientNames: files.clientNames, within: seconds) { [self] failure in
            failedHandshakes.add(1, ordering: .relaxed)
            onFailedHandshake(failure.reason)
        }
        return (handler, handshake)
    }
}
