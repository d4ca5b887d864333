/// What one listener puts up with.
package struct ListenerLimits: Sendable, Equatable {
    /// Bytes of header fields in one request; there may be at most 100 of them.
    package var maximumHeader = 16 * 1024
    package var maximumConnections = 10_000
    /// Connections over ``maximumConnections`` that are told so at the same time; more are closed without a word.
    var maximumRefusals: Int { max(Self.leastRefusals, maximumConnections / Self.refusalShare) }
    private static let leastRefusals = 64
    private static let refusalShare = 16
    /// Requests that wait for their answers, on all connections together; of a batch, each item that waits.
    package var maximumInFlight = 1024
    /// Bytes that may be held together for all requests which are not yet whole, whose turn has not come or whose answer
    /// waits.
    package var maximumBuffered = 32 * 1024 * 1024
    /// Bytes that may be held together for all answers that clients have not read, socket buffers included. A limit apart,
    /// so that slow readers have no requests refused, and slow senders no answers cut off.
    var maximumUnread: Int { maximumBuffered / 2 }
    /// Bytes of a connection's send buffer, and of its receive buffer, in the kernel, which takes up to twice as many.
    package var socketBuffer = 64 * 1024
    /// From a request's first byte to its last.
    package var requestTimeoutSeconds: Int64 = 10
    /// How long a connection may be silent between requests.
    package var idleTimeoutSeconds: Int64 = 75

    package init() {}

    /// File descriptors that the listener takes at most: its own, those of its connections, and of those that it refuses.
    package var descriptors: Int { 1 + maximumConnections + maximumRefusals }

    /// The greatest ``maximumConnections`` with which the listener takes no more than so many descriptors; 1 at least.
    package static func maximumConnections(within descriptors: Int) -> Int {
        let available = descriptors - 1
        return max(1, min(available - leastRefusals, available * refusalShare / (refusalShare + 1)))
    }
}
