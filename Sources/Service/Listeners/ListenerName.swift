/// The two listeners, as named in the log and in metrics.
enum ListenerName: String, Hashable, Sendable {
    case service, admin
}
