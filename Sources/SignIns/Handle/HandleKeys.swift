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

/// Encrypts sign-ins into handles, and the keys of grants into bindings; decrypts both. Confined to one thread.
///
/// A handle is the base64url encoding of: version, key ID, salt, encrypted sign-in, tag. Version, key ID and salt are
/// authenticated but not encrypted. Each handle has its own key, the HMAC-SHA-256 of its salt under the key from the
/// file. So AES-256-GCM can use a zero nonce, and the number of handles per key file is not limited.
package final class SignInSealer {
    private let keys: [(id: [UInt8], deriving: MessageAuthenticator)]
    private let cipher: AuthenticatedCipher

    static let saltLength = 16
    private static let clearLength = 1 + HandleKey.idLength + saltLength
    private static let zeroNonce = [UInt8](repeating: 0, count: AuthenticatedCipher.nonceLength)

    /// - Throws: ``OpenSSLError`` when out of memory.
    package init(_ keys: HandleKeys) throws(OpenSSLError) {
        var deriving: [(id: [UInt8], deriving: MessageAuthenticator)] = []
        for key in keys.keys { deriving.append((key.id, try MessageAuthenticator(key: key.secret))) }
        self.keys = deriving
        cipher = try AuthenticatedCipher()
    }

    /// - Parameter salt: 16 random octets, never used before.
    /// - Returns: `nil` if the handle would be longer than ``SealedSignIn/maximumLength``.
    /// - Throws: ``OpenSSLError`` when out of memory.
    package func seal(_ signIn: SignIn, salt: [UInt8]) throws(OpenSSLError) -> SealedSignIn? {
        var text = signIn.encoded
        defer { wipe(&text) }
        let length = Self.clearLength + text.count + AuthenticatedCipher.tagLength
        guard (length * 4 + 2) / 3 <= SealedSignIn.maximumLength else { return nil }
        return SealedSignIn(text: try seal(text, version: signIn.version.octet, salt: salt))
    }

    /// Opens a handle. Does not check whether it has expired.
    ///
    /// - Returns: `nil` if it was not encrypted with one of these keys, or was modified.
    /// - Throws: ``OpenSSLError`` when out of memory.
    package func open(_ handle: SealedSignIn) throws(OpenSSLError) -> OpenedSignIn? {
        guard handle.text.count <= SealedSignIn.maximumLength, let opened = try open(handle.text),
            let version = HandleVersion(octet: opened.version),
            let signIn = opened.content.withBytes({ SignIn(encoded: $0, version) })
        else { return nil }
        return OpenedSignIn(signIn, salt: opened.salt)
    }

    /// Encrypts a text.
    ///
    /// - Parameters:
    ///   - version: tells kinds of texts apart, and is authenticated, so that none passes for another.
    ///   - salt: 16 random octets, never used before.
    /// - Throws: ``OpenSSLError`` when out of memory.
    func seal(_ text: [UInt8], version: UInt8, salt: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        precondition(salt.count == Self.saltLength)
        let clear = [version] + keys[0].id + salt
        let key = try keys[0].deriving.code(of: salt.span)
        let sealed = try cipher.seal(text.span, under: key, nonce: Self.zeroNonce.span, beside: clear.span)
        return Base64URL.encode(clear + sealed)
    }

    /// Decrypts what ``seal(_:version:salt:)`` returned.
    ///
    /// - Returns: `nil` if it was not encrypted with one of these keys, or was modified.
    /// - Throws: ``OpenSSLError`` when out of memory.
    func open(
        _ text: [UInt8]
    ) throws(OpenSSLError) -> (version: UInt8, salt: [UInt8], content: SecretBytes)? {
        guard let octets = Base64URL.decode(text.span),
            octets.count >= Self.clearLength + AuthenticatedCipher.tagLength,
            let key = keys.first(where: { octets[1...].starts(with: $0.id) })
        else { return nil }
        let clear = octets.span.extracting(..<Self.clearLength)
        let salt = clear.extracting((1 + HandleKey.idLength)...)
        let derived = try key.deriving.code(of: salt)
        let content = try cipher.open(
            octets.span.extracting(Self.clearLength...), under: derived, nonce: Self.zeroNonce.span, beside: clear)
        return content.map { (octets[0], salt.indices.map { salt[$0] }, $0) }
    }
}

/// A handle that is not opened: `POST /v1/sign-ins` returns it to a backend, and the backend sends it back.
package struct SealedSignIn: Equatable, Sendable {
    /// Maximum length of a handle in octets.
    package static let maximumLength = 2048

    package let text: [UInt8]

    package init(text: [UInt8]) { self.text = text }
}

/// A sign-in whose handle was encrypted by this process or one with the same keys. Only ``SignInSealer`` creates one.
package struct OpenedSignIn: Sendable {
    package let content: SignIn
    /// Random octets, unique to this sign-in.
    let salt: [UInt8]

    fileprivate init(_ content: SignIn, salt: [UInt8]) {
        self.content = content
        self.salt = salt
    }
}
