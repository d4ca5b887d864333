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
        let changed: (seconds: Int, nanoseconds: Int)

        fileprivate init(_ status: stat) {
            device = status.st_dev
            inode = status.st_ino
            size = Int(status.st_size)
            changed = (status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
        }

        package static func == (left: Version, right: Version) -> Bool {
            left.device == right.device && left.inode == right.inode && left.size == right.size
                && left.changed == right.changed
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
            case .notOpened(let code), .notRead(let code):
                "the file can't be read: \(unsafe String(cString: strerror(code)))"
            case .notRegular: "it is not a regular file"
            case .tooLarge: "the file is larger than \(maximumSize) bytes"
            }
        }
    }

    /// Reads the file at a path.
    ///
    /// - Throws: ``Failure``.
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
    package static func version(atPath path: String) -> Version? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Version(status) : nil
    }
}

extension SmallFile {
    /// Calls `body` with the contents of a file that contains a secret, and overwrites them afterwards.
    ///
    /// - Parameter maximumSize: in bytes.
    /// - Throws: ``Failure``.
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
