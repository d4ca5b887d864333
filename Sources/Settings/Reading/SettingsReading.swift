/// The state of reading the settings: the environment, the errors so far, and the origin of each effective setting.
///
/// Every ``Section`` of a file shares it. Readers continue after an error, so that all errors are reported at once.
final class SettingsReading {
    let variables: EnvironmentVariables
    private(set) var effective = EffectiveSettings()
    private let scope: EffectiveSettings.Scope
    /// The files that the settings name, in the order in which they were read.
    var files: [NamedFile] = []
    private var faults: [(rank: Rank, fault: SettingsFault)] = []
    private var faultyPaths: [[String]] = []
    /// Settings that are removed from the effective ones at the end, all at once: there may be thousands of sections.
    private var forgotten: Set<[String]> = []
    /// The lines of the file with references to environment variables.
    private var linesWithReferences: Set<Int> = []

    /// The order in which errors are reported.
    private enum Rank: Int { case file, environment, missing }

    init(environment: [String: String], recording scope: EffectiveSettings.Scope = .everything) {
        self.scope = scope
        variables = EnvironmentVariables(environment)
    }

    /// Reports an error in the file or the environment.
    ///
    /// - Parameters:
    ///   - path: the setting with the error; `nil` if it is not a single one.
    ///   - line: `nil` for an environment variable.
    func report(_ path: [String]?, line: Int?, _ message: String) {
        add(line == nil ? .environment : .file, path, line, message)
    }

    /// Reports references to environment variables in the file's values. Later errors on their lines follow from them,
    /// and are not reported.
    func refuseVariableReferences(in root: YAMLNode) {
        let references = root.variableReferences
        for (line, refusal) in references { report(nil, line: line, refusal) }
        linesWithReferences = Set(references.map(\.line))
    }

    /// Reports that a setting is missing.
    ///
    /// - Parameter line: the first line of its section.
    func reportMissing(_ path: [String], line: Int?, _ message: String) { add(.missing, path, line, message) }

    /// Reports an error in a file that a setting names.
    func report(_ fault: SettingsFault) { report(nil, line: fault.line, fault.message) }

    private func add(_ rank: Rank, _ path: [String]?, _ line: Int?, _ message: String) {
        let fault = SettingsFault(line: line, message: message)
        if let path { faultyPaths.append(path) }
        if rank == .file, let line, linesWithReferences.contains(line) { return }
        guard !faults.contains(where: { $0.fault == fault }) else { return }
        faults.append((rank, fault))
    }

    /// Whether an error was reported for a setting or anything in it. Its value must then be ignored.
    func isFaulty(_ path: [String]) -> Bool {
        faultyPaths.contains { $0.starts(with: path) }
    }

    /// Whether the effective values of a section are recorded.
    func records(_ section: [String]) -> Bool { scope == .everything || section.first != "providers" }

    /// Records the effective value of a setting, if its section's are.
    ///
    /// - Parameter file: the purpose of the file that it names.
    func record(
        _ path: [String], _ value: EffectiveSettings.Value?, _ origin: EffectiveSettings.Origin,
        file: NamedFile.Purpose? = nil
    ) {
        guard records(path) else { return }
        effective.record(EffectiveSettings.Setting(path: path, value: value, origin: origin, file: file))
    }

    /// Removes a section's members from the effective settings, because they don't apply and can't be set.
    func forget(_ names: [String], of path: [String]) { for name in names { forgotten.insert(path + [name]) } }

    /// Removes what was forgotten from the effective settings.
    func dropForgotten() {
        guard !forgotten.isEmpty else { return }
        effective.remove { [forgotten] setting in
            setting.path.indices.contains { forgotten.contains(Array(setting.path[...$0])) }
        }
    }

    /// Records the line of a setting in an element of a list.
    func recordElementLine(_ path: [String], _ line: Int) { effective.recordElementLine(path, line) }

    /// Ends the reading.
    ///
    /// - Returns: the effective settings with their origins.
    /// - Throws: ``SettingsError`` if there are errors.
    func finish() throws(SettingsError) -> EffectiveSettings {
        for message in variables.unknown() { report(nil, line: nil, message) }
        guard !faults.isEmpty else { return effective }
        // A stable sort: errors on one line stay in reading order.
        let ordered = faults.enumerated().sorted { one, other in
            (one.element.rank.rawValue, one.element.fault.line ?? 0, one.offset)
                < (other.element.rank.rawValue, other.element.fault.line ?? 0, other.offset)
        }
        throw SettingsError(ordered.map(\.element.fault))
    }
}

extension Settings {
    /// Reads the text of a settings file, with overrides from the environment.
    ///
    /// - Parameter memory: the process's memory limit in bytes, from which unset limits are derived; `nil`: no limit.
    /// - Throws: ``SettingsError`` with all errors.
    package init(
        yaml: String, environment: [String: String] = [:], memory: Int? = nil
    ) throws(SettingsError) {
        (self, _) = try Self.read(yaml: yaml, environment: environment, memory: memory)
    }

