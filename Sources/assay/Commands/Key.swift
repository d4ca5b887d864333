import ArgumentParser
private import Bytes
import JOSE
import OpenSSL

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
