/// The usage of a listener's limits, and the numbers of rejections.
package struct ListenerUsage: Sendable {
    package let limits: ListenerLimits
    package let openConnections: Int
    /// Requests that have started and have not been answered; requests that are answered as soon as they are read never
    /// count.
    package let requestsInFlight: Int
    /// Bytes held for requests that are incomplete, queued or waiting, and for responses that clients have not read.
    package let bufferedBytes: Int
    /// Connections rejected because of ``ListenerLimits/maximumConnections``.
    package let refusedConnections: Int
    /// Requests rejected because of ``ListenerLimits/maximumInFlight``.
    package let refusedWaiting: Int
    /// Requests rejected because of ``ListenerLimits/maximumBuffered``, and slow readers that were closed.
    package let refusedBytes: Int
}
