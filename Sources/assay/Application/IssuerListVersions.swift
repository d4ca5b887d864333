import HTTP
import Settings

/// The versions of the files with lists of issuers that the settings name.
///
/// The version of the file that a link leads to: Kubernetes replaces the link to the directory of a mounted file.
struct IssuerListVersions: Equatable, Sendable {
    private let versions: [String: SmallFile.Version?]

    /// Those with which the settings were read.
    init(readBy settings: Settings) {
        let files = settings.providers.compactMap(\.issuersFile)
        versions = Dictionary(files.map { ($0.path, $0.version) }, uniquingKeysWith: { $1 })
    }

    /// Those of the files now.
    private init(paths: some Sequence<String>) {
        versions = Dictionary(paths.map { ($0, SmallFile.version(atPath: $0)) }, uniquingKeysWith: { $1 })
    }

    /// Those of the same files now. Blocks.
    var current: IssuerListVersions { IssuerListVersions(paths: versions.keys) }
}
