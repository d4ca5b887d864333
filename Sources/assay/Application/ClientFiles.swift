import Grants
import Host
import IDToken
import ProviderClient
import Settings
import Synchronization

/// The files with the credentials of clients.
final class ClientFiles: Sendable {
    private let entries = Mutex<[Entry]>([])

    /// A client whose files are watched.
    struct Entry: Sendable {
        let provider: String
        let settings: ClientSettings
        /// When they were read.
        var versions: [SmallFile.Version?]
        let calls: ProviderCalls
    }

    /// Watches the files of these clients, and no others.
    func watch(_ clients: [Entry]) { entries.withLock { $0 = clients } }

    /// Re-reads files that have changed, and updates the credentials of their clients. Blocks.
    ///
    /// - Returns: `nil` if none has changed.
    /// - Throws: ``ConfigurationError`` if one can't be used; the client then keeps its credential.
    func readAgain() throws(ConfigurationError) -> Bool? {
        var hasChanged = false
        var fault: ConfigurationError?
        for entry in entries.withLock({ $0 }) {
            let versions = Self.versions(entry.settings)
            guard versions != entry.versions else { continue }
            do throws(ConfigurationError) {
                let credential = try Self.credential(of: entry.settings, provider: entry.provider)
                entry.calls.change(credential, ofClient: entry.settings.client.id)
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
        return hasChanged ? true : nil
    }

    static func versions(_ client: ClientSettings) -> [SmallFile.Version?] {
        client.authentication.files.map(SmallFile.version(atPath:))
    }

    /// Reads a client's credential.
    ///
    /// - Parameter willRead: called with the name of each setting before its file is read.
    /// - Throws: ``ConfigurationError`` if a file can't be used.
    static func credential(
        of client: ClientSettings, provider: String, willRead: (String) -> Void = { _ in }
    ) throws(ConfigurationError) -> ClientCredential {
        func file(_ path: String, _ setting: String) -> CredentialFile {
            willRead(setting)
            return CredentialFile(path: path, name: "provider \(provider): client \(client.client.id): \(setting)")
        }
        switch client.authentication {
        case .none: return .none
        case .secret(let path, let place): return .secret(try file(path, "secret_file").secret(), sentIn: place)
        case .apple(let teamID, let keyID, let path):
            return .apple(try file(path, "key_file").appleClientSecret(teamID: teamID, keyID: keyID))
        case .privateKeyJWT(let keyID, let path, let certificate, let audience):
            let key = try file(path, "key_file").privateKey()
            let thumbprint: [UInt8]? =
                if let certificate {
                    try file(certificate, "certificate_file").certificateThumbprint(of: key)
                } else {
                    nil
                }
            return .key(key, keyID: keyID, certificateThumbprint: thumbprint, audience: audience)
        }
    }
}

extension ClientSettings.Authentication {
    fileprivate var files: [String] {
        if case .privateKeyJWT(_, _, let certificate?, _) = self { return secretFiles + [certificate] }
        return secretFiles
    }
}

extension Settings {
    /// The faults of the credential files of all clients: at most one for each client.
    func clientFileFaults(_ effective: EffectiveSettings) -> [SettingsFault] {
        var faults: [SettingsFault] = []
        for provider in providers {
            for client in provider.clients {
                var path = ["providers", provider.policy.id, "clients", client.client.id]
                do throws(ConfigurationError) {
                    _ = try ClientFiles.credential(of: client, provider: provider.policy.id) { setting in
                        path = path.prefix(4) + [setting]
                    }
                } catch {
                    faults.append(SettingsFault(line: effective.line(of: path), message: error.text))
                }
            }
        }
        return faults
    }
}
