/// The two listeners, as log and metrics name them.
enum ListenerName: String, Hashable, Sendable {
    case service, admin
}
