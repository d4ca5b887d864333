/// The two listeners, as named in the log, in metrics and in the settings.
package enum ListenerName: String, Hashable, Sendable {
    case service, admin
}

/// A listener that can't be bound to its address.
package struct UnboundListener: Error {
    package let name: ListenerName
    /// Human-readable, with the address.
    package let reason: String
}
