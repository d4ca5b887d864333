/// The effective settings, and where each comes from.
///
/// A ``Section`` records each setting that a reader requests, so no second list of settings is needed.
package struct EffectiveSettings: Sendable, Equatable {
    /// In the order in which they were first read.
    package private(set) var all: [Setting] = []
    private var indices: [[String]: Int] = [:]
    /// The lines of settings in a list's elements; the list is recorded as a whole.
    private var elementLines: [[String]: Int] = [:]

    init(_ settings: [Setting] = []) {
        for setting in settings { record(setting) }
    }

    package struct Setting: Sendable, Equatable {
        /// `["providers", "apple", "clock_skew"]`.
        package let path: [String]
        /// `nil` if it is not set and has no default.
        package let value: Value?
        package let origin: Origin
        /// The purpose of the file that it names; `nil` if it names none.
        package let file: NamedFile.Purpose?
    }

    package enum Value: Sendable, Equatable {
        case scalar(String)
        case list([String])
        /// A list with elements other than strings, each in YAML's flow style.
        case flow([String])
    }

    package enum Origin: Sendable, Equatable {
        case line(Int)
        case variable(String)
        case preset(String)
        case `default`
        /// Derived from the process's memory limit, in bytes.
        case memory(Int)
        /// A preset's list, extended by the file or the environment.
        indirect case both(Origin, Origin)
    }

    /// The setting at a path; `nil` if it was not read.
    package subscript(path: [String]) -> Setting? { indices[path].map { all[$0] } }

    /// The text of an effective scalar.
    package func text(_ path: [String]) -> String? {
        if case .scalar(let text)? = self[path]?.value { text } else { nil }
    }

    /// The line of the file that sets a setting; `nil` if it is not set in the file.
    ///
    /// - Parameter path: may lead into an element of a list: `["providers", "apple", "clients", <ID>, "key_file"]`.
    package func line(of path: [String]) -> Int? {
        if case .line(let line)? = self[path]?.origin { line } else { elementLines[path] }
    }

    mutating func remove(where isRemoved: (Setting) -> Bool) {
        all.removeAll(where: isRemoved)
        indices = Dictionary(uniqueKeysWithValues: all.enumerated().map { ($1.path, $0) })
    }

    mutating func recordElementLine(_ path: [String], _ line: Int) { elementLines[path] = line }

    mutating func record(_ setting: Setting) {
        if let index = indices[setting.path] {
            all[index] = setting
        } else {
            indices[setting.path] = all.count
            all.append(setting)
        }
    }
}
