internal import Glibc
package import NIOCore
package import NIOPosix

/// A bound listener: accepts connections, and passes their requests to the responder of their event loop.
package final class HTTPListener: Sendable {
    private let channel: any Channel
    private let resources: PerLoop<LoopResources>
    private let counts: ListenerCounts

    /// The address on which it listens, with the port that the system chose if 0 was configured.
    package let address: String

    /// Binds and starts to accept connections.
    ///
    /// - Parameters:
    ///   - acceptor: the loop that accepts connections for the group's loops. If it has no other work, it accepts them
    ///     at once, even if the group's loops are busy.
    ///   - tls: the TLS configuration; `nil` for plain HTTP.
    ///   - makeResponder: called once on each event loop of the group.
    ///   - unixSeconds: the wall clock, for the header field `Date`.
    /// - Throws: ``ListenError`` if the address can't be bound.
    package static func bind(
        _ address: ListenAddress, tls: ListenerTLS? = nil, on group: MultiThreadedEventLoopGroup,
        acceptor: any EventLoop, limits: ListenerLimits, unixSeconds: @escaping @Sendable () -> Int64,
        makeResponder: @escaping @Sendable (any EventLoop) -> any HTTPResponder
    ) async throws -> HTTPListener {
        let counts = ListenerCounts(limits: limits)
        let resources = try await PerLoop(on: group) { loop in
            LoopResources(
                responder: makeResponder(loop),
                table: ConnectionTable(on: loop, counts: counts, unixSeconds: unixSeconds),
                batcher: ResponseBatcher(on: loop, microseconds: SystemClocks.monotonicMicroseconds),
                executor: LoopExecutor(loop))
        }
        let bootstrap = ServerBootstrap(group: acceptor, childGroup: group)
            // Many clients may connect at once after a restart. They must not overflow the queue, and NIO's default
            // would accept only four of them per turn of the loop.
            .serverChannelOption(.backlog, value: backlog)
            .serverChannelOption(.maxMessagesPerRead, value: 64)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // If file descriptors run out, accepting would otherwise fail in a tight loop.
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        AcceptBackoffHandler(shouldForwardIOErrorCaught: false) { _ in .milliseconds(100) })
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            // One read at a time, into a buffer that is kept only if it is small.
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.recvAllocator, value: ReceiveBuffers())
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let own = resources[channel.eventLoop]
                    let connection = HTTPConnection(
                        responder: own.responder, table: own.table, batcher: own.batcher,
                        executor: own.executor, counts: counts, limits: limits, isEncrypted: tls != nil)
                    if let tls {
                        let (handler, handshake) = tls.makeHandlers(handshakeWithin: limits.requestTimeoutSeconds)
                        try channel.pipeline.syncOperations.addHandlers(handler, handshake)
                    }
                    try channel.pipeline.syncOperations.addHandler(connection)
                }
            }
        let channel: any Channel
        var bound = address
        // Otherwise the kernel grows buffers to megabytes.
        let buffer = SocketOptionValue(limits.socketBuffer)
        do {
            switch address {
            case .network(let host, let port):
                // Set on the listening socket, because connections inherit the sizes. A receive buffer that shrinks
                // after the handshake is smaller than the window advertised to the client. On loopback, segments are as
                // long as that window, and each would stall for 200 ms.
                let sized = bootstrap.serverChannelOption(.socketOption(.so_sndbuf), value: buffer)
                    .serverChannelOption(.socketOption(.so_rcvbuf), value: buffer)
                channel = try await sized.bind(host: host, port: port).get()
                bound = .network(host: host, port: channel.localAddress?.port ?? port)
            case .unixSocket(let path, let permissions):
                let socket = try UnixSocket.bind(path: path, permissions)
                // Connections don't inherit the size, and have no receive buffer: the client's send buffer takes its
                // place.
                let sized = bootstrap.childChannelOption(.socketOption(.so_sndbuf), value: buffer)
                channel = try await sized.withBoundSocket(socket).get()
                // The bootstrap chooses its own backlog for a socket that was bound elsewhere, so set it again.
                listen(socket, backlog)
            }
        } catch {
            throw ListenError(address, error)
        }
        return HTTPListener(channel: channel, resources: resources, counts: counts, address: bound.text)
    }

    private init(channel: any Channel, resources: PerLoop<LoopResources>, counts: ListenerCounts, address: String) {
        self.channel = channel
        self.resources = resources
        self.counts = counts
        self.address = address
    }

    /// The usage of the limits, and the numbers of rejections.
    package var usage: ListenerUsage { counts.usage }

    /// Waits until no request is in progress, or until the timeout.
    package func drain(atMost limit: Interval) async {
        await wait(atMost: limit) { counts.requestsInFlight == 0 }
    }

    /// Stops accepting, lets clients read their last responses, and closes every connection.
    package func close() async {
        // An error while closing does not matter: the channel is closed.
        try? await channel.close()
        for closed in resources.onEach({ $0.table.closeIdle() }) { try? await closed.get() }
        await wait(atMost: Self.closeTimeout) { counts.openConnections == 0 }
        for closed in resources.onEach({ $0.table.closeAll() }) { try? await closed.get() }
    }

    private static let backlog: CInt = 4096
    private static let closeTimeout = Interval(milliseconds: 500)

    private func wait(atMost limit: Interval, until isDone: () -> Bool) async {
        let end = SystemClocks.monotonic() + limit
        while !isDone(), SystemClocks.monotonic() < end { try? await Task.sleep(for: .milliseconds(20)) }
    }
}

/// Resources that the connections of one event loop share.
private struct LoopResources {
    let responder: any HTTPResponder
    let table: ConnectionTable
    let batcher: ResponseBatcher
    let executor: LoopExecutor
}

/// Chooses the sizes of receive buffers. The connection keeps a small one. Long requests get large ones, which it does
/// not keep.
///
/// NIO's default keeps up to four buffers per connection, which can grow to 64 KB, for as long as the connection lives.
/// A thousand idle connections that had each once sent a long request held up to 256 MB.
///
/// This type relies on two properties of `NIOPooledRecvBufferAllocator`, which calls it: a buffer is reused only if
/// ``nextBufferSize()`` is not `nil`, and with one message per read, only the first buffer of a connection is kept.
struct ReceiveBuffers: RecvByteBufferAllocator {
    private static let usual = 2048
    private static let large = 32 * 1024
    private var isLarge = false

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        allocator.buffer(capacity: isLarge ? Self.large : Self.usual)
    }

    func nextBufferSize() -> Int? { isLarge ? nil : Self.usual }

    mutating func record(actualReadBytes: Int) -> Bool {
        isLarge = actualReadBytes >= Self.usual
        return isLarge
    }
}

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
    fileprivate func groupID() throws(UnknownGroup) -> gid_t? {
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
    package func check() throws(UnknownGroup) { _ = try groupID() }
}

/// A group that does not exist on this machine.
package struct UnknownGroup: Error, CustomStringConvertible {
    let name: String
    package var description: String { "this machine has no group \(name); create it, or use a group ID" }
}
