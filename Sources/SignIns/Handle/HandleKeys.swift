package import IDToken
private import JOSE
package import OpenSSL

/// The keys of handles. The first one encrypts; all of them decrypt.
///
/// Processes with the same key files can open each other's handles.
package struct HandleKeys: Sendable {
    let keys: [HandleKey]

    /// Decodes keys from the contents of files, each with 32 octets in base64.
    ///
    /// - Parameter texts: at least one.
    /// - Throws: ``HandleKeyError``, which contains no part of a key.
    package init(texts: [[UInt8]]) throws(HandleKeyError) {
        var keys: [HandleKey] = []
        for (index, text) in texts.enumerated() {
            guard var octets = Self.decode(text) else { throw .notBase64(index: index) }
            defer { wipe(&octets) }
            guard octets.count == HandleKey.length else { throw .wrongLength(index: index, found: octets.count) }
            let key: HandleKey
            do throws(OpenSSLError) {
                key = try HandleKey(try SecretBytes(octets.span))
            } catch {
                throw .cryptographyUnavailable
            }
            guard !keys.contains(where: { $0.id == key.id }) else { throw .twice(index: index) }
            keys.append(key)
        }
        guard !keys.isEmpty else { throw .none }
        self.keys = keys
    }

    /// A new random key. Only this process can decrypt what it encrypts.
    ///
    /// - Throws: ``OpenSSLError`` if the random generator can't be seeded.
    package static func made() throws(OpenSSLError) -> HandleKeys {
        var octets = try randomBytes(HandleKey.length)
        defer { wipe(&octets) }
        return HandleKeys([try HandleKey(try SecretBytes(octets.span))])
    }

    private init(_ keys: [HandleKey]) { self.keys = keys }

    /// Nonces for DPoP proofs, which every process with these keys recognizes.
    package var proofNonces: ProofNonces { ProofNonces(keys.map(\.secret)) }

    /// The contents of a new key file, with a line feed.
    ///
    /// - Throws: ``OpenSSLError`` if the random generator can't be seeded.
    package static func newKeyFile() throws(OpenSSLError) -> [UInt8] {
        var octets = try randomBytes(HandleKey.length)
        defer { wipe(&octets) }
        // 32 octets take 43 characters of base64url, and one of padding in base64.
        var encoded = Base64URL.encode(octets)
        defer { wipe(&encoded) }
        var text: [UInt8] = []
        // Reserved at once, because a reallocation would leave a copy of the key in memory.
        text.reserveCapacity(encoded.count + 2)
        for character in encoded {
            switch character {
            case UInt8(ascii: "-"): text.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): text.append(UInt8(ascii: "/"))
            default: text.append(character)
            }
        }
        text.append(contentsOf: "=\n".utf8)
        return text
    }

    /// Decodes base64 or base64url, with or without padding and surrounding white space. Intermediate copies are
    /// overwritten.
    private static func decode(_ text: [UInt8]) -> [UInt8]? {
        var characters: [UInt8] = []
        characters.reserveCapacity(text.count)
        defer { wipe(&characters) }
        let isSpace = { (octet: UInt8) in octet == 0x20 || octet == 0x0a || octet == 0x0d || octet == 0x09 }
        guard let start = text.firstIndex(where: { !isSpace($0) }),
            var end = text.lastIndex(where: { !isSpace($0) })
        else { return [] }
        for _ in 0..<2 where end > start && text[end] == UInt8(ascii: "=") { end -= 1 }
        for character in text[start...end] {
            switch character {
            case UInt8(ascii: "+"): characters.append(UInt8(ascii: "-"))
            case UInt8(ascii: "/"): characters.append(UInt8(ascii: "_"))
            default: characters.append(character)
            }
        }
        return Base64URL.decode(characters.span)
    }
}

/// Why a key file can't be used.
package enum HandleKeyError: Error, Equatable {
    case none
    case notBase64(index: Int)
    case wrongLength(index: Int, found: Int)
    /// The key is the same as in an earlier file.
    case twice(index: Int)
    case cryptographyUnavailable

    /// A readable message: what was found, and what was expected.
    package var text: String {
        switch self {
        case .none: "at least one key file is needed"
        case .notBase64: "the file is not a key, 32 bytes in base64; create one with assay key new"
        case .wrongLength(_, let found):
            "the key has \(found) bytes instead of 32; create one with assay key new"
        case .twice: "the file has the same key as an earlier one; list each key once"
        case .cryptographyUnavailable: "OpenSSL is out of memory"
        }
    }

    /// The index of the file, from 0.
    package var index: Int? {
        switch self {
        case .notBase64(let index), .wrongLength(let index, _), .twice(let index): index
        case .none, .cryptographyUnavailable: nil
        }
    }
}

/// A key that encrypts sign-ins, and its ID in handles.
struct HandleKey: Sendable {
    static let length = 32
    /// Length of an ``id`` in octets.
    static let idLength = 8

    /// Identifies the key that encrypted a handle. It is a MAC computed with the key, so it reveals nothing about it.
    let id: [UInt8]
    let secret: SecretBytes

    init(_ secret: SecretBytes) throws(OpenSSLError) {
        self.secret = secret
        // Longer than a salt, so it can't collide with the derivation of a handle's own key.
        let code = try MessageAuthenticator(key: secret).code(of: Array("assay sign-in handle key id".utf8).span)
        id = code.withBytes { code in (0..<Self.idLength).map { code[$0] } }
    }
}
