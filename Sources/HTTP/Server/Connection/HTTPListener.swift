private import Glibc
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
                batcher: ResponseBatcher(on: loop, microseconds: SystemClocks.monotonicMicroseconds))
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
                        responder: own.responder, table: own.table, batcher: own.batcher, counts: counts,
                        limits: limits, isEncrypted: tls != nil)
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
private final class LoopResources {
    let responder: any HTTPResponder
    let table: ConnectionTable
    let batcher: ResponseBatcher

    init(responder: any HTTPResponder, table: ConnectionTable, batcher: ResponseBatcher) {
        self.responder = responder
        self.table = table
        self.batcher = batcher
    }
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
