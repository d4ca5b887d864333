import FoundationEssentials
import HTTP
import Keys
import NIOPosix
import Settings

/// A settings file with its contents.
struct SettingsFile: Sendable {
    let path: String
    /// Its contents at the first read.
    let content: Content
    private let environment: [String: String]
    /// Whether it was a regular file at first, rather than a pipe.
    private let isRegular: Bool

    /// The text, or why it can't be read.
    typealias Content = Result<String, ConfigurationError>

    /// Reads the file at a path.
    ///
    /// - Parameter absence: the error if there is no such file; `nil`: that there is none.
    init(path: String, environment: [String: String], ifAbsent absence: ConfigurationError? = nil) {
        self.path = path
        self.environment = environment
        let file = Self.readFile(path, ifAbsent: absence)
        isRegular = file != nil
        content = file ?? Self.content(FileManager.default.contents(atPath: path), path)
    }

    /// The current contents of the file, read on a separate thread because reading may block.
    func readAgain() async -> Content {
        // A pipe can be read only once.
        guard isRegular else { return content }
        let read = try? await NIOThreadPool.singleton.runIfActive { [path] in Self.readFile(path) }
        return read ?? .failure(ConfigurationError("\(path): it is not a regular file, or can't be read now"))
    }

    /// Parses and checks settings, including overrides from the environment.
    ///
    /// - Throws: ``ConfigurationError`` whose text names the file and, for each fault, the line and what was expected.
    func settings(_ content: Content) throws(ConfigurationError) -> Settings {
        try read(content, recording: .allButProviders).settings
    }

    /// The same, with the source of each setting.
    ///
    /// - Parameters:
    ///   - scope: the settings whose values and sources are recorded.
    ///   - check: finds faults of the files that the settings name.
    func read(
        _ content: Content, recording scope: EffectiveSettings.Scope = .everything,
        check: (EffectiveSettings) -> [SettingsFault] = { _ in [] }
    ) throws(ConfigurationError) -> (settings: Settings, effective: EffectiveSettings) {
        let text = try content.get()
        do throws(SettingsError) {
            var (settings, effective) = try Settings.read(
                yaml: text, environment: environment, memory: MemoryLimit.bytes, recording: scope, check: check)
            settings.files.append(NamedFile(setting: nil, .settings, path: path))
            return (settings, effective)
        } catch {
            throw ConfigurationError(error.faults, in: path)
        }
    }

    /// A larger file is not a settings file.
    private static let maximumSize = 4 * 1024 * 1024

    /// The contents of a regular file; `nil` for anything else, which might block.
    private static func readFile(_ path: String, ifAbsent absence: ConfigurationError? = nil) -> Content? {
        do throws(SmallFile.Failure) {
            return content(try SmallFile(path: path, maximumSize: maximumSize, followingLinks: true).bytes, path)
        } catch {
            if error == .notRegular { return nil }
            if error == .notThere, let absence { return .failure(absence) }
            return .failure(ConfigurationError("\(path): \(error.text(maximumSize: maximumSize))"))
        }
    }

    private static func content(_ bytes: (some Sequence<UInt8>)?, _ path: String) -> Content {
        guard let bytes else {
            return .failure(
                ConfigurationError(
                    "\(path): it is a directory, or a pipe that can't be read; give a file. A container engine makes a directory if the file to mount is not on the host"
                ))
        }
        guard let text = String(validating: Array(bytes), as: UTF8.self) else {
            return .failure(ConfigurationError("\(path): the file is not UTF-8"))
        }
        return .success(text)
    }
}

/// The faults of a configuration, as human-readable text.
struct ConfigurationError: Error, Equatable, CustomStringConvertible {
    let text: String
    var description: String { text }

    init(_ text: String) { self.text = text }

    /// - Parameter path: the path of the file.
    init(_ faults: [SettingsFault], in path: String) {
        text =
            faults.count == 1
            ? "\(path): \(faults[0])"
            : "\(path): \(faults.count) errors" + faults.map { "\n  \($0)" }.joined()
    }
}

extension Settings {
    /// Start-up warnings about settings that are allowed but risky, and about files that other users of this machine
    /// can read or write.
    ///
    /// Exposed files are not errors: some platforms mount secrets for everyone in a container.
    var allWarnings: [String] {
        warnings
            + files.flatMap { file in
                FileExposure.of(file.path, isSecret: file.purpose.isSecret).map { exposure in
                    "\(file.setting ?? "the settings"): \(file.path): \(exposure.text)"
                }
            }
    }
}

extension FileExposure {
    /// What is wrong, and what to do.
    fileprivate var text: String {
        switch self {
        case .readable(let mode):
            "other users, or a group that this process is not in, can read it (mode \(String(mode, radix: 8))); give it to Assay's user (chown, chmod 600) or to a group of Assay's own (chgrp, chmod 440), or set defaultMode: 0440 with fsGroup in Kubernetes"
        case .writable(let mode):
            "its group or other users of this machine can change it (mode \(String(mode, radix: 8))); let only its owner write: chmod go-w"
        case .replaceable(let directory, let mode):
            "other users of this machine can replace it, because they can write to \(directory) (mode \(String(mode, radix: 8))); let only the directory's owner write: chmod go-w"
        }
    }
}

extension ProxyEnvironment {
    /// Warnings about what is allowed but risky.
    var warnings: [String] {
        guard credentials != nil, !ListenAddress.network(host: host, port: port).isLocal else { return [] }
        return ["HTTPS_PROXY: the proxy's password is sent without TLS: it can be read on the network"]
    }
}
