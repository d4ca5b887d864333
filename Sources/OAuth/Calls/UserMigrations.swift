/// Migrates many users whose app moves to another Apple team: one request for each, at a limited rate, with retries
/// where they may help. The failure of one user does not affect the others.
package struct UserMigrations<C: Clock>: Sendable where C.Duration == Duration {
    private let clock: C
    private let requestsPerSecond: Int
    private let tokens: MigrationTokens<C>
    private let migrate: Migrate

    /// Sends one request.
    package typealias Migrate =
        @Sendable (UserMigrationRequest, AccessToken) async -> Result<UserMigration, CallFailure>
    /// Gets an access token for the scope `user.migration`, and its lifetime.
    package typealias Authorize =
        @Sendable () async -> Result<(token: AccessToken, lifetime: Duration), CallFailure>

    /// - Parameters:
    ///   - requestsPerSecond: positive; retries count.
    ///   - clock: for the rate, for waiting, and for the lifetime of access tokens.
    package init(
        requestsPerSecond: Int, clock: C, authorize: @escaping Authorize, migrate: @escaping Migrate
    ) {
        self.clock = clock
        self.requestsPerSecond = requestsPerSecond
        self.migrate = migrate
        tokens = MigrationTokens(clock, authorize)
    }

    /// The maximum number of requests in flight: enough for the rate if each takes two seconds, but at most 64.
    package static func maximumInFlight(requestsPerSecond: Int) -> Int { min(max(2 * requestsPerSecond, 1), 64) }

    /// Migrates all users.
    ///
    /// - Parameter record: called once for each user, in any order and concurrently. If it throws, the run ends.
    /// - Throws: ``UserMigrationUnauthorized``, or the error of `record`.
    package func run(
        _ requests: [UserMigrationRequest],
        record: @escaping @Sendable (UserMigrationRequest, UserMigrationOutcome) throws -> Void
    ) async throws {
        guard !requests.isEmpty else { return }
        // Before the first user, so that wrong credentials are reported at once.
        _ = try await tokens.token()
        var rest = requests[...]
        let pacer = Pacer(clock, interval: .seconds(1) / requestsPerSecond)
        try await withThrowingTaskGroup(of: Void.self) { group in
            func beginNext() {
                guard let request = rest.popFirst() else { return }
                group.addTask { try record(request, try await outcome(of: request, pacer)) }
            }
            for _ in 0..<Self.maximumInFlight(requestsPerSecond: requestsPerSecond) { beginNext() }
            // The first error cancels the others, and begins no more.
            while try await group.next() != nil { beginNext() }
        }
    }

    private func outcome(of request: UserMigrationRequest, _ pacer: Pacer<C>) async throws -> UserMigrationOutcome {
        var rejected: AccessToken?
        var count = 0
        while true {
            try await pacer.turn()
            // After waiting, because that may take long.
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
            // Apple asks for a pause of all requests, not only of this user's.
            if failure.retryAfterSeconds != nil { await pacer.pause(for: pause) }
            try await clock.sleep(for: pause)
        }
    }
}

/// The outcome for one user.
package enum UserMigrationOutcome: Sendable, Equatable {
    case done(UserMigration)
    /// Apple refuses this user, so a retry would not help.
    case refused(OAuthErrorName)
    /// Another run may succeed.
    case failed(CallFailure)
}

/// There is no access token, so no user can be migrated.
package struct UserMigrationUnauthorized: Error, Equatable {
    package let failure: CallFailure

    package init(_ failure: CallFailure) { self.failure = failure }
}

/// Paces requests to at most a given rate.
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

    /// - Parameter rejected: a token that Apple no longer accepts.
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

    /// As long as Apple asks for; otherwise about 1, 4, 16 s, with jitter so that many users are not retried at once.
    static func pause(after count: Int, _ failure: CallFailure) -> Duration {
        if let seconds = failure.retryAfterSeconds { return .seconds(seconds) }
        return .milliseconds((1 << (2 * (count - 1))) * Int.random(in: 750...1250))
    }
}

extension CallFailure {
    /// Apple's error about this one user; `nil` for a temporary failure, or one about the client.
    fileprivate var refusalOfUser: OAuthErrorName? {
        switch self {
        case .refused(.invalidToken), .refused(.serverError), .refused(.temporarilyUnavailable), .refused(.slowDown):
            nil
        case .refused(let name), .grantInvalid(let name, _): name
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
