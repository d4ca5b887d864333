/// What one listener puts up with.
package struct ListenerLimits: Sendable {
    /// Bytes of header fields in one request; there may be at most 100 of them.
    package var maximumHeader = 16 * 1024
    package var maximumConnections = 10_000
    /// Requests that are being read or waited for, on all connections together.
    package var maximumInFlight = 1024
    /// Bytes that all bodies which are not yet whole may hold together.
    package var maximumBuffered = 32 * 1024 * 1024
    /// From a request's first byte to its last.
    package var requestTimeoutSeconds: Int64 = 10
    /// How long a connection may be silent between requests.
    package var idleTimeoutSeconds: Int64 = 75

    package init() {}
}
