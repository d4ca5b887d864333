package import Glibc

/// A small regular file, read as a whole.
package struct SmallFile {
    package fileprivate(set) var bytes: [UInt8]
    /// Changes when the file is modified or replaced.
    package let version: Version
    package let owner: uid_t
    package let mode: mode_t

    package struct Version: Equatable, Sendable {
        let device: dev_t
        let inode: ino_t
        let size: Int
        /// The change time, not the modification time, which tools set back when they copy.
        let changedSeconds, changedNanoseconds: Int

        fileprivate init(_ status: stat) {
            device = status.st_dev
            inode = status.st_ino
            size = Int(status.st_size)
            changedSeconds = status.st_ctim.tv_sec
            changedNanoseconds = status.st_ctim.tv_nsec
        }
    }

    package enum Failure: Error, Equatable {
        case notThere
        /// The associated value is the system's error number.
        case notOpened(Int32)
        case notRegular, tooLarge
        case notRead(Int32)

        /// A human-readable description.
        package func text(maximumSize: Int) -> String {
            switch self {
            case .notThere: "there is no such file"
            case .notOpened(EACCES):
                "the file can't be read: Permission denied; let user \(geteuid()) read it, and search (x) the directories of its path"
            case .notOpened(let code), .notRead(let code):
                "the file can't be read: \(unsafe String(cString: strerror(code)))"
            case .notRegular: "it is not a regular file"
            case .tooLarge: "the file is larger than \(maximumSize) bytes"
            }
        }
    }

    /// Reads the file at a path.
    package init(path: String, maximumSize: Int, followingLinks: Bool) throws(Failure) {
        // O_NONBLOCK: opening a named pipe in the file's place must not block.
        let flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | (followingLinks ? 0 : O_NOFOLLOW)
        let file = unsafe open(path, flags)
        guard file >= 0 else { throw errno == ENOENT ? .notThere : .notOpened(errno) }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw .notRead(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        guard status.st_size <= maximumSize else { throw .tooLarge }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        guard unsafe read(file, &bytes, bytes.count) == bytes.count else { throw .notRead(errno) }
        self.bytes = bytes
        version = Version(status)
        owner = status.st_uid
        mode = status.st_mode
    }

    /// The version of the file at a path, without reading it; `nil` if there is none or it is not accessible.
    package static func version(atPath path: String) -> Version? { status(of: path).map(Version.init) }
}

private func status(of path: String) -> stat? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status : nil
}

extension SmallFile {
    /// Calls `body` with the contents of a file that contains a secret, and overwrites them afterwards.
    ///
    /// - Parameter maximumSize: in bytes.
    package static func withSecret<Result>(
        path: String, maximumSize: Int, _ body: (Span<UInt8>, Version) -> Result
    ) throws(Failure) -> Result {
        var file = try SmallFile(path: path, maximumSize: maximumSize, followingLinks: true)
        defer {
            unsafe file.bytes.withUnsafeMutableBytes { bytes in
                if let start = bytes.baseAddress { unsafe explicit_bzero(start, bytes.count) }
            }
        }
        return body(file.bytes.span, file.version)
    }
}

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
        guard let (directories, target) = lookups(of: path), let file = status(of: target),
            file.st_mode & S_IFMT == S_IFREG
        else { return [] }
        var exposures: [FileExposure] = []
        let isOfOwnGroup = ownGroups.contains(file.st_gid)
        if isSecret, file.st_mode & (isOfOwnGroup ? S_IROTH : S_IRGRP | S_IROTH) != 0 {
            exposures.append(.readable(mode: file.st_mode & 0o777))
        }
        if file.st_mode & (S_IWGRP | S_IWOTH) != 0 { exposures.append(.writable(mode: file.st_mode & 0o777)) }
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

    /// Every directory in which a name on the way to the file is looked up (path_resolution(7)), and the file itself.
    /// Users who can write to one of these directories can make the path lead elsewhere.
    ///
    /// - Returns: `nil` if the path leads to no file, or through more links than Linux follows.
    private static func lookups(of path: String) -> (directories: [String], target: String)? {
        var names = Array(path.split(separator: "/").reversed())
        var directory = path.hasPrefix("/") ? "/" : "."
        var directories = [directory]
        var links = 0
        while let name = names.popLast() {
            if name == "." { continue }
            let next = directory == "/" ? "/\(name)" : "\(directory)/\(name)"
            if let destination = destination(ofLink: next) {
                links += 1
                guard links <= 40 else { return nil }
                names += destination.split(separator: "/").reversed()
                if destination.hasPrefix("/") { directory = "/" }
            } else if names.isEmpty {
                return (directories, next)
            } else {
                directory = next
            }
            if !directories.contains(directory) { directories.append(directory) }
        }
        return nil
    }

    private static func destination(ofLink path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }
}
