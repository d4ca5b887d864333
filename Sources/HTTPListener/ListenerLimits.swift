/// What one listener puts up with.
package struct ListenerLimits: Sendable {
    /// Bytes of header fields in one request; there may be at most 100 of them.
    package var maximumHeader = 16 * 1024
    package var maximumConnections = 10_000
    /// Connections over ``maximumConnections`` that are told so at the same time; more are closed without a word.
    var maximumRefusals: Int { max(64, maximumConnections / 16) }
    /// Requests that wait for their answers, on all connections together.
    package var maximumInFlight = 1024
    /// Bytes that all requests which are not yet whole, or whose turn has not come, may hold together.
    package var maximumBuffered = 32 * 1024 * 1024
    /// From a request's first byte to its last.
    package var requestTimeoutSeconds: Int64 = 10
    /// How long a connection may be silent between requests.
    package var idleTimeoutSeconds: Int64 = 75

    package init() {}
}
