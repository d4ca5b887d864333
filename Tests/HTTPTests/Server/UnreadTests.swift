@testable import HTTP
import NIOCore
import NIOPosix
import Testing
import TestSupport

/// Memory held for clients that don't read their responses, and for waiting requests.
@Suite struct UnreadTests {
    /// A connection whose client sends requests and never reads.
    private func deaf(_ listening: Listening, _ requests: String) async throws -> any Channel {
        guard case .port(let port) = listening.target else { throw NoPort() }
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: false)
            .channelOption(.socketOption(.so_rcvbuf), value: 4096)
            .connect(host: "127.0.0.1", port: port).get()
        try await channel.writeAndFlush(ByteBuffer(string: requests))
        return channel
    }

    private struct NoPort: Error {}

    private static let limit = 4_000_000
    private static var limits: ListenerLimits {
        var limits = ListenerLimits()
        limits.maximumBuffered = limit
        // Otherwise, a slow machine disconnects the clients for their pace, before the test has counted them.
        limits.requestTimeoutSeconds = 3600
        return limits
    }

    /// Sixty connections whose clients never read, after those over the limit have been closed.
    private func hoard(_ listening: Listening, _ path: String) async throws -> [any Channel] {
        var channels: [any Channel] = []
        for _ in 0..<60 { channels.append(try await deaf(listening, String(repeating: get(path), count: 6))) }
        // What each holds once it has been answered. Until then, those that stay could still be closed, and any with them.
        let held = path == "/large" ? 280_000 : 120_000
        try await eventually {
            let usage = listening.listener.usage
            return usage.openConnections + usage.refusedBytes == channels.count
                && usage.bufferedBytes >= usage.openConnections * held && usage.bufferedBytes < Self.limit / 2
        }
        return channels
    }

    @Test(arguments: ["/large", "/constant"])
    func `unread responses are limited, and the slowest readers are disconnected`(
        path: String
    ) async throws {
        try await Listening.run(Self.limits, loops: 2) { listening async throws in
            for channel in try await hoard(listening, path) { try? await channel.close() }
            try await eventually { listening.listener.usage.openConnections == 0 }
            #expect(listening.listener.usage.bufferedBytes == 0)
        }
    }

    @Test(arguments: ["/large", "/constant"])
    func `a client that reads is served beside them, however long the response is`(path: String) async throws {
        try await Listening.run(Self.limits, loops: 2) { listening async throws in
            let channels = try await hoard(listening, path)
            let wire = try await Wire.connect(listening)
            for _ in 0..<20 {
                try await wire.send(get("/large"))
                #expect(try await wire.response().body.utf8.count == 256 * 1024)
            }
            for channel in channels { try? await channel.close() }
            try await wire.close()
            try await eventually { listening.listener.usage.openConnections == 0 }
            #expect(listening.listener.usage.bufferedBytes == 0)
        }
    }

    @Test func `what the kernel holds of many short answers counts as well`() async throws {
        try await Listening.run(Self.limits) { listening async throws in
            let channel = try await deaf(listening, String(repeating: get("/a"), count: 2000))
            try await eventually { listening.listener.usage.bufferedBytes > 50_000 }
            try await channel.close()
            try await eventually { listening.listener.usage.bufferedBytes == 0 }
        }
    }

    @Test func `who takes his answers holds nothing`() async throws {
        try await Listening.run(Self.limits) { listening async throws in
            let wire = try await Wire.connect(listening)
            for _ in 0..<30 {
                try await wire.send(get("/a"))
                _ = try await wire.response()
                try await wire.send(get("/large"))
                _ = try await wire.response()
            }
            try await eventually { listening.listener.usage.bufferedBytes == 0 }
            #expect(listening.listener.usage.refusedBytes == 0)
        }
    }

    @Test func `answers that are shared come whole, in their place, and not for HEAD`() async throws {
        try await Listening.run { listening async throws in
            let wire = try await Wire.connect(listening)
            try await wire.send(get("/1") + get("/constant") + get("/2") + "HEAD /constant HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await wire.response().body == "GET /1 -")
            #expect(try await wire.response().body == String(repeating: "c", count: 100_000))
            #expect(try await wire.response().body == "GET /2 -")
            #expect(try await wire.response(toHead: true).status == 200)
            try await wire.send(get("/3"))
            #expect(try await wire.response().body == "GET /3 -")
        }
    }

    // MARK: Waiting requests

    @Test func `the bytes of a request that waits are held until its answer is there`() async throws {
        var limits = ListenerLimits()
        limits.maximumBuffered = 150_000
        try await Listening.run(limits) { listening async throws in
            let first = try await Wire.connect(listening)
            try await first.send(post("/park", "Content-Length: 900", String(repeating: "x", count: 900)))
            try await listening.parked.arrived(1)
            #expect(listening.listener.usage.bufferedBytes > 900)
            #expect(listening.listener.usage.requestsInFlight == 1)
            listening.parked.release()
            #expect(try await first.response().body == "released")
            try await eventually { listening.listener.usage.bufferedBytes == 0 }
            #expect(listening.listener.usage.requestsInFlight == 0)
        }
    }

    @Test func `requests wait only as long as there is room for their bytes`() async throws {
        var limits = ListenerLimits()
        limits.maximumBuffered = 1500
        try await Listening.run(limits) { listening async throws in
            let request = post("/park", "Content-Length: 900", String(repeating: "x", count: 900))
            let first = try await Wire.connect(listening)
            try await first.send(request)
            try await listening.parked.arrived(1)
            #expect(try await listening.first(request).status == 503)
            #expect(listening.listener.usage.requestsInFlight == 1)
            #expect(listening.listener.usage.refusedBytes == 1)
            listening.parked.release()
            #expect(try await first.response().status == 200)
            #expect(listening.listener.usage.bufferedBytes == 0)
        }
    }

    @Test func `each thing that a request waits for counts`() async throws {
        var limits = ListenerLimits()
        limits.maximumInFlight = 5
        try await Listening.run(limits) { listening async throws in
            let first = try await Wire.connect(listening)
            try await first.send(get("/park-three"))
            try await listening.parked.arrived(1)
            #expect(listening.listener.usage.requestsInFlight == 3)
            #expect(try await listening.first(get("/park-three")).status == 503)
            #expect(listening.listener.usage.refusedWaiting == 1)
            listening.parked.release()
            #expect(try await first.response().status == 200)
            #expect(listening.listener.usage.requestsInFlight == 0)
        }
    }

    // MARK: Buffers

    @Test func `a connection keeps a small buffer, whatever it has read`() {
        var pool = NIOPooledRecvBufferAllocator(capacity: 1, recvAllocator: ReceiveBuffers())
        func read(_ bytes: Int) -> Int {
            let (buffer, _) = pool.buffer(allocator: ByteBufferAllocator()) { buffer in
                buffer.writeRepeatingByte(0, count: min(bytes, buffer.writableBytes))
            }
            pool.record(actualReadBytes: buffer.readableBytes)
            return buffer.readableBytes
        }
        #expect(read(100) == 100)
        #expect(read(100_000) == 2048)
        #expect(read(100_000) == 32 * 1024)
        #expect(read(5000) == 5000)
        #expect(read(10) == 10)
        #expect(pool.count == 1)
        // The next read uses the buffer that was kept.
        #expect(read(100_000) == 2048)
    }
}
