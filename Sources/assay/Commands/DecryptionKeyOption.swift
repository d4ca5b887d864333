import ArgumentParser
import JOSE
import OpenSSL
import Settings

/// The key with which a command opens an encrypted token.
struct DecryptionKeyOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The file with the private key (PEM) that opens an encrypted token, to explain what is inside.",
            valueName: "file"))
    var decryptionKey: String?

    /// The signed token inside an encrypted one; any other token unchanged.
    ///
    /// - Throws: ``ConfigurationError`` if the file can't be used, or the token can't be opened.
    func opened(_ token: String) throws -> String {
        guard let decryptionKey else { return token }
        let key = try CredentialFile(path: decryptionKey, name: "--decryption-key").decryptionKey()
        do throws(JWEError) {
            let jwe = try CompactJWE(Array(token.utf8)[...])
            // Whoever names a key file means this key, whatever its ID.
            let named = EncryptionKey(
                id: jwe.header.keyID ?? "", key, KeyManagementAlgorithm.allCases.filter { $0.fits(key.kind) })
            let decrypter = JWEDecrypter(
                [named].compactMap(\.self), algorithms: Set(KeyManagementAlgorithm.allCases),
                content: Set(ContentAlgorithm.allCases))
            return String(decoding: try decrypter.decrypt(jwe), as: UTF8.self)
        } catch {
            let reason =
                switch error {
                case .malformed:
                    "it is not an encrypted token (five parts of unpadded base64url); omit --decryption-key"
                case .headerUnsupported:
                    "its header has crit, b64, zip or a cty other than JWT, which the service refuses"
                case .algorithmNotAllowed: "its alg or enc is one that the service always refuses"
                case .decryptionFailed:
                    "it was encrypted to another key, or changed; name the file of the key in its kid"
                case .cryptographyUnavailable: "OpenSSL is out of memory"
                }
            throw ConfigurationError(text: "the token can't be opened with \(decryptionKey): \(reason)")
        }
    }
}

extension Settings {
    /// The settings for a token that has been opened already.
    var withoutEncryption: Settings {
        var settings = self
        settings.clientKeys = []
        for index in settings.providers.indices { settings.providers[index].encryption = nil }
        return settings
    }
}
