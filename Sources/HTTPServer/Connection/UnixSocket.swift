internal import Glibc
internal import NIOCore

/// Unix domain sockets as files: who may connect is settled before anybody can.
enum UnixSocket {
    /// Binds a socket to a path. Nobody can connect before it is listened on, which is the caller's to do.
    ///
    /// A socket that no process listens on any more gives way to the new one; anything else stays.
    ///
    /// - Returns: the socket's descriptor.
    /// - Throws: ``UnknownGroup``, ``NoSocket``, or `IOError`, with `EADDRINUSE` where a process listens there.
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

    /// Removes a socket that nobody listens on.
    private static func makeWay(at path: String, _ address: SocketAddress) throws {
        var status = stat()
        // Whatever else keeps us from seeing it will keep us from binding, with a better reason.
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw NoSocket() }
        let descriptor = try open()
        defer { close(descriptor) }
        let outcome = unsafe address.withSockAddr { unsafe connect(descriptor, $0, socklen_t($1)) }
        // Only this says that there is no listener; a full queue, or a socket that we may not use, has one.
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

/// There is something at a socket's path that is no socket, and that is not ours to remove.
struct NoSocket: Error, CustomStringConvertible {
    let description = "there is something at this path that is no socket; remove it, or choose another path"
}
