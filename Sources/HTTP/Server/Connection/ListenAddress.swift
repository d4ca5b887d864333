internal import Glibc
internal import NIOCore

/// The address of a listener.
package enum ListenAddress: Sendable, Equatable {
    case network(host: String, port: Int)
    case unixSocket(path: String, SocketPermissions = SocketPermissions())

    /// As written in the settings.
    package var text: String {
        switch self {
        case .network(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unixSocket(let path, _): "unix:\(path)"
        }
    }
}

/// Why an address can't be used, with a human-readable description.
package struct ListenError: Error, CustomStringConvertible {
    package let description: String

    init(_ address: ListenAddress, _ error: any Error) {
        let reason =
            switch (error as? IOError)?.errnoCode {
            case EADDRINUSE: "the address is in use; stop the process that listens there, or choose another address"
            case EACCES, EPERM: "permission denied"
            case EADDRNOTAVAIL: "this machine has no such address"
            default: "\(error)"
            }
        description = "can't listen on \(address.text): \(reason)"
    }
}

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

/// Access to a Unix domain socket: the mode and the group of its file.
package struct SocketPermissions: Sendable, Equatable {
    /// Connecting requires write permission.
    package let mode: UInt32
    /// A name or a number; `nil` for the group that the system assigns.
    package let group: String?

    /// - Parameter mode: by default, only the user of this process may connect.
    package init(mode: UInt32 = 0o600, group: String? = nil) {
        self.mode = mode
        self.group = group
    }

    /// The group's number.
    ///
    /// - Throws: ``UnknownGroup``.
    func groupID() throws(UnknownGroup) -> gid_t? {
        guard let group else { return nil }
        if let number = gid_t(group) { return number }
        var entry = unsafe Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        // The system reads a group's members together with its number.
        var memory = [CChar](repeating: 0, count: 256 * 1024)
        guard unsafe getgrnam_r(group, &entry, &memory, memory.count, &found) == 0, unsafe found != nil else {
            throw UnknownGroup(name: group)
        }
        return unsafe entry.gr_gid
    }

    /// Checks that the group exists on this machine.
    ///
    /// - Throws: ``UnknownGroup``.
    package func check() throws(UnknownGroup) { _ = try groupID() }
}

/// A group that does not exist on this machine.
package struct UnknownGroup: Error, CustomStringConvertible {
    let name: String
    package var description: String { "this machine has no group \(name); create it, or use a group ID" }
}
