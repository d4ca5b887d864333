import HTTP
import OpenSSL
import Settings
import SignIns
import Synchronization

/// The files of sign-ins and of DPoP proofs: the keys that encrypt handles and make nonces, and the stores' passwords and
/// TLS files.
final class SignInFiles: Sendable {
    private let keyFiles: [String]
    let store: StoreFiles
    let proofStore: StoreFiles
    /// Those of the last valid keys.
    private let keyVersions = Mutex<[SmallFile.Version]>([])

    fileprivate static let maximumSize = 4096

    /// - Throws: ``ConfigurationError`` if a TLS file can't be used.
    init(_ settings: Settings) throws(ConfigurationError) {
        keyFiles = settings.signIns?.keyFiles ?? []
        store = try StoreFiles(settings.store, "sign_ins.store")
        proofStore = try StoreFiles(settings.proofStore, "dpop.store")
    }

    /// The keys alone.
    convenience init(keyFiles: [String]) throws(ConfigurationError) {
        var settings = Settings()
        settings.signIns = Settings.SignIns()
        settings.signIns?.keyFiles = keyFiles
        try self.init(settings)
    }

    var isEmpty: Bool { keyFiles.isEmpty && store.isEmpty && proofStore.isEmpty }

    /// Reads all files. Blocks; calls must not overlap.
    ///
    /// - Returns: the keys if one of their files has changed; otherwise `nil`.
    /// - Throws: ``ConfigurationError`` if one can't be used; the previous contents then stay in use.
    func read() throws(ConfigurationError) -> HandleKeys? {
        // Commands read these too. The service warns at its start if this fails.
        if !isEmpty { _ = disableCoreDumps() }
        try store.readAgain()
        try proofStore.readAgain()
        var texts: [[UInt8]] = []
        defer { for index in texts.indices { wipe(&texts[index]) } }
        var versions: [SmallFile.Version] = []
        for path in keyFiles {
            let file = try Self.file(path, "key_files")
            texts.append(file.bytes)
            versions.append(file.version)
        }
        guard !texts.isEmpty, versions != keyVersions.withLock(\.self) else { return nil }
        do throws(HandleKeyError) {
            let keys = try HandleKeys(texts: texts)
            keyVersions.withLock { $0 = versions }
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

    private static func file(_ path: String, _ setting: String) throws(ConfigurationError) -> SmallFile {
        do throws(SmallFile.Failure) {
            return try SmallFile(path: path, maximumSize: maximumSize, followingLinks: true)
        } catch {
            throw ConfigurationError(text: "sign_ins.\(setting): \(path): \(error.text(maximumSize: maximumSize))")
        }
    }
}

/// The files of one store.
final class StoreFiles: Sendable {
    /// The path of the store's settings.
    let setting: String
    private let passwordFile: String?
    /// `nil`: connections to the store don't use TLS.
    let tls: StoreTLS?
    private let latest = Mutex<SecretBytes?>(nil)

    /// - Throws: ``ConfigurationError`` if a TLS file can't be used.
    init(_ settings: Settings.SignIns.Store, _ setting: String) throws(ConfigurationError) {
        self.setting = setting
        passwordFile = settings.passwordFile
        tls = if case .server(_, _, _, isTLS: true) = settings.url { try StoreTLS(settings, setting) } else { nil }
    }

    var isEmpty: Bool { passwordFile == nil && tls == nil }

    /// The password as last read; `nil`: none is needed.
    var password: SecretBytes? { latest.withLock(\.self) }

    /// Reads all files. Blocks.
    ///
    /// - Throws: ``ConfigurationError`` if one can't be used; the previous contents then stay in use.
    func readAgain() throws(ConfigurationError) {
        try tls?.readAgain()
        guard let passwordFile else { return }
        let password = try read(passwordFile)
        latest.withLock { $0 = password }
    }

    /// The password, without a trailing line break.
    private func read(_ path: String) throws(ConfigurationError) -> SecretBytes {
        let size = SignInFiles.maximumSize
        let password: SecretBytes?
        do throws(SmallFile.Failure) {
            password = try SmallFile.withSecret(path: path, maximumSize: size) { text, _ in SecretBytes(line: text) }
        } catch {
            throw ConfigurationError(text: "\(setting).password_file: \(path): \(error.text(maximumSize: size))")
        }
        guard let password else {
            throw ConfigurationError(text: "\(setting).password_file: \(path): the file is empty")
        }
        return password
    }
}
