/// Why a request could not be read.
package enum HTTPFault: Error, Equatable {
    /// Neither HTTP/1.1 nor HTTP/1.0, or a form that parsers interpret differently.
    case malformed
    /// A field that must not be repeated was repeated, and parsers could use different ones.
    case repeatedField(String)
    /// The head exceeds its limits on bytes or fields, or a body's chunk extensions and trailers do.
    case headersTooLarge
    /// The body, or its declared length, exceeds the responder's limit.
    case bodyTooLarge
    /// Head or body did not arrive in time.
    case timeout
    /// A limit was exceeded.
    case overloaded(ListenerLimit)
}

/// A limit of a listener that connections and requests can exceed, by its name in settings and metrics.
package enum ListenerLimit: String, CaseIterable, Sendable {
    case connections = "max_connections"
    case inFlight = "max_in_flight"
    case buffered = "max_buffered"
}
