extension Settings {
    /// Which events and requests are logged.
    package struct Log: Sendable, Equatable {
        package var level = "info"
        package var requests = Requests.all
        /// Whether successful probes and scrapes (`/livez`, `/readyz`, `/metrics`) are logged.
        package var probes = false

        package static let levels = ["debug", "info", "warning", "error"]

        /// Which requests are logged.
        package enum Requests: String, Sendable, CaseIterable {
            case all = "true"
            case none = "false"
            case refused
        }

        static let members: [Member<Settings>] = [
            Member(Setting("level", .word(levels), "The lowest level to log."), at: \.log.level),
            Member(
                Setting(
                    "requests", .word("true, false or refused"),
                    "`true`: log every request; `refused`: only status 400 and above; `false`: none. Errors that unauthenticated clients can cause (400, 401, 404, 405, 408, 413, 415, 431, `overloaded`, and all of `/v1/forward-auth`) are rate-limited to ten per minute for each kind and event loop; with `refused`, all errors are. A later line has `suppressed`, the number of lines left out. There is no rate limit at level `debug`."
                ), at: \.log.requests),
            Member(
                Setting("probes", .boolean, "Also logs requests to `/livez`, `/readyz` and `/metrics`."),
                at: \.log.probes),
        ]
    }
}
