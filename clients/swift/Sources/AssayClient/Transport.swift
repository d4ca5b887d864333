/// The connection failed. `sent`: Assay may have got the request anyway. `detail`: where; unless `sent`, also why.
public struct NoAnswer: Error {
    public var sent: Bool
    public var detail: String?

    public init(sent: Bool, detail: String? = nil) {
        self.sent = sent
        self.detail = detail
    }
}

/// An HTTP response.
public struct Reply: Sendable {
    public var status: Int
    public var body: [UInt8]
    /// Seconds.
    public var retryAfter: Int?

    public init(status: Int, body: [UInt8], retryAfter: Int? = nil) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
    }
}

/// How a client reaches Assay; a test may have its own.
public protocol Transport: Sendable {
    /// Without a body, it is a GET. `once`: over a new connection, which nobody has closed as idle. Throws `NoAnswer`.
    func send(path: String, body: [UInt8], headers: [(String, String)], timeout: Duration, once: Bool) async throws
        -> Reply

    /// Since some moment.
    func now() -> Duration

    func sleep(_ duration: Duration) async throws
}

extension Transport {
    public func now() -> Duration { started.duration(to: .now) }

    public func sleep(_ duration: Duration) async throws { try await Task.sleep(for: duration) }
}

private let started = ContinuousClock.now
