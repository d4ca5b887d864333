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
