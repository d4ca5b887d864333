import FoundationEssentials
import NIOPosix
import Settings

/// A settings file, and what was in it when it was read.
struct SettingsFile: Sendable {
    let path: String
    /// As it was read first.
    let content: Content
    private let environment: [String: String]

    /// The text, or why there is none.
    typealias Content = Result<String, ConfigurationError>

    /// Reads the file at a path.
    init(path: String, environment: [String: String]) {
        self.path = path
        self.environment = environment
        content = Self.read(path)
    }

    /// What is in the file now. Reading may block, so it does on a thread of its own.
    func readAgain() async -> Content {
        let read = try? await NIOThreadPool.singleton.runIfActive { [path] in Self.read(path) }
        return read ?? .failure(ConfigurationError(text: "\(path): it can't be read now"))
    }

    /// The settings of a text, checked, with the environment's overrides.
    ///
    /// - Throws: ``ConfigurationError`` whose text names the file, the line, and what was expected.
    func settings(_ content: Content) throws(ConfigurationError) -> Settings {
        let text = try content.get()
        do throws(SettingsError) {
            return try Settings(yaml: text, environment: environment)
        } catch {
            throw ConfigurationError(text: "\(path): \(error)")
        }
    }

    private static func read(_ path: String) -> Content {
        guard let data = FileManager.default.contents(atPath: path) else {
            return .failure(ConfigurationError(text: "\(path): there is no such file, or it can't be read"))
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            return .failure(ConfigurationError(text: "\(path): the file is not UTF-8"))
        }
        return .success(text)
    }
}

/// What is wrong with a configuration, for people to read.
struct ConfigurationError: Error, Equatable, CustomStringConvertible {
    let text: String
    var description: String { text }
}
