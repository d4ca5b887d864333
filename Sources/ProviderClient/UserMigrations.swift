package import Grants
private import Synchronization

/// Asks Apple about many users whose app moves to another team: one request each, not faster than allowed, and again
/// where that may help. The failure of one user never ends the others' turn.
package struct UserMigrations<C: Clock>: Sendable where C.Duration == Duration {
    private let clock: C
    private let requestsPerSecond: Int
    private let tokens: MigrationTokens<C>
    private let migrate: Migrate

    /// Sends one request.
    package typealias Migrate =
        @Sendable (UserMigrationRequest, AccessToken) async -> Result<UserMigration, CallFailure>
    /// Gets an access token of the scope `user.migration`, and how long it lives.
    package typealias Authorize =
        @Sendable () async -> Result<(token: AccessToken, lifetime: Duration), CallFailure>

    /// - Parameters:
    ///   - requestsPerSecond: positive; tries count.
    ///   - clock: for the rate, for waiting, and for the life of access tokens.
    package init(
        requestsPerSecond: Int, clock: C, authorize: @escaping Authorize, migrate: @escaping Migrate
    ) {
        self.clock = clock
        self.requestsPerSecond = requestsPerSecond
        self.migrate = migrate
        tokens = MigrationTokens(clock, authorize)
    }

    /// The most requests in flight: enough for the rate if each takes two seconds.
    package static func maximumInFlight(requestsPerSecond: Int) -> Int { min(max(2 * requestsPerSecond, 1), 64) }

    /// Asks about all users.
    ///
    /// - Parameter record: called once for each user, in no order and at the same time. If it throws, the run ends.
    /// - Throws: ``UserMigrationUnauthorized``, or the error of `record`.
    package func run(
        _ requests: [UserMigrationRequest],
        record: @escaping @Sendable (UserMigrationRequest, UserMigrationOutcome) throws -> Void
    ) async throws {
        guard !requests.isEmpty else { return }
        // Before any user's turn, so that credentials that don't work are reported at once.
        _ = try await tokens.token()
        let queue = Queue(requests)
        let pacer = Pacer(clock, interval: .seconds(1) / requestsPerSecond)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<min(Self.maximumInFlight(requestsPerSecond: requestsPerSecond), requests.count) {
                group.addTask {
                    do {
                        while let request = queue.next() { try record(request, try await outcome(of: request, pacer)) }
                    } catch {
                        queue.removeAll()
                        throw error
                    }
                }
            }
            // Unlike `waitForAll`, this cancels the others at the first error.
            for try await _ in group {}
        }
    }

    private func outcome(of request: UserMigrationRequest, _ pacer: Pacer<C>) async throws -> UserMigrationOutcome {
        var rejected: AccessToken?
        var count = 0
        while true {
            try await pacer.turn()
            // Afterwards, because a turn may be long in coming.
            let token = try await tokens.token(notThis: rejected)
            count += 1
            let failure: CallFailure
            switch await migrate(request, token) {
            case .success(let migration): return .done(migration)
            case .failure(let found): failure = found
            }
            if let error = failure.refusalOfUser { return .refused(error) }
            guard count < Tries.maximum else { return .failed(failure) }
            if failure == .refused(.invalidToken) {
                rejected = token
                continue
            }
            let pause = Tries.pause(after: count, failure)
            // Apple asks everyone to wait, not this user alone.
            if failure.retryAfterSeconds != nil { await pacer.pause(for: pause) }
            try await clock.sleep(for: pause)
        }
    }
}

/// What became of one user.
package enum UserMigrationOutcome: Sendable, Equatable {
    case done(UserMigration)
    /// Apple refuses this user, and would again.
    case refused(OAuthErrorName)
    /// Another run may succeed.
    case failed(CallFailure)
}

/// No access token could be had, so nobody can be asked about.
package struct UserMigrationUnauthorized: Error, Equatable {
    package let failure: CallFailure

    package init(_ failure: CallFailure) { self.failure = failure }
}

