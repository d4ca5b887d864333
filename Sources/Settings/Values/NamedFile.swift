package import HTTP
private import OpenSSL

/// A file that the settings depend on.
package struct NamedFile: Sendable, Equatable {
    /// The setting that names it, for people; `nil`: it is the settings file itself.
    package let setting: String?
    package let purpose: Purpose
    package let path: String

    package init(setting: String?, _ purpose: Purpose, path: String) {
        self.setting = setting
        self.purpose = purpose
        self.path = path
    }

    package enum Purpose: Sendable {
        case settings, certificate, privateKey, authorities, keySet, headers, secret, issuers

        /// Whether others must not read the file. Nobody else may write any: each decides whom Assay trusts, or as whom
        /// it acts.
        package var isSecret: Bool {
            switch self {
            case .privateKey, .headers, .secret: true
            case .settings, .certificate, .authorities, .keySet, .issuers: false
            }
        }
    }

    /// The name of a setting in messages about its file.
    package static func name(ofSetting path: [String]) -> String {
        path.first == "providers" && path.count > 2
            ? "provider \(path[1]): \(path.dropFirst(2).joined(separator: "."))" : path.joined(separator: ".")
    }
}

/// Digests of API keys that are no secrets.
enum GuessableKeys {
    /// The digest of the empty key, which a script makes if its variable is not set.
    static let empty = digest("")

    /// The digests of the keys that people choose while they try something, and attackers try first.
    static let digests = Set(
        [
            "test", "secret", "password", "admin", "key", "apikey", "api-key", "api_key", "token", "changeme",
            "change-me", "default", "example", "assay", "dev", "demo", "letmein", "qwerty", "123456", "12345678",
        ].compactMap(digest))

    /// - Returns: `nil` if OpenSSL is out of memory.
    private static func digest(_ key: String) -> [UInt8]? {
        try? DigestContext().digest(Array(key.utf8).span, with: .sha256)
    }
}

/// Detects when a polled file has changed, once the change is stable.
///
/// Compares the content rather than the file: Kubernetes swaps a symbolic link to the directory of a mounted file, and
/// editors write a new file and rename it. A file written in place may be observed half-written, and half a YAML file
/// may well be valid. So a change counts only after it has remained the same for a while.
package struct FileChangeDebouncer<Content: Equatable & Sendable>: Sendable {
    private var read: Content
    private var change: (content: Content, seenAt: MonotonicTime)?
    private let rest: Interval

    /// - Parameters:
    ///   - read: the content that was last used.
    ///   - rest: how long a change must have been stable.
    package init(read: Content, rest: Interval) {
        self.read = read
        self.rest = rest
    }

    /// Records the current content.
    ///
    /// - Returns: whether to use it: it differs from the content last used, and is stable.
    package mutating func observe(_ content: Content, at now: MonotonicTime) -> Bool {
        guard content != read else {
            change = nil
            return false
        }
        guard let change, change.content == content else {
            change = (content, now)
            return false
        }
        return now - change.seenAt >= rest
    }

    /// Records the content that was used, whether or not it was observed before.
    package mutating func didRead(_ content: Content) {
        read = content
        change = nil
    }
}
