package import NIOCore
package import NIOSSL
package import OpenSSL
package import Verification

/// Stores claims in Valkey or Redis. Each event loop has one pipelined connection of its own, and one to each further
/// node of a cluster.
///
/// A claim is one `SET key value NX PX ttl`.
package final class ValkeyStore: ReplayStore {
    private let loop: any EventLoop
    private let settings: ValkeySettings
    private let prefix: [UInt8]
    private let cluster: ValkeyCluster
    /// Claims in progress, ordered by deadline.
    private var deadlines = CircularBuffer<ValkeyClaim>()
    private var timer: Scheduled<Void>?
    private var isFull = false

    private static let maximumRedirections = 5
    private static let valueLength = 16
    private static let refusedMilliseconds: Int64 = 60_000

    /// - Parameter loop: the event loop on which all calls are made.
    package init(_ settings: ValkeySettings, on loop: any EventLoop, _ monitor: StoreMonitor) {
        self.settings = settings
        self.loop = loop
        prefix = Array(settings.prefix.utf8)
        cluster = ValkeyCluster(settings, on: loop, monitor)
    }

    package func end() {
        cluster.end()
        timer?.cancel()
        for claim in deadlines { claim.endUnmade() }
        deadlines = []
    }

    package func status(now: VerificationTime) -> StoreStatus {
        let health: StoreHealth =
            if let failure = cluster.failure {
                failure.health
            } else if cluster.isReachable {
                isFull ? .full : .ok
            } else {
                .unreachable
            }
        return StoreStatus(health: health, entries: nil, fill: cluster.memoryUse)
    }

    /// - Parameter providers: not needed, because the server's operator sets its limit.
    package func claim(_ claim: Claim, sharedBy providers: Int, now: VerificationTime) -> ClaimReply {
        let name = name(of: claim)
        let slot = KeySlot.slot(of: name)
        guard cluster.isReachable, let value = try? randomBytes(Self.valueLength) else {
            return .now(.unavailable(mayBeClaimed: false))
        }
        let set = RESPCommand.setIfAbsent(name, to: value, milliseconds: claim.end.milliseconds(from: now))
        return .later {
            let claim = ValkeyClaim(
                set: set, get: .get(name), value: value, slot: slot, deadline: .now() + self.settings.timeout,
                promise: self.loop.makePromise(of: ClaimOutcome.self))
            guard let node = self.cluster.readyNode(for: slot) else {
                claim.endUnmade()
                return claim.outcome
            }
            self.watch(claim)
            self.send(claim, to: node)
            return claim.outcome
        }
    }

    private func name(of claim: Claim) -> [UInt8] { prefix + Array(claim.key.digits.utf8) }

    /// The record of a refused item stays for a minute, so that no instance tries the same item again just then, such as
    /// for a page that the browser loads twice.
    package func release(_ claim: Claim, after use: ReleasedUse, on _: any EventLoop) -> EventLoopFuture<Bool> {
        let name = name(of: claim)
        let command: RESPCommand =
            switch use {
            case .none: .delete(name)
            case .refused: .replace(name, by: Array("refused".utf8), milliseconds: Self.refusedMilliseconds)
            }
        let release = ValkeyRelease(command, promise: loop.makePromise(of: Bool.self))
        guard let node = cluster.readyNode(for: KeySlot.slot(of: name)) else {
            release.end(false)
            return release.outcome
        }
        let timer = loop.assumeIsolated().scheduleTask(in: settings.timeout) { release.end(false) }
        release.outcome.assumeIsolated().whenComplete { _ in timer.cancel() }
        send(release, to: node)
        return release.outcome
    }

    private func send(_ release: ValkeyRelease, to node: ValkeyNode, asking: Bool = false) {
        node.whenReady { [weak node] connection in
            guard let node, let connection, !release.isOver else { return release.end(false) }
            if asking { connection.replies.send(.asking) { _ in } }
            connection.replies.send(release.command) { result in
                switch result {
                case .reply(.integer), .reply(.simple(Self.ok)), .reply(.null): release.end(true)
                case .reply(.error(let text)):
                    // A redirection says that the command was not carried out.
                    guard case .redirected(let target, let slot) = StoreError(text),
                        let next = self.node(target, from: node, &release.redirections)
                    else { return release.end(false) }
                    // After ASK, which names no slot for good.
                    self.send(release, to: next, asking: slot == nil)
                case .reply, .broken: release.end(false)
                }
            }
        }
    }

    // MARK: A claim

    private func send(_ claim: ValkeyClaim, to node: ValkeyNode, asking: Bool = false) {
        node.whenReady { [weak node] connection in
            if claim.isOver { return }
            guard let node, let connection else { return claim.endUnmade() }
            claim.connection = connection
            if asking { connection.replies.send(.asking) { _ in } }
            var number = 0
            number = connection.replies.send(claim.set) { result in
                if claim.isOver { return }
                claim.connection = nil
                switch result {
                case .reply(.simple(Self.ok)):
                    self.isFull = false
                    self.confirm(claim, number, connection)
                case .reply(.null):
                    self.isFull = false
                    if claim.wasBroken { self.readBack(claim, connection) } else { claim.end(.alreadyClaimed) }
                case .reply(.error(let text)): self.redirect(claim, StoreError(text), from: node)
                case .reply:
                    // The command can't have such a reply.
                    claim.end(.unavailable(mayBeClaimed: true))
                    connection.replies.end(.notRESP)
                case .broken: self.sendAgain(claim, node)
                }
            }
        }
    }

    private static let ok = Array("OK".utf8)

    /// Waits until replicas confirm the claim, if that is required.
    private func confirm(_ claim: ValkeyClaim, _ number: Int, _ connection: ValkeyNode.Connection) {
        guard settings.replicas > 0 else { return claim.end(.claimed) }
        claim.connection = connection
        connection.confirmation.confirm(number, over: connection.replies) { isEnough in
            claim.end(isEnough ? .claimed : .unavailable(mayBeClaimed: true))
        }
    }

    /// Checks whether an existing claim is this one, made before its connection broke.
    private func readBack(_ claim: ValkeyClaim, _ connection: ValkeyNode.Connection) {
        claim.connection = connection
        connection.replies.send(claim.get) { result in
            switch result {
            case .reply(.bulk(claim.value)):
                // A new connection can't ask which replicas have the writes of another.
                claim.end(self.settings.replicas == 0 ? .claimed : .unavailable(mayBeClaimed: true))
            case .reply(.bulk): claim.end(.alreadyClaimed)
            case .reply, .broken: claim.end(.unavailable(mayBeClaimed: true))
            }
        }
    }

    /// Retries once there is a connection again, if that is in time.
    private func sendAgain(_ claim: ValkeyClaim, _ node: ValkeyNode) {
        guard !claim.wasBroken else { return claim.endUnmade() }
        claim.wasBroken = true
        send(claim, to: cluster.readyNode(for: claim.slot) ?? node)
    }

    private func redirect(_ claim: ValkeyClaim, _ error: StoreError, from node: ValkeyNode) {
        switch error {
        case .redirected(let target, let slot):
            guard let next = self.node(target, from: node, &claim.redirections) else { return claim.endUnmade() }
            if let slot { cluster.assign(slot, to: next.address) }
            send(claim, to: next, asking: slot == nil)
        case .readOnly:
            node.leave(.replica(settings.urlSetting))
            claim.endUnmade()
        case .refused(let word):
            isFull = word == "OOM"
            claim.endUnmade()
        case .other: claim.end(.unavailable(mayBeClaimed: true))
        }
    }

    /// The node that a redirection names; `nil` after too many redirections, or if it names none.
    private func node(_ target: String, from node: ValkeyNode, _ redirections: inout Int) -> ValkeyNode? {
        redirections += 1
        guard redirections <= Self.maximumRedirections else { return nil }
        return StoreAddress(redirection: target, from: node.address).map(cluster.node(at:))
    }

    // MARK: Time

    /// All claims have the same timeout, so they expire in order.
    private func watch(_ claim: ValkeyClaim) {
        deadlines.append(claim)
        setTimer()
    }

    private func setTimer() {
        while deadlines.first?.isOver == true { deadlines.removeFirst() }
        guard timer == nil, let first = deadlines.first else { return }
        timer = loop.assumeIsolated().scheduleTask(deadline: first.deadline) {
            self.timer = nil
            let now = NIODeadline.now()
            while let first = self.deadlines.first, first.isOver || first.deadline <= now {
                self.deadlines.removeFirst()
                self.expire(first, now)
            }
            self.setTimer()
        }
    }

    private func expire(_ claim: ValkeyClaim, _ now: NIODeadline) {
        guard !claim.isOver else { return }
        guard let connection = claim.connection else { return claim.endUnmade() }
        claim.end(.unavailable(mayBeClaimed: true))
        // A server that missed a deadline gets no more claims on this connection, unless it is busy with a `WAIT`.
        if !connection.confirmation.isUnderWay(at: now) { connection.replies.end(.silent) }
    }
}

