import HTTP
import IDToken
import JOSE
import OAuth
import OpenSSL
import Settings
import Synchronization

/// The files with the credentials of clients.
final class ClientFiles: Sendable {
    private let entries = Mutex<[Entry]>([])

    /// A client, or a key, whose files are watched.
    struct Entry: Sendable {
        let provider: String
        let settings: Watched
        /// When they were read.
        var versions: [SmallFile.Version?]
        let calls: ProviderCalls
        let keys: ClientKeys
    }

    enum Watched: Sendable, Equatable {
        case client(ClientSettings)
        /// Of clients that requests name.
        case key(NamedClientSettings.Key)
    }

    /// Watches the files of these clients, and no others.
    func watch(_ clients: [Entry]) { entries.withLock { $0 = clients } }

    /// Re-reads files that have changed, and updates the credentials of their clients. Blocks.
    ///
    /// - Returns: whether any has changed.
    /// - Throws: ``ConfigurationError`` if one can't be used; the client then keeps its credential.
    func readAgain() throws(ConfigurationError) -> Bool {
        var hasChanged = false
        var fault: ConfigurationError?
        for entry in entries.withLock({ $0 }) {
            let versions = Self.versions(entry.settings)
            guard versions != entry.versions else { continue }
            do throws(ConfigurationError) {
                switch entry.settings {
                case .client(let client):
                    let credential = try Self.credential(of: client, provider: entry.provider, entry.keys)
                    entry.calls.change(credential, ofClient: client.client.id)
                case .key(let key):
                    entry.calls.change(assertionKey: try Self.assertionKey(key, provider: entry.provider))
                }
                hasChanged = true
                entries.withLock { entries in
                    for index in entries.indices
                    where entries[index].calls === entry.calls && entries[index].settings == entry.settings {
                        entries[index].versions = versions
                    }
                }
            } catch {
                fault = fault ?? error
            }
        }
        if let fault { throw fault }
        return hasChanged
    }

    static func versions(_ settings: Watched) -> [SmallFile.Version?] {
        switch settings {
        case .client(let client): client.authentication.files.map(SmallFile.version(atPath:))
        case .key(let key): [SmallFile.version(atPath: key.file)]
        }
    }

    /// Reads the key of clients that requests name.
    ///
    /// - Throws: ``ConfigurationError`` if the file can't be used.
    static func assertionKey(
        _ key: NamedClientSettings.Key, provider: String
    ) throws(ConfigurationError) -> ClientSigningKey {
        let file = CredentialFile(path: key.file, name: "provider \(provider): clients: key_file")
        return ClientSigningKey(id: key.id, JWSSigner(try file.privateKey()))
    }

    /// Reads a client's credential.
    ///
    /// - Parameter willRead: called with the name of each setting before its file is read.
    /// - Throws: ``ConfigurationError`` if a file can't be used.
    static func credential(
        of client: ClientSettings, provider: String, _ keys: ClientKeys, willRead: (String) -> Void = { _ in }
    ) throws(ConfigurationError) -> ClientCredential {
        func file(_ path: String, _ setting: String) -> CredentialFile {
            willRead(setting)
            return CredentialFile(path: path, name: "provider \(provider): client \(client.client.id): \(setting)")
        }
        switch client.authentication {
        case .none: return .none
        case .signingKey(let id, let audience): return .ownKey(keys, id: id, audience: audience)
        case .certificate(let certificate, let path):
            let key = file(path, "key_file")
            return .certificate(try file(certificate, "certificate_file").clientCertificate(of: key))
        case .secret(let path, let place): return .secret(try file(path, "secret_file").secret(), sentIn: place)
        case .apple(let teamID, let keyID, let path):
            return .apple(try file(path, "key_file").appleClientKey(teamID: teamID, keyID: keyID))
        case .privateKeyJWT(let keyID, let path, let certificate, let audience):
            let key = try file(path, "key_file").privateKey()
            let thumbprint: [UInt8]? =
                if let certificate {
                    try file(certificate, "certificate_file").certificateThumbprint(of: key)
                } else {
                    nil
                }
            let credential = ClientCredential(
                key: key, keyID: keyID, certificateThumbprint: thumbprint, audience: audience,
                profile: client.client.profile)
            guard let credential else {
                throw file(path, "key_file").fault(
                    "the key can't sign with \(SecurityProfile.algorithmNames), as the client's profile demands; register an RSA key, or one on P-256 or Ed25519"
                )
            }
            return credential
        }
    }
}

