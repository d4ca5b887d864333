private import JOSE
package import OpenSSL

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

@available(*, unavailable) extension SignInSealer: Sendable {}

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
