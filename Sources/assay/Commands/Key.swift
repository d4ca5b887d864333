import ArgumentParser
private import Bytes
import Glibc
import JOSE
import OpenSSL
import SignIns

struct Key: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Generate keys for sign-ins.", subcommands: [New.self])

    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Generate a key that encrypts sign-ins.",
            discussion: """
                Prints 32 random bytes in base64, for a file under sign_ins.key_files. Give every instance the same file, readable \
                only by Assay:

                  (umask 077; assay key new > sign-ins.key)
                """)

        func run() throws {
            // Bytes instead of a String, so that the key can be overwritten in memory.
            var text = try HandleKeys.newKeyFile()
            defer { wipe(&text) }
            guard unsafe write(STDOUT_FILENO, text, text.count) == text.count else {
                throw ConfigurationError(text: "the key can't be written to standard output")
            }
        }
    }
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
