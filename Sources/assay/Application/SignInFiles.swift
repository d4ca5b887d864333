import HTTP
import OpenSSL
import Settings
import SignIns
import Synchronization

/// The files of sign-ins: the keys that encrypt handles, and the store's password and TLS files.
final class SignInFiles: Sendable {
    private let keyFiles: [String]
    private let passwordFile: String?
    /// `nil`: connections to the store don't use TLS.
    let tls: StoreTLS?
    private let latest = Mutex(Latest())

    /// The last valid contents.
    private struct Latest: Sendable {
        var keyVersions: [SmallFile.Version] = []
        var password: SecretBytes?
    }

    private static let maximumSize = 4096

    init(keyFiles: [String], passwordFile: String? = nil, tls: StoreTLS? = nil) {
        self.keyFiles = keyFiles
        self.passwordFile = passwordFile
        self.tls = tls
    }

    /// - Parameter settings: `nil`: sign-ins are off.
    /// - Throws: ``ConfigurationError`` if a TLS file can't be used.
    convenience init(_ settings: Settings.SignIns?) throws(ConfigurationError) {
        let tls: StoreTLS? =
            if let store = settings?.store, case .server(_, _, _, isTLS: true) = store.url {
                try StoreTLS(store)
            } else {
                nil
            }
        self.init(keyFiles: settings?.keyFiles ?? [], passwordFile: settings?.store.passwordFile, tls: tls)
    }

    var isEmpty: Bool { keyFiles.isEmpty && passwordFile == nil && tls == nil }

    /// The password as last read; `nil`: none is needed.
    var password: SecretBytes? { latest.withLock(\.password) }

    /// Reads all files. Blocks; calls must not overlap.
    ///
    /// - Returns: the keys if one of their files has changed; otherwise `nil`.
    /// - Throws: ``ConfigurationError`` if one can't be used; the previous contents then stay in use.
    func read() throws(ConfigurationError) -> HandleKeys? {
        // Commands read these too. The service warns at its start if this fails.
        if !isEmpty { _ = disableCoreDumps() }
        try tls?.readAgain()
        if let passwordFile {
            let password = try Self.password(passwordFile)
            latest.withLock { $0.password = password }
        }
        var texts: [[UInt8]] = []
        defer { for index in texts.indices { wipe(&texts[index]) } }
        var versions: [SmallFile.Version] = []
        for path in keyFiles {
            let file = try Self.file(path, "key_files")
            texts.append(file.bytes)
            versions.append(file.version)
        }
        guard !texts.isEmpty, versions != latest.withLock(\.keyVersions) else { return nil }
        do throws(HandleKeyError) {
            let keys = try HandleKeys(texts: texts)
            latest.withLock { $0.keyVersions = versions }
            return keys
        } catch {
            let path = error.index.map { keyFiles[$0] + ": " } ?? ""
            throw ConfigurationError(text: "sign_ins.key_files: \(path)\(error.text)")
        }
    }

    /// Reads all files for the first time. Without key files, generates a key.
    ///
    /// - Throws: ``ConfigurationError`` if a file can't be used.
    func readFirst() throws(ConfigurationError) -> HandleKeys {
        if let keys = try read() { return keys }
        do throws(OpenSSLError) {
            return try HandleKeys.made()
        } catch {
            throw ConfigurationError(text: "sign_ins: OpenSSL can't generate a key")
        }
    }

    /// The password, without a trailing line break.
    private static func password(_ path: String) throws(ConfigurationError) -> SecretBytes {
        let password: SecretBytes?
        do throws(SmallFile.Failure) {
            password = try SmallFile.withSecret(path: path, maximumSize: maximumSize) { text, _ in
                SecretBytes(line: text)
            }
        } catch {
            throw ConfigurationError(
                text: "sign_ins.store.password_file: \(path): \(error.text(maximumSize: maximumSize))")
        }
        guard let password else {
            throw ConfigurationError(text: "sign_ins.store.password_file: \(path): the file is empty")
        }
        return password
    }

    private static func file(_ path: String, _ setting: String) throws(ConfigurationError) -> SmallFile {
        do throws(SmallFile.Failure) {
            return try SmallFile(path: path, maximumSize: maximumSize, followingLinks: true)
        } catch {
            throw ConfigurationError(text: "sign_ins.\(setting): \(path): \(error.text(maximumSize: maximumSize))")
        }
    }
}
