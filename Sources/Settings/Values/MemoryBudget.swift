package import HTTPServer

/// How the memory that the process may take is shared out among what clients can have it hold: the defaults of
/// `limits.max_connections`, `max_in_flight` and `max_buffered` under a limit of memory.
///
/// What the process takes for itself comes first. Of the rest, connections get a half, requests that are held a fifth, unread
/// answers up to an eighth, and requests that wait for keys another. The remainder stays free, since no allocator returns
/// everything.
package struct MemoryBudget: Sendable, Equatable {
    /// The usual limits, those three lowered.
    package private(set) var limits = Settings.Limits().listener
    private let rest: Int

    /// - Parameters:
    ///   - bytes: what the process may take, the kernel's memory for its sockets included.
    ///   - isEncrypted: whether the service listener speaks TLS.
    package init(bytes: Int, isEncrypted: Bool, rememberedTokens: Int, providers: Int) {
        let own = Self.process + rememberedTokens * Self.rememberedToken + providers * Self.provider
        let rest = max(0, bytes - own)
        let connection = isEncrypted ? Self.encryptedConnection : Self.connection
        limits.maximumConnections = (rest / 2 / connection).clamped(to: Self.least...limits.maximumConnections)
        // Unread answers may hold half as much, and a quarter of that again for a moment.
        limits.maximumBuffered = (rest / 5).clamped(to: Self.leastBuffered...limits.maximumBuffered)
        limits.maximumInFlight = (rest / 8 / Self.waitingRequest).clamped(to: Self.least...limits.maximumInFlight)
        self.rest = rest
    }

    /// The size of a connection's receive buffer, and of its send buffer.
    ///
    /// What a receive buffer holds is known only after the fact, so all of them together may take no more than what the
    /// process does not need for itself: it is not likely that all are full at once, and that everything else is held as well.
    ///
    /// - Parameter connections: how many there may be.
    package func socketBuffer(connections: Int) -> Int {
        // The kernel takes twice what it is asked for, to account for its own structures.
        (rest / connections / 2).clamped(to: Self.leastSocketBuffer...ListenerLimits().socketBuffer)
    }

    private static let leastSocketBuffer = 8 * 1024
    private static let mebibyte = 1024 * 1024
    /// The program, its event loops, a full log buffer, the largest request that is being read, and the admin listener.
    private static let process = 36 * mebibyte
    /// Its keys, and a fetch of them.
    private static let provider = mebibyte / 4
    private static let rememberedToken = 512
    /// What it takes here, what it takes in the kernel, and up to 4 KB that it leaves unread.
    private static let connection = 16 * 1024
    /// Beside that, the buffers of TLS, for which one record of each direction has come.
    private static let encryptedConnection = 80 * 1024
    /// Beside its bytes, which count as held.
    private static let waitingRequest = 4 * 1024
    /// However little memory there is, the service is of use to somebody.
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
    /// Lowers the limits that depend on memory, where neither the file nor the environment sets them, and records them as
    /// the values in effect.
    ///
    /// - Parameter memory: bytes that the process may take; `nil`: no limit.
    mutating func fitLimits(to memory: Int?, _ reading: SettingsReading) {
        limits.given = Set(
            ListenerLimit.allCases.filter { reading.effective[["limits", $0.rawValue]]?.origin != .default })
        guard let memory else { return }
        let budget = MemoryBudget(
            bytes: memory, isEncrypted: service.tls != nil, rememberedTokens: verifiedTokenCacheEntries,
            providers: providers.count)
        for limit in ListenerLimit.allCases where !limits.given.contains(limit) {
            let maximum = budget.limits[keyPath: limit.path]
            guard limits.listener[keyPath: limit.path] != maximum else { continue }
            limits.listener[keyPath: limit.path] = maximum
            reading.record(["limits", limit.rawValue], .scalar(limit.text(maximum)), .memory(memory))
        }
        limits.listener.socketBuffer = budget.socketBuffer(connections: limits.listener.maximumConnections)
    }

    /// Takes over the running service's limits where both leave them open.
    ///
    /// They follow from the number of providers among other things, and can't change without a restart: a provider that is
    /// added must not make a reload fail.
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