    /// Reads the text of a settings file, with overrides from the environment, and records the origin of each setting.
    ///
    /// - Parameters:
    ///   - scope: the settings whose values and origins are recorded.
    ///   - check: checks the files that the settings name. It runs even if there are other errors.
    /// - Throws: ``SettingsError`` with all errors.
    package static func read(
        yaml: String, environment: [String: String] = [:], memory: Int? = nil,
        recording scope: EffectiveSettings.Scope = .everything,
        check: (EffectiveSettings) -> [SettingsFault] = { _ in [] }
    ) throws(SettingsError) -> (settings: Settings, effective: EffectiveSettings) {
        let root: YAMLNode?
        do throws(YAMLError) {
            root = try YAMLReader.read(yaml)
        } catch {
            // A brace of a reference is often what is not YAML.
            let line = yaml.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(error.line - 1).first
            let reference = line.flatMap(VariableReference.refusal).map { "; \($0)" } ?? ""
            throw SettingsError([SettingsFault(line: error.line, message: error.description + reference)])
        }
        let reading = SettingsReading(environment: environment, recording: scope)
        let settings = Settings(root, memory: memory, reading)
        for fault in check(reading.effective) { reading.report(fault) }
        return (settings, try reading.finish())
    }

    /// The origin of each setting of a file, even if some have errors.
    static func effective(_ yaml: String) -> EffectiveSettings {
        let reading = SettingsReading(environment: [:])
        if let root = try? YAMLReader.read(yaml) { _ = Settings(root, memory: nil, reading) }
        return reading.effective
    }

    private init(_ root: YAMLNode?, memory: Int?, _ reading: SettingsReading) {
        if let root { reading.refuseVariableReferences(in: root) }
        let top = Section(root, path: [], reading)
        // If the document is not a mapping, don't also report missing members.
        if !reading.isFaulty([]) {
            for member in Self.members { member.read(top, &self, nil) }
            top.finish()
        }
        fitLimits(to: memory, reading)
        reading.dropForgotten()
        serviceLinks = reading.variables.serviceLinks
        files = reading.files
    }
}

/// All errors in the settings.
package struct SettingsError: Error, Equatable, CustomStringConvertible {
    /// At least one. Errors in the file come first, by line; then environment variables; then missing settings.
    package let faults: [SettingsFault]

    init(_ faults: [SettingsFault]) { self.faults = faults }

    package var description: String { faults.map(\.description).joined(separator: "\n") }
}

/// One error in the settings, and its location.
package struct SettingsFault: Equatable, CustomStringConvertible, Sendable {
    /// The line of the file, from 1; `nil` for an error in an environment variable or in the file as a whole.
    package let line: Int?
    package let message: String

    package init(line: Int?, message: String) {
        self.line = line
        self.message = message
    }

    package var description: String {
        line.map { "line \($0): \(message)" } ?? message
    }
}

/// Describes invalid values for errors.
enum ErrorValueText {
    private static let maximumLength = 100

    /// A string in quotes. Control characters are escaped, credentials in URLs are masked, and long strings are
    /// truncated.
    static func quoted(_ text: String) -> String {
        let masked = maskingCredentials(text).unicodeScalars
        let shown = String(masked.prefix(maximumLength)).quoted { scalar in
            [.control, .format].contains(scalar.properties.generalCategory)
                ? "\\u{\(String(scalar.value, radix: 16))}" : nil
        }
        return shown + (masked.count > maximumLength ? "…" : "")
    }

    /// A short description of a node.
    ///
    /// - Parameter isSecret: whether its value must not be shown.
    static func of(_ node: YAMLNode, isSecret: Bool = false) -> String {
        switch node.content {
        case .scalar where node.isNull: "null"
        case .scalar(let scalar): of(scalar.string, isSecret: isSecret)
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }

    static func of(_ text: String, isSecret: Bool = false) -> String {
        if text.isEmpty { return "an empty string" }
        return isSecret ? "a string of \(text.count) characters" : quoted(text)
    }

    /// `https://user:password@host/` becomes `https://***@host/`.
    static func maskingCredentials(_ text: String) -> String {
        guard let credentials = credentials(in: text) else { return text }
        return text[..<credentials.lowerBound] + "***" + text[credentials.upperBound...]
    }

    /// The place of a user name or password in a URL.
    ///
    /// A password that is not percent-encoded may contain characters that end the authority. So an `@` after it counts
    /// too, unless this is an `http` URL whose authority is complete.
    static func credentials(in text: String) -> Range<String.Index>? {
        guard let scheme = text.firstRange(of: "://") else { return nil }
        let rest = text[scheme.upperBound...]
        let authority = rest.prefix { !"/?#".contains($0) }
        let port = authority.firstIndex(of: ":").map { authority[authority.index(after: $0)...] } ?? ""
        let isComplete = text.hasPrefix("http") && port.allSatisfy(\.isNumber)
        guard let at = authority.lastIndex(of: "@") ?? (isComplete ? nil : rest.lastIndex(of: "@")) else { return nil }
        return scheme.upperBound..<at
    }
}
