import Grants
import Host
import OpenSSL

/// A file that holds a client's secret, its private key, or the certificate of that key.
struct CredentialFile {
    let path: String
    /// The option or setting that names the file, for errors.
    let name: String

    private static let maximumSize = 16384

    /// Reads a secret: one line.
    ///
    /// - Throws: ``ConfigurationError``, which contains no part of it.
    func secret() throws(ConfigurationError) -> SecretBytes {
        let secret = try read { text -> SecretBytes? in
            // Several lines, or a character that no client secret contains, mean that this is the wrong file.
            var count = text.count
            while count > 0, text[count - 1] == 0x0a || text[count - 1] == 0x0d { count -= 1 }
            for index in 0..<count where text[index] < 0x20 || text[index] == 0x7f { return nil }
            return SecretBytes(line: text)
        }
        guard let secret else { throw fault("one line with the client's secret is expected") }
        return secret
    }

    /// Reads a private key.
    ///
    /// - Throws: ``ConfigurationError``.
    func privateKey() throws(ConfigurationError) -> SigningKey {
        let key = try read { text in Result { () throws(PrivateKeyError) in try SigningKey(pem: text) } }
        do throws(PrivateKeyError) {
            return try key.get()
        } catch {
            throw fault(error.text)
        }
    }

    /// Reads Apple's private key.
    ///
    /// - Throws: ``ConfigurationError``.
    func appleClientSecret(teamID: String, keyID: String) throws(ConfigurationError) -> AppleClientSecret {
        guard let maker = AppleClientSecret(try privateKey(), teamID: teamID, keyID: keyID) else {
            throw fault("the key is not on the curve P-256, so it is not from Apple; download Apple's key")
        }
        return maker
    }

    /// Reads the certificate of a key.
    ///
    /// - Returns: the SHA-256 of its DER.
    /// - Throws: ``ConfigurationError``.
    func certificateThumbprint(of key: SigningKey) throws(ConfigurationError) -> [UInt8] {
        let thumbprint = try read { text -> Result<[UInt8], ConfigurationError> in
            guard let certificate = Certificate(pem: text), let thumbprint = certificate.thumbprint else {
                return .failure(fault("it contains no PEM certificate"))
            }
            guard certificate.matches(key) else {
                return .failure(fault("it is the certificate of another key; name that of key_file"))
            }
            return .success(thumbprint)
        }
        return try thumbprint.get()
    }

    private func read<Value>(_ body: (Span<UInt8>) -> Value) throws(ConfigurationError) -> Value {
        // Commands read credentials too. The service warns at its start if this fails.
        _ = disableCoreDumps()
        do throws(SmallFile.Failure) {
            return try SmallFile.withSecret(path: path, maximumSize: Self.maximumSize) { text, _ in body(text) }
        } catch {
            throw fault(error.text(maximumSize: Self.maximumSize))
        }
    }

    private func fault(_ text: String) -> ConfigurationError { ConfigurationError(text: "\(name): \(path): \(text)") }
}
