/// What keeps a request from being read to its end.
package enum HTTPFault: Error, Equatable {
    /// No HTTP/1.1 that two readers would understand the same way.
    case malformed
    /// A field that may come once came twice, and two readers could go by different ones.
    case repeatedField(String)
    /// The head exceeds the limits on header fields.
    case headersTooLarge
    /// The body exceeds the responder's limit, or says that it will.
    case bodyTooLarge
    /// Head or body were not there in time.
    case timeout
    /// More than a limit allows.
    case overloaded(ListenerLimit)
}

/// A limit of a listener's that connections and requests can be over, by its name in settings and metrics.
package enum ListenerLimit: String, Sendable {
    case connections = "max_connections"
    case inFlight = "max_in_flight"
    case buffered = "max_buffered"
}
