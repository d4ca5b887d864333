package import HTTP
private import IDToken
private import OAuth

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
            Setting("max_body", .bytes(1024...(16 * mebibyte)), "The largest body of a request, except a batch.")
                .at(\.limits.maximumBody),
            Setting("max_batch_body", .bytes(1024...(64 * mebibyte)), "The largest body of a batch.")
                .at(\.limits.maximumBatchBody),
            Setting(
                "max_header", .bytes(1024...mebibyte), change: .restart,
                "The largest head of a request: its request line and header fields."
            ).at(\.limits.listener.maximumHeader),
            Setting(
                "max_token", .bytes(UnverifiedToken.maximumLengths), change: .restart,
                "The longest token that is verified, of any kind. More than 16KiB raises the defaults of `max_header` and `max_body`, so that it fits. Gateways have [limits of their own](gateways.md#long-tokens)."
            ).at(\.limits.maximumToken),
            Setting(
                "max_buffered", .bytes(65_536...(16 * 1024 * mebibyte)), change: .restart,
                "Maximum memory for requests that are incomplete, queued or waiting; beyond it: `503 overloaded`. An additional half of this is allowed for unread responses (including socket buffers); beyond it, the slowest readers are disconnected. Lower by default under a memory limit."
            ).at(\.limits.listener.maximumBuffered),
            Setting(
                "max_connections", .integer(1...1_000_000), change: .restart,
                "Maximum number of connections to the service listener; beyond it: `503 overloaded`. Lower by default under a memory limit."
            ).at(\.limits.listener.maximumConnections),
            Setting(
                "max_in_flight", .integer(1...1_000_000), change: .restart,
                "Maximum number of requests waiting for keys, for `sign_ins.store` or for a provider's endpoint; each waiting batch item counts. Beyond it: `503 overloaded`. Lower by default under a memory limit."
            ).at(\.limits.listener.maximumInFlight),
            Setting(
                "request_timeout", .seconds(1...300), change: .restart,
                "How long a whole request may take to arrive, and how long a client may take to read its response."
            ).at(\.limits.listener.requestTimeoutSeconds),
            Setting(
                "idle_timeout", .seconds(1...3600), change: .restart,
                "How long a connection may be silent between requests."
            ).at(\.limits.listener.idleTimeoutSeconds),
            Setting("keys_timeout", .seconds(1...60), "How long a request waits for keys.")
                .at(\.limits.keysTimeoutSeconds),
            Setting(
                "provider_timeout", .seconds(1...30),
                "How long a call to a provider's endpoint may take, including connecting and all attempts of a revocation."
            ).at(\.limits.providerTimeoutSeconds),
            Setting(
                "queue_timeout", .milliseconds(50...60_000),
                "About how long a request may wait in the queue. During overload, requests that would wait longer get `503 overloaded`."
            ).at(\.limits.queueTimeoutMilliseconds),
        ]

        private static let mebibyte = 1024 * 1024

        /// Raises the defaults of other limits, so that the longest token fits. Must come after the section.
        static let check = Member<Settings>([]) { top, settings in
            let section = top.section("limits")
            guard settings.limits.isRoomNeeded, !section.isFaulty("max_token") else { return }
            let origin = section.origin(of: "max_token")
            for (name, path, needed) in settings.limits.needs where section.source(name) == nil {
                settings.limits[keyPath: path] = needed
                section.record(name, .scalar(Quantities.text(bytes: needed)), origin)
            }
        }

        private var isRoomNeeded: Bool { maximumToken > UnverifiedToken.maximumLength }
        /// The limits that the longest token must fit into, and the least values at which it does.
        private var needs: [(name: String, path: WritableKeyPath<Self, Int>, needed: Int)] {
            [
                // Beside the token, there are the other fields, and a DPoP proof.
                ("max_header", \.listener.maximumHeader, maximumToken + 16 * 1024),
                // Beside the token, there are a certificate, a proof, and the other members.
                ("max_body", \.maximumBody, maximumToken + 48 * 1024),
            ]
        }

        /// Explicit limits that are too low for the longest token.
        var warnings: [String] {
            guard isRoomNeeded else { return [] }
            return needs.filter { self[keyPath: $0.path] < $0.needed }.map { name, path, needed in
                "limits.\(name) is \(Quantities.text(bytes: self[keyPath: path])), so a token of limits.max_token (\(Quantities.text(bytes: maximumToken))) may not fit; raise it to \(Quantities.text(bytes: needed)), or remove it"
            }
        }
    }
}

