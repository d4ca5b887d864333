internal import NIOCore

/// A connection whose responses are written together with those of others.
protocol BatchedWriter: AnyObject {
    func writeAnswers()
}

/// Writes the responses of one turn of an event loop together, at its end. Confined to that loop.
///
/// A turn first takes up what has come in on each connection that has something. Were each answer written at once, the first
/// would wake whoever waits for it, and so would the next, since by then that has been read: on loopback, waking the other
/// side is the dearest part of a write, and each write drives the verifier's code and data out of the caches. Together they
/// wake it once. Measured with 64 connections on one core: 35.3 µs a request became 32.0 with RS256, and 77 became 67 with
/// ES256.
final class ResponseBatcher {
    private let loop: any EventLoop
    private let microseconds: () -> Int64
    private var connections: [any BatchedWriter] = []
    private var firstAddedAt: Int64 = 0
    /// The memory of a list of connections that has been written.
    private var spareList: [any BatchedWriter] = []
    /// Buffers for answers that no connection is writing: making one for each answer would cost two allocations.
    private var spareBuffers: [ByteBuffer] = []
    private var spareBytes = 0

    /// So many answers are not kept waiting for more, and no answer for longer.
    private static let most = 32
    private static let longestWait: Int64 = 2000
    /// A longer answer has cost so much that waking is nothing beside it.
    private static let usualAnswer = 2048
    /// What spare buffers may hold; one large answer should not hold memory for good.
    private static let mostSpareBytes = 128 * 1024
    private static let largestSpare = 64 * 1024

    /// - Parameter microseconds: a monotonic clock.
    init(on loop: any EventLoop, microseconds: @escaping () -> Int64) {
        self.loop = loop
        self.microseconds = microseconds
    }

    /// An empty buffer for answers.
    func takeBuffer() -> ByteBuffer {
        var buffer = spareBuffers.popLast() ?? ByteBuffer()
        spareBytes -= buffer.storageCapacity
        buffer.clear(minimumCapacity: Self.usualAnswer)
        return buffer
    }

    /// Takes a buffer back that the system has been given the contents of, or soon will.
    func giveBack(_ buffer: ByteBuffer) {
        let capacity = buffer.storageCapacity
        guard capacity <= Self.largestSpare, spareBytes + capacity <= Self.mostSpareBytes else { return }
        spareBytes += capacity
        spareBuffers.append(buffer)
    }

    /// Has a connection write its answers when the turn ends, at the latest.
    func add(_ connection: any BatchedWriter, bytes: Int) {
        let now = microseconds()
        if connections.isEmpty {
            firstAddedAt = now
            // What is executed now, runs when all that came in with this has been taken up.
            loop.assumeIsolated().execute { self.write() }
        }
        connections.append(connection)
        if connections.count >= Self.most || bytes > Self.usualAnswer || now - firstAddedAt >= Self.longestWait {
            write()
        }
    }

    private func write() {
        // A write that fails may have a connection added again while this goes on.
        var written: [any BatchedWriter] = []
        swap(&written, &spareList)
        swap(&written, &connections)
        for connection in written { connection.writeAnswers() }
        written.removeAll(keepingCapacity: true)
        swap(&written, &spareList)
    }
}
