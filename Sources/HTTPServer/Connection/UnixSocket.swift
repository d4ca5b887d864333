internal import Glibc
internal import NIOCore

/// Unix domain sockets as files. Permissions are set before anyone can connect.
enum UnixSocket {
    /// Binds a socket to a path. Clients cannot connect until the caller listens on it.
    ///
    /// A socket without a listening process is replaced; any other file stays.
    ///
    /// - Returns: the socket's descriptor.
    /// - Throws: ``UnknownGroup``, ``NoSocket``, or `IOError`, with `EADDRINUSE` if a process listens on the path.
    static func bind(path: String, _ permissions: SocketPermissions) throws -> CInt {
        let group = try permissions.groupID()
        let address = try SocketAddress(unixDomainSocketPath: path)
        try makeWay(at: path, address)
        let descriptor = try open()
        do {
            try check(unsafe address.withSockAddr { unsafe Glibc.bind(descriptor, $0, socklen_t($1)) }, "bind")
            do {
                if let group { try check(unsafe lchown(path, uid_t.max, group), "lchown") }
                try check(unsafe chmod(path, permissions.mode), "chmod")
            } catch {
                unsafe unlink(path)
                throw error
            }
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Removes a socket on which no process listens.
    private static func makeWay(at path: String, _ address: SocketAddress) throws {
        var status = stat()
        // Other errors will also make `bind` fail, with a better reason.
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw NoSocket() }
        let descriptor = try open()
        defer { close(descriptor) }
        let outcome = unsafe address.withSockAddr { unsafe connect(descriptor, $0, socklen_t($1)) }
        // Only ECONNREFUSED proves that there is no listener. Otherwise its queue may be full, or permission missing.
        guard outcome != 0, errno == ECONNREFUSED else { throw IOError(errnoCode: EADDRINUSE, reason: "connect") }
        try check(unsafe unlink(path), "unlink")
    }

    private static func open() throws -> CInt {
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        return try check(socket(AF_UNIX, kind, 0), "socket")
    }

    @discardableResult
    private static func check(_ result: CInt, _ call: String) throws -> CInt {
        guard result >= 0 else { throw IOError(errnoCode: errno, reason: call) }
        return result
    }
}

/// A file at the socket's path that is not a socket and that we must not remove.
struct NoSocket: Error, CustomStringConvertible {
    let description = "the path exists, but is not a socket; remove it, or choose another path"
}
