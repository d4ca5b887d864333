/// The settings in effect, and where each comes from.
///
/// A ``Section`` records each setting that a reader asks it for, so that no second list of settings is kept.
package struct EffectiveSettings: Sendable, Equatable {
    /// In the order in which they were read first.
    package private(set) var all: [Setting] = []
    private var indices: [[String]: Int] = [:]

    init(_ settings: [Setting] = []) {
        for setting in settings { record(setting) }
    }

    package struct Setting: Sendable, Equatable {
        /// `["providers", "apple", "clock_skew"]`.
        package let path: [String]
        /// `nil`: it is not set, and has no default.
        package let value: Value?
        package let origin: Origin
        /// The purpose of the file that it names; `nil`: it names none.
        package let file: NamedFile?
    }

    package enum Value: Sendable, Equatable {
        case scalar(String)
        case list([String])
        /// A list of more than texts, each in YAML's flow style.
        case flow([String])
    }

    package enum Origin: Sendable, Equatable {
        case line(Int)
        case variable(String)
        case preset(String)
        case `default`
        /// Derived from the memory that the process may take, in bytes.
        case memory(Int)
        /// A preset's list that the file or the environment adds to.
        indirect case both(Origin, Origin)
    }

    /// The setting at a path; `nil`: it was not asked for.
    package subscript(path: [String]) -> Setting? { indices[path].map { all[$0] } }

    /// The text of a scalar that is in effect.
    package func text(_ path: [String]) -> String? {
        if case .scalar(let text)? = self[path]?.value { text } else { nil }
    }

    /// The line of the file that sets a setting; `nil` where something else does.
    package func line(of path: [String]) -> Int? {
        if case .line(let line)? = self[path]?.origin { line } else { nil }
    }

    mutating func record(_ setting: Setting) {
        if let index = indices[setting.path] {
            all[index] = setting
        } else {
            indices[setting.path] = all.count
            all.append(setting)
        }
    }
}
