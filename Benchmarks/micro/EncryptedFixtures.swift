import HTTP
import JOSE
import OAuth
import OpenSSL
import Verification

/// Encryption keys and encrypted tokens from make_encrypted.py. They never change.
struct EncryptedFixtures {
    /// The service's keys, and the rules that open every token of them.
    let encryption: TokenEncryption
    /// By name: `ALGORITHM.CONTENT.KEY` for one that can be opened, with a suffix for one that can't.
    let tokens: [String: String]
    /// A key agreement and a signature check alone, in the forms that OpenSSL reads.
    let bare: [String: String]
    private let pem: [String: String]

    init() throws {
        // Embedded, it would be an array literal that takes minutes to compile.
        let path = #filePath.dropLast("EncryptedFixtures.swift".count) + "encrypted.json"
        let file = try SmallFile(path: String(path), maximumSize: 100_000, followingLinks: true)
        let tree = try JSONTree(readingObject: file.bytes).object
        guard let keys = tree?["keys"]?.array, let tokens = tree?["tokens"]?.object, let bare = tree?["bare"]?.object
        else { throw Mistake("encrypted.json lacks something") }
        self.tokens = tokens.compactMapValues(\.string)
        self.bare = bare.compactMapValues(\.string)
        var loaded = ClientKeys.Loaded()
        var pem: [String: String] = [:]
        for key in keys.compactMap(\.object) {
            let algorithms = (key["algorithms"]?.array ?? []).compactMap {
                $0.string.flatMap(KeyManagementAlgorithm.init(rawValue:))
            }
            guard let id = key["id"]?.string, let text = key["pem"]?.string,
                let key = EncryptionKey(id: id, try DecryptionKey(pem: Array(text.utf8).span), algorithms)
            else { throw Mistake("encrypted.json has a bad key") }
            loaded.encryption.append(key)
            pem[id] = text
        }
        self.pem = pem
        encryption = TokenEncryption(EncryptionRules(), ClientKeys(loaded))
    }

    func token(_ name: String) throws -> String {
        guard let token = tokens[name] else { throw Mistake("no token \(name)") }
        return token
    }

    func key(_ id: String) throws -> DecryptionKey {
        guard let text = pem[id] else { throw Mistake("no key \(id)") }
        return try DecryptionKey(pem: Array(text.utf8).span)
    }

    /// One of the octet strings of ``bare``.
    func octets(_ name: String) throws -> [UInt8] {
        guard let octets = Base64URL.decode((bare[name] ?? "").utf8.span) else { throw Mistake("no \(name)") }
        return octets
    }
}
