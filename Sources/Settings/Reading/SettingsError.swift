/// Everything that is wrong with the settings.
package struct SettingsError: Error, Equatable, CustomStringConvertible {
    /// At least one: what the file says wrongly, by line; then environment variables; then what is missing.
    package let faults: [SettingsFault]

    init(_ faults: [SettingsFault]) { self.faults = faults }

    package var description: String { faults.map(\.description).joined(separator: "\n") }
}

/// One thing that is wrong with the settings, and where.
package struct SettingsFault: Equatable, CustomStringConvertible, Sendable {
    /// The line of the file, counted from 1; `nil` where an environment variable or the whole file is at fault.
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
