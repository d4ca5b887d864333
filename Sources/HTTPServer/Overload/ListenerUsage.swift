/// How much of its limits a listener uses, and how often it has refused something for want of room.
package struct ListenerUsage: Sendable {
    package let limits: ListenerLimits
    package let openConnections: Int
    /// Requests that have begun and not been answered; those answered as soon as they were read never count.
    package let requestsInFlight: Int
    /// Bytes held for requests that are not yet whole, whose turn has not come or whose answer waits, and for answers that
    /// clients have not taken.
    package let bufferedBytes: Int
    /// Connections over ``ListenerLimits/maximumConnections``.
    package let refusedConnections: Int
    /// Requests over ``ListenerLimits/maximumInFlight``.
    package let refusedWaiting: Int
    /// Requests that would have held more than ``ListenerLimits/maximumBuffered``, and slow readers closed for it.
    package let refusedBytes: Int
}
