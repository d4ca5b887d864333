/// The files, in PEM, by which a listener proves itself, and by which it tells which clients to let in.
package struct TLSFiles: Sendable, Equatable {
    /// The listener's certificate, and behind it those of the authorities between it and the root.
    package let certificate: String
    /// The private key, not encrypted.
    package let key: String
    /// The authorities of clients' certificates; `nil`: clients are asked for none.
    package let clientAuthorities: String?
    /// URIs and DNS names, of which a client's certificate must have one; `nil`: any certificate that the authorities vouch
    /// for will do.
    package let clientNames: [String]?

    package init(
        certificate: String, key: String, clientAuthorities: String? = nil, clientNames: [String]? = nil
    ) {
        self.certificate = certificate
        self.key = key
        self.clientAuthorities = clientAuthorities
        self.clientNames = clientNames
    }

    /// Everything that is wrong with them, in the order of the settings; none where a listener can use them. Blocks.
    package func faults() -> [TLSFileError] { TLSCredentials.faults(of: self) }

    var paths: [String] { [certificate, key] + [clientAuthorities].compactMap(\.self) }
}

/// Why one of the files can't be used. The text never holds any of its content.
package struct TLSFileError: Error, Equatable, CustomStringConvertible {
    package let file: TLSFileKind
    /// Begins with the path.
    package let description: String

    init(_ file: TLSFileKind, _ path: String, _ reason: String) {
        self.file = file
        description = "\(path): \(reason)"
    }
}

/// The purpose of a listener's TLS file.
package enum TLSFileKind: Sendable {
    case certificate, key, clientAuthorities
}
