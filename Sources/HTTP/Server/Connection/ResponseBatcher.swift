internal import NIOCore

/// Flushes the responses of one event-loop turn together, at its end. Confined to that loop.
///
/// A turn first reads what has arrived on each connection. If each response was written at once, each would wake its
/// reader separately. On loopback, waking the peer is the most expensive part of a write, and each write evicts the
/// verifier's code and data from the caches. A batch wakes the peer once. Measured with 64 connections on one core:
/// 35.3 µs per request became 32.0 with RS256, and 77 became 67 with ES256.
final class ResponseBatcher {
    private let loop: any EventLoop
    private let microseconds: () -> Int64
    private var connections: [HTTPConnection] = []
    private var firstAddedAt: Int64 = 0
    /// The memory of the previous list of connections, for reuse.
    private var spareList: [HTTPConnection] = []
    /// Spare buffers for responses: creating one for each response would cost two allocations.
    private var spareBuffers: [ByteBuffer] = []
    private var spareBytes = 0

    /// The most connections in a batch, and the longest wait for a flush in microseconds.
    private static let most = 32
    private static let longestWait: Int64 = 2000
    /// For a longer response, the cost of waking the peer is negligible.
    private static let usualAnswer = 2048
    /// The most memory in spare buffers: a single large response must not hold memory permanently.
    private static let mostSpareBytes = 128 * 1024
    private static let largestSpare = 64 * 1024

    /// - Parameter microseconds: a monotonic clock.
    init(on loop: any EventLoop, microseconds: @escaping () -> Int64) {
        self.loop = loop
        self.microseconds = microseconds
    }

    /// An empty buffer for responses.
    func takeBuffer() -> ByteBuffer {
        var buffer = spareBuffers.popLast() ?? ByteBuffer()
        spareBytes -= buffer.storageCapacity
        buffer.clear(minimumCapacity: Self.usualAnswer)
        return buffer
    }

    /// Takes back a buffer whose contents have been passed to the channel.
    func giveBack(_ buffer: ByteBuffer) {
        let capacity = buffer.storageCapacity
        guard capacity <= Self.largestSpare, spareBytes + capacity <= Self.mostSpareBytes else { return }
        spareBytes += capacity
        spareBuffers.append(buffer)
    }

    /// Flushes a connection's responses at the end of the turn at the latest.
    func add(_ connection: HTTPConnection, bytes: Int) {
        let now = microseconds()
        if connections.isEmpty {
            firstAddedAt = now
            // This task runs after everything that arrived before has been read.
            loop.assumeIsolated().execute { self.write() }
        }
        connections.append(connection)
        if connections.count >= Self.most || bytes > Self.usualAnswer || now - firstAddedAt >= Self.longestWait {
            write()
        }
    }

    private func write() {
        // A failing write may add a connection again during this loop.
        var written: [HTTPConnection] = []
        swap(&written, &spareList)
        swap(&written, &connections)
        for connection in written { connection.writeAnswers() }
        written.removeAll(keepingCapacity: true)
        swap(&written, &spareList)
    }
}