/// Derives the defaults of `limits.max_connections`, `max_in_flight` and `max_buffered` from the process's memory
/// limit.
///
/// The process's own needs come first. Of the rest, connections get half, buffered requests a fifth, unread responses
/// up to an eighth, and waiting requests another eighth. The remainder stays free, because allocators never return all
/// freed memory.
package struct MemoryBudget: Sendable, Equatable {
    /// The default limits, with these three lowered.
    package private(set) var limits = Settings.Limits().listener
    private let rest: Int

    /// - Parameters:
    ///   - bytes: the process's memory limit, including the kernel's memory for its sockets.
    ///   - isEncrypted: whether the service listener uses TLS.
    ///   - rememberedAnswers: how many answers about opaque tokens are kept.
    ///   - issuers: how many issuers of entries with many may keep their keys.
    package init(
        bytes: Int, isEncrypted: Bool, rememberedTokens: Int, rememberedAnswers: Int = 0, providers: Int,
        issuers: Int = 0
    ) {
        let fetching = min(providers, Self.fetchingProviders)
        let own =
            Self.process + rememberedTokens * Self.rememberedToken + rememberedAnswers * Self.rememberedAnswer
            + fetching * Self.provider + (providers - fetching + issuers) * Self.issuer
        let rest = max(0, bytes - own)
        let connection = isEncrypted ? Self.encryptedConnection : Self.connection
        limits.maximumConnections = (rest / 2 / connection).clamped(to: Self.least...limits.maximumConnections)
        // Unread responses may hold half of this, and briefly a quarter more than that.
        limits.maximumBuffered = (rest / 5).clamped(to: Self.leastBuffered...limits.maximumBuffered)
        limits.maximumInFlight = (rest / 8 / Self.waitingRequest).clamped(to: Self.least...limits.maximumInFlight)
        self.rest = rest
    }

    /// The size of a connection's receive buffer, and of its send buffer.
    ///
    /// The kernel fills receive buffers before the process can count them. So all of them together must fit into the
    /// memory that the process does not need for itself. They are unlikely to be full while everything else is in use
    /// too.
    ///
    /// - Parameter connections: the maximum number of connections.
    package func socketBuffer(connections: Int) -> Int {
        // The kernel reserves twice the requested size, to account for its own structures.
        (rest / connections / 2).clamped(to: Self.leastSocketBuffer...ListenerLimits().socketBuffer)
    }

    private static let leastSocketBuffer = 8 * 1024
    private static let mebibyte = 1024 * 1024
    /// The program, its event loops, a full log buffer, the largest request in progress, and the admin listener.
    private static let process = 36 * mebibyte
    /// A provider's keys, and a fetch of them.
    private static let provider = mebibyte / 4
    /// As many providers as fetch keys at the same time by default.
    private static let fetchingProviders = 64
    /// The keys of an issuer: 16 KiB, and 4 KiB for each of two event loops.
    private static let issuer = 24 * 1024
    private static let rememberedToken = 512
    /// About an active token, at most on average; and about an inactive one.
    private static let rememberedAnswer = 4608
    /// Memory in the process and in the kernel, including up to 4 KB of unread data.
    private static let connection = 16 * 1024
    /// In addition, TLS buffers after one record in each direction.
    private static let encryptedConnection = 80 * 1024
    /// In addition to the request's bytes, which count as buffered.
    private static let waitingRequest = 4 * 1024
    /// A minimum, so that the service stays usable with very little memory.
    private static let least = 64
    private static let leastBuffered = mebibyte
}

