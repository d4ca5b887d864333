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
