private import Glibc
internal import NIOCore
private import NIOPosix
private import NIOSSL
private import OpenSSL

/// The connection to one server, reopened whenever it ends. Confined to one event loop.
final class ValkeyNode {
    let address: StoreAddress
    private let loop: any EventLoop
    private let settings: ValkeySettings
    private let monitor: StoreMonitor
    /// Whether to stay connected even if there is no demand.
    private let isPermanent: Bool
    private var state = State.idle
    /// Called when the connection is ready or has failed.
    private var waiting: [(Connection?) -> Void] = []
    /// Consecutive connections that failed or ended early.
    private var failures = 0
    /// Whether a connection was requested since the last one ended.
    private var isWanted = false
    /// Why it can't be used; `nil` if it can, or if that is not known yet.
    private(set) var failure: StoreFailure?
    /// The share of the server's memory in use, as it last said.
    private(set) var memoryUse: Double?
    private var nextReport: Scheduled<Void>?
    /// Called when a connection fails or ends, and after the backoff if none has been requested.
    private let onChange: (Change) -> Void

    /// A connection that has completed its greeting.
    struct Connection {
        let replies: ReplyQueue
        let confirmation: ReplicaConfirmation
    }

    enum Change { case failed, unused }

    private enum State {
        case idle
        case connecting
        /// Connected, but the greeting is not complete yet.
        case greeting(ReplyQueue, limit: Scheduled<Void>)
        case ready(Connection, since: NIODeadline)
        /// Commands in flight still get their replies, but no more are sent.
        case draining(ReplyQueue)
        /// Backoff before the next connection.
        case resting(Scheduled<Void>)
        case ended
    }

    private static let shortestRest = TimeAmount.milliseconds(50)
    private static let longestRest = TimeAmount.seconds(2)
    /// Maximum number of claims that wait for the connection.
    private static let maximumWaiting = 1024

    init(
        _ address: StoreAddress, _ settings: ValkeySettings, on loop: any EventLoop, _ monitor: StoreMonitor,
        isPermanent: Bool, onChange: @escaping (Change) -> Void
    ) {
        self.address = address
        self.settings = settings
        self.loop = loop
        self.monitor = monitor
        self.isPermanent = isPermanent
        self.onChange = onChange
        if isPermanent { connect() }
    }

    /// The connection; `nil` while it is not ready.
    var connection: Connection? { if case .ready(let connection, _) = state { connection } else { nil } }

    /// Calls `body` with the connection as soon as it is ready, possibly at once; with `nil` if none can be expected
    /// soon.
    func whenReady(_ body: @escaping (Connection?) -> Void) {
        isWanted = true
        switch state {
        case .ready(let connection, _): body(connection)
        case .idle, .connecting, .greeting:
            guard waiting.count < Self.maximumWaiting else { return body(nil) }
            waiting.append(body)
            connect()
        case .draining, .resting, .ended: body(nil)
        }
    }

    /// Drains the connection, because its server must not be used, and opens another. The server may be repaired by
    /// then, or the host name may resolve to a new primary.
    func leave(_ failure: StoreFailure) {
        guard case .ready(let connection, _) = state else { return }
        state = .draining(connection.replies)
        nextReport?.cancel()
        connection.replies.endWhenAnswered(failure)
    }

    /// Closes permanently after all commands in flight have their replies.
    func retire() {
        let last = state
        state = .ended
        nextReport?.cancel()
        monitor.forget(self)
        switch last {
        case .greeting(let replies, let limit):
            limit.cancel()
            replies.end(.closed)
        case .ready(let connection, _): connection.replies.endWhenAnswered(.closed)
        case .resting(let task): task.cancel()
        case .idle, .connecting, .draining, .ended: break
        }
        refuseWaiting()
    }

    /// Closes permanently and at once.
    func end() {
        let replies: ReplyQueue? =
            switch state {
            case .ready(let connection, _): connection.replies
            case .draining(let replies): replies
            case .idle, .connecting, .greeting, .resting, .ended: nil
            }
        retire()
        replies?.end(.closed)
    }

    private func connect() {
        guard case .idle = state else { return }
        state = .connecting
        let bootstrap = ClientBootstrap(group: loop).connectTimeout(settings.greetingTimeout)
        let channel =
            switch address {
            case .network(let host, let port):
                Self.keptAlive(bootstrap.channelOption(.tcpOption(.tcp_nodelay), value: 1))
                    .connect(host: host, port: port)
            case .unixSocket(let path): bootstrap.connect(unixDomainSocketPath: path)
            }
        channel.assumeIsolated().whenComplete { result in
            switch result {
            case .success(let channel): self.greet(over: channel)
            case .failure(let error): self.rest(.connection(error))
            }
        }
    }

