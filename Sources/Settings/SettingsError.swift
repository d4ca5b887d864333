/// What is wrong with the settings, and where.
package struct SettingsError: Error, Equatable, CustomStringConvertible {
    /// The line of the file, counted from 1; `nil` where an environment variable or the whole file is at fault.
    package let line: Int?
    package let message: String

    package var description: String {
        line.map { "line \($0): \(message)" } ?? message
    }
}