extension ClientSettings.Authentication {
    fileprivate var files: [String] {
        switch self {
        case .privateKeyJWT(_, _, let certificate?, _), .certificate(let certificate, _): secretFiles + [certificate]
        case .privateKeyJWT, .signingKey, .secret, .apple, .none: secretFiles
        }
    }
}

extension Settings {
    /// The faults of the credential files of all clients: at most one for each client.
    func clientFileFaults(_ effective: EffectiveSettings) -> [SettingsFault] {
        var faults: [SettingsFault] = []
        /// - Parameter read: sets the path of the setting whose file it reads.
        func check(_ path: [String], _ read: (inout [String]) throws(ConfigurationError) -> Void) {
            var path = path
            do throws(ConfigurationError) {
                try read(&path)
            } catch {
                faults.append(SettingsFault(line: effective.line(of: path), message: error.text))
            }
        }
        check(["client_keys"]) { path throws(ConfigurationError) in
            _ = try ClientKeyFiles.load(clientKeys) { path = ["client_keys", $0.id, "key_file"] }
        }
        for provider in providers {
            let all = ["providers", provider.policy.id, "clients"]
            for client in provider.clients {
                check(all + [client.client.id]) { path throws(ConfigurationError) in
                    _ = try ClientFiles.credential(of: client, provider: provider.policy.id, ClientKeys()) { setting in
                        path = all + [client.client.id, setting]
                    }
                }
            }
            guard let key = provider.namedClients?.key else { continue }
            check(all + ["key_file"]) { _ throws(ConfigurationError) in
                _ = try ClientFiles.assertionKey(key, provider: provider.policy.id)
            }
        }
        return faults
    }
}

/// A file that holds a secret, a private key, or certificates.
struct CredentialFile {
    let path: String
    /// The option or setting that names the file, for errors.
    let name: String
    /// In bytes.
    var maximumSize = 16384

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
    func privateKey() throws(ConfigurationError) -> SigningKey { try key(SigningKey.init(pem:)) }

    /// Reads a private key that opens encrypted tokens.
    func decryptionKey() throws(ConfigurationError) -> DecryptionKey { try key(DecryptionKey.init(pem:)) }

    private func key<Key>(
        _ parse: (Span<UInt8>) throws(PrivateKeyError) -> Key
    ) throws(ConfigurationError) -> Key {
        let key = try read { text in Result { () throws(PrivateKeyError) in try parse(text) } }
        do throws(PrivateKeyError) {
            return try key.get()
        } catch {
            throw fault(error.text)
        }
    }

    /// Reads Apple's private key.
    func appleClientKey(teamID: String, keyID: String) throws(ConfigurationError) -> AppleClientKey {
        guard let key = AppleClientKey(try privateKey(), teamID: teamID, keyID: keyID) else {
            throw fault("the key is not on the curve P-256, so it is not from Apple; download Apple's key")
        }
        return key
    }

    /// Reads the certificate of a key.
    ///
    /// - Returns: the SHA-256 of its DER.
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

    /// Reads a certificate that connections present, and its key.
    func clientCertificate(of key: CredentialFile) throws(ConfigurationError) -> TLSIdentity {
        _ = try certificateThumbprint(of: try key.privateKey())
        let chain = try read { text in text.indices.map { text[$0] } }
        let made = try key.read { text in
            var key = text.indices.map { text[$0] }
            defer { wipe(&key) }
            return Result { try TLSIdentity(chain: chain, key: key) }
        }
        do {
            return try made.get()
        } catch {
            throw fault("TLS can't use it: \(error)")
        }
    }

    /// Reads it, and overwrites the memory that it was read into.
    func read<Value>(_ body: (Span<UInt8>) -> Value) throws(ConfigurationError) -> Value {
        // Commands read credentials too. The service warns at its start if this fails.
        _ = disableCoreDumps()
        do throws(SmallFile.Failure) {
            return try SmallFile.withSecret(path: path, maximumSize: maximumSize) { text, _ in body(text) }
        } catch {
            throw fault(error.text(maximumSize: maximumSize))
        }
    }

    /// Reads it with its version. The caller wipes what is secret.
    func contents() throws(ConfigurationError) -> SmallFile {
        do throws(SmallFile.Failure) {
            return try SmallFile(path: path, maximumSize: maximumSize, followingLinks: true)
        } catch {
            throw fault(error.text(maximumSize: maximumSize))
        }
    }

    func fault(_ text: String) -> ConfigurationError { ConfigurationError("\(name): \(path): \(text)") }
}
