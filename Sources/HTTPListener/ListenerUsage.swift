/// How much of its limits a listener uses, and how often it has refused something for want of room.
package struct ListenerUsage: Sendable {
    package let limits: ListenerLimits
    package let openConnections: Int
    /// Requests that have begun and not been answered; those answered as soon as they were read never count.
    package let requestsInFlight: Int
    /// Bytes held for requests that are not yet whole, or whose turn has not come.
    package let bufferedBytes: Int
    /// Connections over ``ListenerLimits/maximumConnections``.
    package let refusedConnections: Int
    /// Requests over ``ListenerLimits/maximumInFlight``.
    package let refusedWaiting: Int
    /// Times that bytes would have been more than ``ListenerLimits/maximumBuffered``.
    package let refusedBytes: Int
}
