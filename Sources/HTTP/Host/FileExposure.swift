package import Glibc

/// What other users of this machine can do with a file. Its owner, root, and its group, if that is one of this process's
/// own, are not others; but a file that only its owner should write is not for its group to write either.
package enum FileExposure: Sendable, Equatable {
    case readable(mode: mode_t)
    case writable(mode: mode_t)
    /// A directory on the way to the file is writable, so they can put another file in its place.
    case replaceable(directory: String, mode: mode_t)

    /// The exposures of a regular file, wherever its symbolic links lead; none if it can't be inspected.
    ///
    /// A directory with the sticky bit, such as `/tmp` or the mount of a Kubernetes Secret, lets nobody replace what
    /// belongs to others.
    ///
    /// - Parameter isSecret: whether others must not read it.
    package static func of(_ path: String, isSecret: Bool) -> [FileExposure] {
        guard let target = resolved(path), let file = status(of: target), file.st_mode & S_IFMT == S_IFREG else {
            return []
        }
        var exposures: [FileExposure] = []
        let isOfOwnGroup = ownGroups.contains(file.st_gid)
        if isSecret, file.st_mode & (isOfOwnGroup ? S_IROTH : S_IRGRP | S_IROTH) != 0 {
            exposures.append(.readable(mode: file.st_mode & 0o777))
        }
        if file.st_mode & (S_IWGRP | S_IWOTH) != 0 { exposures.append(.writable(mode: file.st_mode & 0o777)) }
        // The directories of the links count too: whoever can write there can make them lead elsewhere.
        var directories: [String] = []
        for directory in ancestors(of: path) + ancestors(of: target) where !directories.contains(directory) {
            directories.append(directory)
        }
        for directory in directories {
            guard let status = status(of: directory), status.st_mode & S_ISVTX == 0 else { continue }
            let writers = ownGroups.contains(status.st_gid) ? S_IWOTH : S_IWGRP | S_IWOTH
            if status.st_mode & writers != 0 {
                exposures.append(.replaceable(directory: directory, mode: status.st_mode & 0o777))
            }
        }
        return exposures
    }

    private static let ownGroups: Set<gid_t> = {
        let count = getgroups(0, nil)
        var groups = [gid_t](repeating: getegid(), count: Int(max(count, 0)) + 1)
        _ = unsafe getgroups(count, &groups)
        return Set(groups)
    }()

    private static func status(of path: String) -> stat? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status : nil
    }

    private static func resolved(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// The directories that contain a file, from its own up to the root or, for a relative path, the working directory.
    private static func ancestors(of path: String) -> [String] {
        var parts = path.split(separator: "/").dropLast()
        let root = path.hasPrefix("/") ? "/" : "."
        var directories: [String] = []
        while !parts.isEmpty {
            let directory = parts.joined(separator: "/")
            directories.append(path.hasPrefix("/") ? "/" + directory : directory)
            parts.removeLast()
        }
        return directories + [root]
    }
}
