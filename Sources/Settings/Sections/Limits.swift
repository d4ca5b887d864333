package import HTTP
private import IDToken

extension Settings {
    /// Sizes, counts and timeouts that clients can't exceed.
    package struct Limits: Sendable, Equatable {
        /// Limits of the service listener.
        package var listener = ListenerLimits()
        package var maximumBody = 64 * 1024
        package var maximumBatchBody = 4 * 1024 * 1024
        /// The length of the longest token of any kind, in bytes.
        package var maximumToken = UnverifiedToken.maximumLength
        package var keysTimeoutSeconds: Int64 = 5
        package var providerTimeoutSeconds: Int64 = 5
        package var queueTimeoutMilliseconds: Int64 = 500
        /// Which of the limits that depend on memory are set explicitly.
        var given: Set<ListenerLimit> = []

        static let members: [Member<Settings>] = [
            Member(
                Setting("max_body", .bytes(1024...(16 * mebibyte)), "The largest body of a request, except a batch."),
                at: \.limits.maximumBody),
            Member(
                Setting("max_batch_body", .bytes(1024...(64 * mebibyte)), "The largest body of a batch."),
                at: \.limits.maximumBatchBody),
            Member(
                Setting(
                    "max_header", .bytes(1024...mebibyte), change: .restart,
                    "The largest head of a request: its request line and header fields."),
                at: \.limits.listener.maximumHeader),
            Member(
                Setting(
                    "max_token", .bytes(UnverifiedToken.maximumLengths), change: .restart,
                    "The longest token that is verified, of any kind. More than 16KiB raises the defaults of `max_header` and `max_body`, so that it fits. Gateways have [limits of their own](gateways.md#long-tokens)."
                ), at: \.limits.maximumToken),
            Member(
                Setting(
                    "max_buffered", .bytes(65_536...(16 * 1024 * mebibyte)), change: .restart,
                    "Maximum memory for requests that are incomplete, queued or waiting; beyond it: `503 overloaded`. An additional half of this is allowed for unread responses (including socket buffers); beyond it, the slowest readers are disconnected. Lower by default under a memory limit."
                ), at: \.limits.listener.maximumBuffered),
            Member(
                Setting(
                    "max_connections", .integer(1...1_000_000), change: .restart,
                    "Maximum number of connections to the service listener; beyond it: `503 overloaded`. Lower by default under a memory limit."
                ),
                at: \.limits.listener.maximumConnections),
            Member(
                Setting(
                    "max_in_flight", .integer(1...1_000_000), change: .restart,
                    "Maximum number of requests waiting for keys, for `sign_ins.store` or for a provider's endpoint; each waiting batch item counts. Beyond it: `503 overloaded`. Lower by default under a memory limit."
                ), at: \.limits.listener.maximumInFlight),
            Member(
                Setting(
                    "request_timeout", .seconds(1...300), change: .restart,
                    "How long a whole request may take to arrive, and how long a client may take to read its response."),
                at: \.limits.listener.requestTimeoutSeconds),
            Member(
                Setting(
                    "idle_timeout", .seconds(1...3600), change: .restart,
                    "How long a connection may be silent between requests."), at: \.limits.listener.idleTimeoutSeconds),
            Member(
                Setting("keys_timeout", .seconds(1...60), "How long a request waits for keys."),
                at: \.limits.keysTimeoutSeconds),
            Member(
                Setting(
                    "provider_timeout", .seconds(1...30),
                    "How long a call to a provider's endpoint may take, including connecting and all attempts of a revocation."
                ), at: \.limits.providerTimeoutSeconds),
            Member(
                Setting(
                    "queue_timeout", .milliseconds(50...60_000),
                    "About how long a request may wait in the queue. During overload, requests that would wait longer get `503 overloaded`."
                ), at: \.limits.queueTimeoutMilliseconds),
        ]

        private static let mebibyte = 1024 * 1024

        /// Raises the defaults of other limits, so that the longest token fits. Must come after the section.
        static let check = Member<Settings>([]) { top, settings in
            let section = top.section("limits")
            guard settings.limits.isRoomNeeded, !section.isFaulty("max_token") else { return }
            let origin = section.origin(of: "max_token")
            if section.source("max_header") == nil {
                settings.limits.listener.maximumHeader = settings.limits.neededHeader
                section.record("max_header", .scalar(Quantities.text(bytes: settings.limits.neededHeader)), origin)
            }
            if section.source("max_body") == nil {
                settings.limits.maximumBody = settings.limits.neededBody
                section.record("max_body", .scalar(Quantities.text(bytes: settings.limits.neededBody)), origin)
            }
        }

        private var isRoomNeeded: Bool { maximumToken > UnverifiedToken.maximumLength }
        /// Beside the token, there are the other fields, and a DPoP proof.
        private var neededHeader: Int { maximumToken + 16 * 1024 }
        /// Beside the token, there are a certificate, a proof, and the other members.
        private var neededBody: Int { maximumToken + 48 * 1024 }

        /// Explicit limits that are too low for the longest token.
        var warnings: [String] {
            guard isRoomNeeded else { return [] }
            let limits = [
                ("max_header", listener.maximumHeader, neededHeader), ("max_body", maximumBody, neededBody),
            ]
            return limits.filter { $0.1 < $0.2 }.map { name, given, needed in
                "limits.\(name) is \(Quantities.text(bytes: given)), so a token of limits.max_token (\(Quantities.text(bytes: maximumToken))) may not fit; raise it to \(Quantities.text(bytes: needed)), or remove it"
            }
        }
    }
}
