private import Glibc
package import NIOCore
private import NIOHTTP1
package import NIOPosix

/// Where a listener listens.
package enum ListenAddress: Sendable, Equatable {
    case network(host: String, port: Int)
    case unixSocket(path: String)

    /// As settings write it.
    var text: String {
        switch self {
        case .network(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unixSocket(let path): "unix:\(path)"
        }
    }
}

/// Why an address can't be listened on, for people to read.
package struct ListenError: Error, CustomStringConvertible {
    package let description: String

    init(_ address: ListenAddress, _ error: any Error) {
        let reason =
            switch (error as? IOError)?.errnoCode {
            case EADDRINUSE: "it is in use"
            case EACCES: "it takes more rights than this process has"
            case EADDRNOTAVAIL: "this machine has no such address"
            default: "\(error)"
            }
        description = "can't listen on \(address.text): \(reason)"
    }
}

/// A bound listener: accepts connections and has their requests answered by the responder of the event loop they are on.
package final class HTTPListener: Sendable {
    private let channel: any Channel
    private let loops: [(loop: any EventLoop, table: NIOLoopBound<ConnectionTable>)]
    private let counts: ListenerCounts

    /// Where it listens, with the port that the system chose if 0 was asked for.
    package let address: String

    /// Binds and begins to accept.
    ///
    /// - Parameters:
    ///   - makeResponder: called once on each event loop of the group.
    ///   - unixSeconds: the wall clock, for the header field `Date`.
    /// - Throws: ``ListenError`` where the address can't be bound.
    package static func bind(
        _ address: ListenAddress, on group: MultiThreadedEventLoopGroup, limits: ListenerLimits,
        unixSeconds: @escaping @Sendable () -> Int64,
        makeResponder: @escaping @Sendable (any EventLoop) -> any HTTPResponder
    ) async throws -> HTTPListener {
        let counts = ListenerCounts(limits: limits)
        var places: [ObjectIdentifier: NIOLoopBound<LoopPlace>] = [:]
        var loops: [(loop: any EventLoop, table: NIOLoopBound<ConnectionTable>)] = []
        for loop in group.makeIterator() {
            let place = try await loop.submit {
                NIOLoopBound(
                    LoopPlace(
                        responder: makeResponder(loop), table: ConnectionTable(on: loop, unixSeconds: unixSeconds)),
                    eventLoop: loop)
            }.get()
            places[ObjectIdentifier(loop)] = place
            loops.append((loop, try await loop.submit { NIOLoopBound(place.value.table, eventLoop: loop) }.get()))
        }
        let placesOfLoops = places
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.maxMessagesPerRead, value: 4)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let place = placesOfLoops[ObjectIdentifier(channel.eventLoop)]?.value else {
                        throw ChannelError.operationUnsupported
                    }
                    let connection = HTTPConnection(
                        responder: place.responder, table: place.table, counts: counts, limits: limits)
                    try channel.pipeline.syncOperations.addHandlers([
                        ArrivalHandler(connection),
                        ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: limits.decoder)),
                        connection,
                    ])
                }
            }
        let channel: any Channel
        var bound = address
        do {
            switch address {
            case .network(let host, let port):
                channel = try await bootstrap.bind(host: host, port: port).get()
                bound = .network(host: host, port: channel.localAddress?.port ?? port)
            case .unixSocket(let path):
                channel = try await bootstrap.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true).get()
            }
        } catch {
            throw ListenError(address, error)
        }
        return HTTPListener(channel: channel, loops: loops, counts: counts, address: bound.text)
    }

    private init(
        channel: any Channel, loops: [(loop: any EventLoop, table: NIOLoopBound<ConnectionTable>)],
        counts: ListenerCounts, address: String
    ) {
        self.channel = channel
        self.loops = loops
        self.counts = counts
        self.address = address
    }

    /// Requests that have begun and not been answered; those answered as soon as they were read never count.
    package var requestsInFlight: Int { counts.requestsInFlight }
    package var openConnections: Int { counts.openConnections }

    /// Stops accepting, lets last answers be read, and closes every connection.
    package func close() async {
        // Whatever the channel says on its way out, it is out.
        try? await channel.close()
        for (loop, table) in loops { try? await loop.submit { table.value.closeIdle() }.get() }
        for _ in 0..<Self.farewellRounds where openConnections > 0 { try? await Task.sleep(for: .milliseconds(20)) }
        for (loop, table) in loops { try? await loop.submit { table.value.closeAll() }.get() }
    }

    private static let farewellRounds = 25
}

/// What the connections of one event loop share.
private final class LoopPlace {
    let responder: any HTTPResponder
    let table: ConnectionTable

    init(responder: any HTTPResponder, table: ConnectionTable) {
        self.responder = responder
        self.table = table
    }
}

extension ListenerLimits {
    /// NIO's own defaults let 2 MB of header fields in.
    fileprivate var decoder: NIOHTTPDecoderLimitConfiguration {
        var configuration = NIOHTTPDecoderLimitConfiguration()
        configuration.maxHeaderListSize = maximumHeader
        configuration.maxHeaderFieldSize = maximumHeader
        configuration.maxHeaderFieldCount = 100
        return configuration
    }
}
