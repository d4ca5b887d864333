import ArgumentParser
private import Bytes
import Glibc
import JOSE
import OpenSSL
import SignIns

struct Key: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Generate keys for sign-ins and client_keys.", subcommands: [NewKey.self])
}

struct APIKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "api-key",
        abstract: "Generate an API key for a caller.",
        discussion: """
            Prints a new random key for the caller, and its SHA-256 digest for api_keys in the settings. Assay does \
            not store the key. To rotate a key without downtime, list both digests until every caller has the new key.
            """)

    func run() throws {
        let key = Base64URL.encode(try randomBytes(32))
        let digest = try DigestContext().digest(key.span, with: .sha256)
        print("key     \(String(decoding: key, as: UTF8.self))")
        print("digest  \(String(hexadecimal: digest.span))")
    }
}

/// `assay key new`.
struct NewKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Generate a key that encrypts sign-ins, or a private key for client_keys.",
        discussion: """
            Without --algorithm: 32 random bytes in base64, for a file under sign_ins.key_files. Give every instance the same \
            file. With --algorithm: a private key (PEM, PKCS#8) for a key_file of client_keys, whose public half \
            GET /v1/jwks offers.

            The key goes to the file, which must not exist yet, or to standard output. Either way, a file that is \
            written is readable only by its owner.

              assay key new sign-ins.key
              assay key new --algorithm ES256 sig.pem
              assay key new --algorithm ECDH-ES > enc.pem
            """)

    /// An algorithm that a key is made for.
    enum Algorithm: String, CaseIterable, ExpressibleByArgument {
        case es256 = "ES256"
        case rs256 = "RS256"
        case ps256 = "PS256"
        case edDSA = "EdDSA"
        case ecdhES = "ECDH-ES"
        case rsaOAEP256 = "RSA-OAEP-256"

        /// A new key. Signing keys of RSA have 3072 bits; those that decrypt have 2048, because a private operation with a
        /// longer one would delay other requests.
        fileprivate func newKey() throws(OpenSSLError) -> SecretBytes {
            switch self {
            case .es256: try SigningKey(generating: .ellipticCurve(.p256)).pem()
            case .rs256, .ps256: try SigningKey(generating: .rsa(modulusLength: 3072 / 8)).pem()
            case .edDSA: try SigningKey(generating: .edwards(.ed25519)).pem()
            case .ecdhES: try DecryptionKey(generating: .agreement(.p256)).pem()
            case .rsaOAEP256: try DecryptionKey(generating: .rsa(modulusLength: 2048 / 8)).pem()
            }
        }
    }

    @Option(help: "Generate a private key for this algorithm: ES256, RS256, PS256, EdDSA, ECDH-ES or RSA-OAEP-256.")
    var algorithm: Algorithm?

    @Argument(help: "The file to write. Omitted: standard output.")
    var file: String?

    func run() throws {
        // Bytes instead of a String, so that the key can be overwritten in memory.
        var text: [UInt8] = []
        defer { wipe(&text) }
        if let algorithm {
            let key = try algorithm.newKey()
            text.reserveCapacity(key.count)
            key.withBytes { for index in $0.indices { text.append($0[index]) } }
        } else {
            text = try HandleKeys.newKeyFile()
        }
        let output: CInt
        if let file {
            output = unsafe open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard output >= 0 else {
                throw ConfigurationError(
                    errno == EEXIST
                        ? "\(file) exists, and is not overwritten; name another file"
                        : "\(file) can't be created: \(unsafe String(cString: strerror(errno)))")
            }
        } else {
            output = STDOUT_FILENO
            var status = stat()
            // The shell has created the file, by default readable for all.
            if unsafe fstat(output, &status) == 0, status.st_mode & S_IFMT == S_IFREG { fchmod(output, 0o600) }
        }
        guard unsafe write(output, text, text.count) == text.count else {
            throw ConfigurationError("the key can't be written to \(file ?? "standard output")")
        }
        if file != nil { close(output) }
    }
}
