package import OpenSSL
private import JOSE

/// The keys that seal sign-ins: the first seals, all open.
///
/// Every process that is given the same key files can open what another one sealed.
package struct HandleKeys: Sendable {
    let keys: [HandleKey]

    /// Keys read from files, each with 32 octets in base64.
    ///
    /// - Parameter texts: at least one.
    /// - Throws: ``HandleKeyError``, which names no octet of a key.
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

    /// One key, made now: what it seals, only this process opens.
    ///
    /// - Throws: ``OpenSSLError`` when the random generator can't be seeded.
    package static func made() throws(OpenSSLError) -> HandleKeys {
        var octets = try randomBytes(HandleKey.length)
        defer { wipe(&octets) }
        return HandleKeys([try HandleKey(try SecretBytes(octets.span))])
    }

    private init(_ keys: [HandleKey]) { self.keys = keys }

    /// A new key as a key file holds it, with a line end.
    ///
    /// - Throws: ``OpenSSLError`` when the random generator can't be seeded.
    package static func newKeyFile() throws(OpenSSLError) -> [UInt8] {
        var octets = try randomBytes(HandleKey.length)
        defer { wipe(&octets) }
        // 32 octets take 43 characters of base64url, and one more of padding in base64.
        var encoded = Base64URL.encode(octets)
        defer { wipe(&encoded) }
        var text: [UInt8] = []
        // Never moved, so that no copy is left behind.
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

    /// The octets of a text in base64 or base64url, with or without padding and white space around it. What is copied of the text
    /// is overwritten.
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

/// Why key files can't be used.
package enum HandleKeyError: Error, Equatable {
    case none
    case notBase64(index: Int)
    case wrongLength(index: Int, found: Int)
    /// The same key as in a file before.
    case twice(index: Int)
    case cryptographyUnavailable

    /// For people to read: what was found, what was expected.
    package var text: String {
        switch self {
        case .none: "at least one key file is needed"
        case .notBase64: "the file must hold 32 octets in base64, and holds something else; `assay key new` makes one"
        case .wrongLength(_, let found):
            "the key must have 32 octets, and has \(found); `assay key new` makes one"
        case .twice: "the file holds the same key as one before it; each key may be listed once"
        case .cryptographyUnavailable: "OpenSSL is out of memory"
        }
    }

    /// Which file, counted from 0.
    package var index: Int? {
        switch self {
        case .notBase64(let index), .wrongLength(let index, _), .twice(let index): index
        case .none, .cryptographyUnavailable: nil
        }
    }
}

/// A key that seals sign-ins, and the name that handles have for it.
struct HandleKey: Sendable {
    static let length = 32
    /// Octets of an ``id``.
    static let idLength = 8

    /// Tells the key that sealed a handle. It is a code that only the key makes, so it says nothing of the key.
    let id: [UInt8]
    let secret: SecretBytes

    init(_ secret: SecretBytes) throws(OpenSSLError) {
        self.secret = secret
        // Longer than a salt, so that no handle's own key comes of the same message.
        let code = try MessageAuthenticator(key: secret).code(of: Array("assay sign-in handle key id".utf8).span)
        id = code.withBytes { code in (0..<Self.idLength).map { code[$0] } }
    }
}