/// How to connect to a Valkey or Redis server.
package struct ValkeySettings: Sendable {
    package var address: StoreAddress
    /// Returns the current TLS configuration; `nil`: no TLS.
    package var tls: (@Sendable () -> NIOSSLContext)?
    /// `nil`: the default user.
    package var username: String?
    /// Returns the current password; `nil`: none is needed.
    package var password: (@Sendable () -> SecretBytes?)?
    package var database = 0
    /// The prefix of every key.
    package var prefix = "assay:"
    /// How many replicas must confirm a claim before it counts.
    package var replicas = 0
    /// Whether to use servers that can evict claims.
    package var allowsEviction = false
    /// The setting that names the server, for reports.
    package var urlSetting = usualURLSetting
    static let usualURLSetting = "sign_ins.store.url"
    /// The timeout of a claim.
    package var timeout = TimeAmount.milliseconds(250)

    /// Whether to connect to servers that must not be used, in order to inspect them.
    var acceptsAnyServer = false
    /// How often a connected server is asked again whether it evicts, or has become a replica.
    var reportInterval = TimeAmount.minutes(1)
    /// The timeout of connecting, including the TLS handshake and the greeting.
    var greetingTimeout = TimeAmount.seconds(2)
    /// A connection that ends sooner counts as failed.
    var settledAfter = TimeAmount.seconds(5)

    package init(address: StoreAddress) { self.address = address }
}

