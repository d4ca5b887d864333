/// The limits of one listener.
package struct ListenerLimits: Sendable, Equatable {
    /// Bytes of a request's head: request line and header fields. There can be at most 100 fields.
    package var maximumHeader = 16 * 1024
    package var maximumConnections = 10_000
    /// Connections beyond ``maximumConnections`` that get a 503 at the same time; more are closed without a response.
    var maximumRefusals: Int { max(Self.leastRefusals, maximumConnections / Self.refusalShare) }
    private static let leastRefusals = 64
    private static let refusalShare = 16
    /// Requests that wait for their responses, over all connections; each waiting item of a batch counts.
    package var maximumInFlight = 1024
    /// Bytes of all requests that are incomplete, queued or waiting.
    package var maximumBuffered = 32 * 1024 * 1024
    /// Bytes of all responses that clients have not read, including socket buffers. A separate limit, so that slow
    /// readers cause no requests to be rejected, and slow senders no responses to be cut off.
    var maximumUnread: Int { maximumBuffered / 2 }
    /// Bytes of a connection's send buffer and of its receive buffer. The kernel uses up to twice as many.
    package var socketBuffer = 64 * 1024
    /// From a request's first byte to its last.
    package var requestTimeoutSeconds: Int64 = 10
    /// How long a connection may be idle between requests.
    package var idleTimeoutSeconds: Int64 = 75

    package init() {}

    /// The most file descriptors of the listener: its own, its connections', and those of connections that it rejects.
    package var descriptors: Int { 1 + maximumConnections + maximumRefusals }

    /// The largest ``maximumConnections`` with which the listener needs no more than this number of descriptors; at
    /// least 1.
    package static func maximumConnections(within descriptors: Int) -> Int {
        let available = descriptors - 1
        return max(1, min(available - leastRefusals, available * refusalShare / (refusalShare + 1)))
    }
}