/// The users who are still to be asked about.
private final class Queue: Sendable {
    private let rest: Mutex<ArraySlice<UserMigrationRequest>>

    init(_ requests: [UserMigrationRequest]) { rest = Mutex(requests[...]) }

    func next() -> UserMigrationRequest? { rest.withLock { $0.popFirst() } }
    func removeAll() { rest.withLock { $0 = [] } }
}

/// Lets one request after the other go, not faster than a rate.
private actor Pacer<C: Clock> where C.Duration == Duration {
    private let clock: C
    private let interval: Duration
    private var next: C.Instant

    init(_ clock: C, interval: Duration) {
        self.clock = clock
        self.interval = interval
        next = clock.now
    }

    /// Waits for the caller's turn.
    func turn() async throws {
        let mine = max(next, clock.now)
        next = mine.advanced(by: interval)
        try await clock.sleep(until: mine, tolerance: nil)
    }

    func pause(for duration: Duration) { next = max(next, clock.now.advanced(by: duration)) }
}

/// The access token, renewed before it expires. All users share it.
private actor MigrationTokens<C: Clock> where C.Duration == Duration {
    private let clock: C
    private let authorize: UserMigrations<C>.Authorize
    private var current: (token: AccessToken, until: C.Instant)?
    private var renewal: Task<AccessToken, any Error>?

    init(_ clock: C, _ authorize: @escaping UserMigrations<C>.Authorize) {
        self.clock = clock
        self.authorize = authorize
    }

    /// - Parameter rejected: a token that Apple does not accept any more.
    /// - Throws: ``UserMigrationUnauthorized``.
    func token(notThis rejected: AccessToken? = nil) async throws -> AccessToken {
        if let current, current.token != rejected, clock.now < current.until { return current.token }
        if let renewal { return try await renewal.value }
        let renewal = Task { try await renew() }
        self.renewal = renewal
        defer { self.renewal = nil }
        return try await renewal.value
    }

    private func renew() async throws -> AccessToken {
        var count = 0
        while true {
            count += 1
            switch await authorize() {
            case .success(let (token, lifetime)):
                // Early, because requests take time.
                current = (token, clock.now.advanced(by: max(lifetime - .seconds(300), lifetime / 2)))
                return token
            case .failure(let failure):
                guard failure.mayPass, count < Tries.maximum else {
                    throw UserMigrationUnauthorized(failure)
                }
                try await clock.sleep(for: Tries.pause(after: count, failure))
            }
        }
    }
}

private enum Tries {
    static let maximum = 4

    /// As long as Apple asks for; otherwise about 1, 4, 16 s, with jitter so that many users don't come back together.
    static func pause(after count: Int, _ failure: CallFailure) -> Duration {
        if let seconds = failure.retryAfterSeconds { return .seconds(seconds) }
        return .milliseconds((1 << (2 * (count - 1))) * Int.random(in: 750...1250))
    }
}

extension CallFailure {
    /// Apple's error about this one user; `nil` for a failure that may pass, or that is about the client.
    fileprivate var refusalOfUser: OAuthErrorName? {
        switch self {
        case .refused(.invalidToken), .refused(.serverError), .refused(.temporarilyUnavailable), .refused(.slowDown):
            nil
        case .refused(let name), .grantInvalid(let name): name
        case .notSent, .unavailable, .clientRejected, .answerInvalid: nil
        }
    }

    /// Whether another request for an access token may succeed.
    fileprivate var mayPass: Bool {
        switch self {
        case .notSent(.credential), .clientRejected, .grantInvalid, .refused: false
        case .notSent(.unreachable), .notSent(.timeout), .unavailable, .answerInvalid: true
        }
    }

    fileprivate var retryAfterSeconds: Int64? {
        if case .unavailable(_, let seconds) = self { seconds } else { nil }
    }
}
