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
        case settings, certificate, privateKey, authorities, keySet, headers, secret

        /// Whether others must not read the file. Nobody else may write any: each decides whom Assay trusts, or as whom
        /// it acts.
        package var isSecret: Bool {
            switch self {
            case .privateKey, .headers, .secret: true
            case .settings, .certificate, .authorities, .keySet: false
            }
        }
    }

    /// The name of a setting in messages about its file.
    package static func name(ofSetting path: [String]) -> String {
        path.first == "providers" && path.count > 2
            ? "provider \(path[1]): \(path.dropFirst(2).joined(separator: "."))" : path.joined(separator: ".")
    }
}
