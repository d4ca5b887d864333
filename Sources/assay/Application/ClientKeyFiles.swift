import HTTP
import JOSE
import OAuth
import OpenSSL
import Settings
import Synchronization

/// The files of `client_keys`.
final class ClientKeyFiles: Sendable {
    /// What was read from them.
    let keys = ClientKeys()
    private let read = Mutex<(settings: [ClientKeySettings], versions: [SmallFile.Version?])>(([], []))

    /// Keys that have been read, and are not in use yet.
    struct Prepared {
        fileprivate let settings: [ClientKeySettings]
        fileprivate let versions: [SmallFile.Version?]
        fileprivate let loaded: ClientKeys.Loaded
    }

    /// Reads the files of these keys. Blocks.
    ///
    /// - Throws: ``ConfigurationError`` if one can't be used.
    func prepare(_ settings: [ClientKeySettings]) throws(ConfigurationError) -> Prepared {
        // Before the files are read, so that a change meanwhile is noticed.
        let versions = Self.versions(settings)
        return Prepared(settings: settings, versions: versions, loaded: try Self.load(settings))
    }

    func use(_ prepared: Prepared) {
        read.withLock { $0 = (prepared.settings, prepared.versions) }
        keys.change(to: prepared.loaded)
    }

    /// Re-reads the files if they have changed. Blocks.
    ///
    /// - Returns: whether they have.
    /// - Throws: ``ConfigurationError`` if one can't be used; all keys stay then.
    func readAgain() throws(ConfigurationError) -> Bool {
        let (settings, versions) = read.withLock { $0 }
        guard Self.versions(settings) != versions else { return false }
        use(try prepare(settings))
        return true
    }

    private static func versions(_ settings: [ClientKeySettings]) -> [SmallFile.Version?] {
        settings.map { SmallFile.version(atPath: $0.keyFile) }
    }

    /// - Parameter willRead: called before each file is read.
    static func load(
        _ settings: [ClientKeySettings], willRead: (ClientKeySettings) -> Void = { _ in }
    ) throws(ConfigurationError) -> ClientKeys.Loaded {
        var loaded = ClientKeys.Loaded()
        var set = JSONWriter()
        set.beginObject()
        set.name("keys")
        set.beginArray()
        var known: [(settings: ClientKeySettings, numbers: [[UInt8]])] = []
        for key in settings {
            willRead(key)
            let file = CredentialFile(path: key.keyFile, name: "client_keys: \(key.id): key_file")
            let numbers = try file.add(key, to: &loaded, &set)
            // A key that both signs and decrypts lets an attacker use one operation for the other.
            if let other = known.first(where: {
                $0.numbers == numbers && $0.settings.use.isSignature != key.use.isSignature
            }) {
                throw file.fault("it holds the key of \(other.settings.id), which has the other use; make another key")
            }
            known.append((key, numbers))
        }
        set.endArray()
        set.endObject()
        loaded.published = set.bytes
        return loaded
    }
}

extension CredentialFile {
    /// The longest RSA key that signs: the time of its signatures grows with the cube of the length.
    private static let maximumSigningBits = 4096

    /// Adds a key to those that were read.
    ///
    /// - Returns: its public numbers.
    fileprivate func add(
        _ settings: ClientKeySettings, to loaded: inout ClientKeys.Loaded, _ set: inout JSONWriter
    ) throws(ConfigurationError) -> [[UInt8]] {
        switch settings.use {
        case .signature(let algorithm):
            let key = try privateKey()
            if case .rsa(let length) = key.kind, length * 8 > Self.maximumSigningBits {
                throw fault(
                    "the RSA key has \(length * 8) bits; at most \(Self.maximumSigningBits) are supported: generate a new key"
                )
            }
            guard let signer = JWSSigner(key, algorithm) else {
                throw fault(
                    "the key can't sign with \(algorithm.rawValue); correct algorithm, or make a key with assay key new"
                )
            }
            if let profile = settings.profile, !profile.allows(key.kind) {
                throw fault(
                    "the key is on Ed448, but the profile of a client that signs with it, \(profile.rawValue), allows only Ed25519; make a key with assay key new --algorithm EdDSA"
                )
            }
            loaded.signing.append(ClientSigningKey(id: settings.id, signer))
            return try numbers { () throws(OpenSSLError) in
                if settings.isPublished { try set.publicKey(id: settings.id, of: key, algorithm) }
                return try key.publicComponents()
            }
        case .encryption(let algorithms):
            let key = try decryptionKey()
            guard let usable = EncryptionKey(id: settings.id, key, algorithms) else {
                throw fault(
                    "the key does not fit all of its algorithms: ECDH-ES needs a key on P-256, P-384, P-521 or X25519, and RSA-OAEP an RSA key; correct algorithms"
                )
            }
            loaded.encryption.append(usable)
            return try numbers { () throws(OpenSSLError) in
                if settings.isPublished { try set.publicKey(of: usable) }
                return try key.publicComponents()
            }
        }
    }

    private func numbers(
        _ read: () throws(OpenSSLError) -> PublicComponents
    ) throws(ConfigurationError) -> [[UInt8]] {
        do throws(OpenSSLError) {
            return try read().map(\.octets)
        } catch {
            throw fault("OpenSSL can't read its public half; make another key with assay key new")
        }
    }
}