    /// Turns on TCP keepalive. Otherwise, a firewall or NAT may drop an idle connection, and the next claim fails.
    private static func keptAlive(_ bootstrap: ClientBootstrap) -> ClientBootstrap {
        bootstrap.channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPIDLE)), value: 30)
            .channelOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPINTVL)), value: 10)
            .channelOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPCNT)), value: 3)
    }

    private func greet(over channel: any Channel) {
        guard case .connecting = state else { return channel.close(promise: nil) }
        let replies = ReplyQueue { self.ended($0) }
        do {
            if let tls = settings.tls {
                try channel.pipeline.syncOperations.addHandler(
                    NIOSSLClientHandler(context: tls(), serverHostname: address.hostNameForTLS))
            }
            try channel.pipeline.syncOperations.addHandler(replies)
        } catch {
            channel.close(promise: nil)
            return rest(.connection(error))
        }
        let limit = loop.assumeIsolated().scheduleTask(in: settings.greetingTimeout) {
            replies.end(.silent)
        }
        state = .greeting(replies, limit: limit)
        if let password = settings.password?() {
            let octets = password.withBytes { octets in octets.indices.map { octets[$0] } }
            send(.authenticate(username: settings.username, password: octets), over: replies, expecting: "OK") {}
        }
        if settings.database != 0 { send(.select(settings.database), over: replies, expecting: "OK") {} }
        send(.ping, over: replies, expecting: "PONG") {}
        ServerReport.read(over: replies) { report in
            if let failure = self.failure(in: report) { return replies.end(failure) }
            limit.cancel()
            let connection = Connection(
                replies: replies,
                confirmation: ReplicaConfirmation(replicas: self.settings.replicas, timeout: self.settings.timeout))
            self.state = .ready(connection, since: .now())
            self.failure = nil
            self.monitor.recovered(self)
            self.scheduleReport(over: replies)
            let waiting = self.waiting
            self.waiting = []
            for body in waiting { body(connection) }
        }
    }

    /// Notes what a server says, and returns why it must not be used.
    private func failure(in report: ServerReport) -> StoreFailure? {
        memoryUse = report.memoryUse
        if settings.acceptsAnyServer { return nil }
        if report.evictionPolicy == nil, !settings.allowsEviction { monitor.hasUnknownEviction(self) }
        return report.failure(allowingEviction: settings.allowsEviction, urlSetting: settings.urlSetting)
    }

    /// Asks the server again from time to time, because its settings and its role can change.
    private func scheduleReport(over replies: ReplyQueue) {
        nextReport = loop.assumeIsolated().scheduleTask(in: settings.reportInterval) {
            ServerReport.read(over: replies) { report in
                guard case .ready(let connection, _) = self.state, connection.replies === replies else { return }
                if let failure = self.failure(in: report) {
                    self.leave(failure)
                } else {
                    self.scheduleReport(over: replies)
                }
            }
        }
    }

    /// Sends a command of the greeting. Any unexpected reply closes the connection.
    private func send(
        _ command: RESPCommand, over replies: ReplyQueue, expecting expected: String, _ then: @escaping () -> Void
    ) {
        replies.send(command) { result in
            switch result {
            case .reply(.simple(Array(expected.utf8))): then()
            case .reply(.error(let text)): replies.end(.refused(StoreError(text)))
            case .reply: replies.end(.notRESP)
            case .broken: break
            }
        }
    }

    private func ended(_ reason: StoreFailure) {
        nextReport?.cancel()
        switch state {
        case .greeting(_, let limit):
            limit.cancel()
            rest(reason)
        case .ready(_, let since) where .now() - since >= settings.settledAfter:
            // Reconnect without backoff: the server may have been restarted, or a proxy may have closed an idle
            // connection.
            failures = 0
            state = .idle
            isWanted = false
            failed(reason)
            if isPermanent { connect() }
        case .ready, .draining: rest(reason)
        case .idle, .connecting, .resting, .ended: break
        }
    }

    /// Waits with exponential backoff before the next connection. Pending claims fail at once.
    private func rest(_ reason: StoreFailure) {
        if case .ended = state { return }
        let base = min(Self.shortestRest * (1 << min(failures, 6)), Self.longestRest)
        failures += 1
        isWanted = false
        // Jitter, so that event loops and processes don't all reconnect at the same time.
        let rest = base + .nanoseconds(Int64.random(in: 0...base.nanoseconds / 2))
        state = .resting(
            loop.assumeIsolated().scheduleTask(in: rest) {
                guard case .resting = self.state else { return }
                self.state = .idle
                if self.isPermanent { self.connect() } else if !self.isWanted { self.onChange(.unused) }
            })
        failed(reason)
        refuseWaiting()
    }

    private func failed(_ reason: StoreFailure) {
        failure = reason
        monitor.failed(self, reason)
        onChange(.failed)
    }

    private func refuseWaiting() {
        let waiting = waiting
        self.waiting = []
        for body in waiting { body(nil) }
    }
}

extension StoreAddress {
    /// `nil` for IP addresses, which certificates name in another field, and for Unix sockets.
    fileprivate var hostNameForTLS: String? {
        guard case .network(let host, _) = self, (try? SocketAddress(ipAddress: host, port: 0)) == nil else {
            return nil
        }
        return host
    }
}