extension ListenerLimit {
    fileprivate var path: WritableKeyPath<ListenerLimits, Int> {
        switch self {
        case .buffered: \.maximumBuffered
        case .connections: \.maximumConnections
        case .inFlight: \.maximumInFlight
        }
    }

    fileprivate func text(_ value: Int) -> String {
        self == .buffered ? Quantities.text(bytes: value) : String(value)
    }
}

extension Settings {
    /// Whether answers about active tokens are kept.
    private var remembersAnswers: Bool {
        providers.contains { ($0.introspection?.cachePeriod ?? .seconds(0)) > .seconds(0) }
    }

    /// Lowers the limits that depend on memory, unless the file or the environment sets them, and records the effective
    /// values.
    ///
    /// - Parameter memory: the process's memory limit in bytes; `nil`: no limit.
    mutating func fitLimits(to memory: Int?, _ reading: SettingsReading) {
        limits.given = Set(
            ListenerLimit.allCases.filter { reading.effective[["limits", $0.rawValue]]?.origin != .default })
        guard let memory else { return }
        let budget = MemoryBudget(
            bytes: memory, isEncrypted: service.tls != nil, rememberedTokens: verifiedTokenCacheEntries,
            rememberedAnswers: remembersAnswers ? introspectionEntries : 0, providers: providers.count,
            issuers: providers.map(\.maximumIssuersInUse).reduce(0, +))
        for limit in ListenerLimit.allCases where !limits.given.contains(limit) {
            let maximum = budget.limits[keyPath: limit.path]
            guard limits.listener[keyPath: limit.path] != maximum else { continue }
            limits.listener[keyPath: limit.path] = maximum
            reading.record(["limits", limit.rawValue], .scalar(limit.text(maximum)), .memory(memory))
        }
        limits.listener.socketBuffer = budget.socketBuffer(connections: limits.listener.maximumConnections)
    }

    /// Keeps the running service's limits if neither settings set them.
    ///
    /// Derived limits depend on the number of providers, among other things, and can't change without a restart. Adding
    /// a provider must not make a reload fail.
    package mutating func keepDerivedLimits(of running: Settings) {
        for limit in ListenerLimit.allCases
        where !limits.given.contains(limit) && !running.limits.given.contains(limit) {
            limits.listener[keyPath: limit.path] = running.limits.listener[keyPath: limit.path]
        }
    }
}

extension Int {
    fileprivate func clamped(to range: ClosedRange<Int>) -> Int {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}

/// The process's memory limit, from its cgroups.
package enum MemoryLimit {
    /// The lowest limit of the process's group and its ancestors, in bytes; `nil` if there is none.
    ///
    /// - Parameter content: returns the content of the file at a path; `nil` if it does not exist.
    package static func read(_ content: (String) -> String?) -> Int? {
        guard let groups = content("/proc/self/cgroup") else { return nil }
        // hierarchy-ID:controllers:path (cgroups(7)); version 2 has the ID 0 and no controllers.
        let limits = groups.split(separator: "\n").flatMap { line -> [Int] in
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return [] }
            if parts[0] == "0" { return self.limits("/sys/fs/cgroup", String(parts[2]), "memory.max", content) }
            guard parts[1].split(separator: ",").contains("memory") else { return [] }
            return self.limits("/sys/fs/cgroup/memory", String(parts[2]), "memory.limit_in_bytes", content)
        }
        return limits.min()
    }

    /// The limits of a group and its ancestors. In a container, the group itself may be mounted as the root, whatever
    /// its path on the host. So every path up to the root is tried.
    private static func limits(
        _ root: String, _ path: String, _ file: String, _ content: (String) -> String?
    ) -> [Int] {
        var parts = path.split(separator: "/").map(String.init)
        var found: [Int] = []
        while true {
            let place = ([root] + parts + [file]).joined(separator: "/")
            // `max`, or a number near 2^63, means no limit.
            let text = content(place)?.split(separator: "\n").first.map(String.init)
            if let limit = text.flatMap(Int.init), limit < 1 << 48 { found.append(limit) }
            guard !parts.isEmpty else { return found }
            parts.removeLast()
        }
    }
}