/// The address of a server, or of one node of a cluster.
package enum StoreAddress: Hashable, Sendable, CustomStringConvertible {
    case network(host: String, port: Int)
    case unixSocket(path: String)

    /// From a redirection such as `127.0.0.1:6381`. Without a host, it means the redirecting server's host.
    init?(redirection text: some StringProtocol, from redirecting: StoreAddress) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (1...65_535).contains(port)
        else { return nil }
        let host = String(text[..<colon])
        switch redirecting {
        case .network(let ownHost, _): self = .network(host: host.isEmpty ? ownHost : host, port: port)
        case .unixSocket: self = .network(host: host.isEmpty ? "127.0.0.1" : host, port: port)
        }
    }

    package var description: String {
        switch self {
        case .network(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unixSocket(let path): "unix:\(path)"
        }
    }
}

/// A claim in progress. Confined to one event loop.
private final class ValkeyClaim {
    let set: RESPCommand
    let get: RESPCommand
    /// Unique to this claim, so that it can be recognized after a broken connection.
    let value: [UInt8]
    let slot: UInt16
    let deadline: NIODeadline
    private let promise: EventLoopPromise<ClaimOutcome>
    var outcome: EventLoopFuture<ClaimOutcome> { promise.futureResult }
    private(set) var isOver = false
    /// Whether a connection broke between the command and its reply. The command is then retried once, but not twice.
    var wasBroken = false
    var redirections = 0
    /// The connection of the last command, until its reply arrives.
    var connection: ValkeyNode.Connection?

    init(
        set: RESPCommand, get: RESPCommand, value: [UInt8], slot: UInt16, deadline: NIODeadline,
        promise: EventLoopPromise<ClaimOutcome>
    ) {
        self.set = set
        self.get = get
        self.value = value
        self.slot = slot
        self.deadline = deadline
        self.promise = promise
    }

    func end(_ outcome: ClaimOutcome) {
        guard !isOver else { return }
        isOver = true
        connection = nil
        promise.succeed(outcome)
    }

    /// Ends the claim while no command is in flight. It may have been made only if a connection broke earlier.
    func endUnmade() { end(.unavailable(mayBeClaimed: wasBroken)) }
}

/// A claim that is being released. Confined to one event loop.
private final class ValkeyRelease {
    let command: RESPCommand
    private let promise: EventLoopPromise<Bool>
    var outcome: EventLoopFuture<Bool> { promise.futureResult }
    private(set) var isOver = false
    var redirections = 0

    init(_ command: RESPCommand, promise: EventLoopPromise<Bool>) {
        self.command = command
        self.promise = promise
    }

    func end(_ isReleased: Bool) {
        guard !isOver else { return }
        isOver = true
        promise.succeed(isReleased)
    }
}
