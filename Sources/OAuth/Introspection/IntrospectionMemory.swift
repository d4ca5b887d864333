package import HTTP
internal import IDToken

/// Which answers about opaque tokens are known, and which questions are under way: all that need the same answer wait
/// for one question.
///
/// Pure: events and the time go in. It has hashes of tokens, never a token.
struct IntrospectionMemory<Waiter: Sendable>: Sendable {
    typealias Key = IntrospectionKey

    private var questions: [Key: [Int: Waiter]] = [:]
    private var active: BoundedTable<Key, KnownAnswer>
    /// A table of its own, so that junk never displaces answers about good tokens.
    private var inactive: BoundedTable<Key, MonotonicTime>

    /// What to do for a request.
    enum Step {
        case known(KnownAnswer)
        case inactive
        /// Wait for a question that is under way.
        case wait
        /// Ask, and report the outcome to ``end(_:_:keepingFor:now:_:)``.
        case ask
    }

    /// How long a token stays known as inactive: then junk that is repeated costs one question.
    static var inactivePeriod: Interval { .seconds(5) }

    /// - Parameter capacity: of each of the two tables.
    init(capacity: Int) {
        active = BoundedTable(capacity: capacity)
        inactive = BoundedTable(capacity: capacity)
    }

    var capacity: Int {
        get { active.capacity }
        set {
            active.capacity = newValue
            inactive.capacity = newValue
        }
    }

    /// A request needs an answer.
    ///
    /// - Parameters:
    ///   - waiter: kept if it has to wait.
    ///   - id: different for each waiter.
    ///   - maximumAge: of a known answer; 0: none is used.
    mutating func ask(
        _ key: Key, _ waiter: Waiter, id: Int, usingAnswersUpTo maximumAge: Interval, now: MonotonicTime,
        _ unixNow: UnixTime
    ) -> Step {
        if let known = active[key] {
            if known.isUsable(upTo: maximumAge, now: now, unixNow) { return .known(known) }
            active.remove(key)
        }
        if let since = inactive[key] {
            if now - since < Self.inactivePeriod, now >= since { return .inactive }
            inactive.remove(key)
        }
        let isUnderWay = questions[key] != nil
        questions[key, default: [:]][id] = waiter
        return isUnderWay ? .wait : .ask
    }

    /// A waiter gives up. The question stays under way for the others, and for the answer itself.
    ///
    /// - Returns: `nil` if it no longer waits.
    mutating func leave(_ key: Key, id: Int) -> Waiter? { questions[key]?.removeValue(forKey: id) }

    /// A question has ended.
    ///
    /// - Parameters:
    ///   - outcome: `nil` if there is no answer. That is not remembered.
    ///   - maximumAge: how long an answer about an active token is kept, but never past the token's expiry.
    /// - Returns: everyone who waits for it.
    mutating func end(
        _ key: Key, _ outcome: Outcome?, keepingFor maximumAge: Interval, now: MonotonicTime, _ unixNow: UnixTime
    ) -> [Int: Waiter] {
        switch outcome {
        case .active(let answer)? where answer.isUsable(upTo: maximumAge, now: now, unixNow):
            active.removeOldest { !$0.isUsable(upTo: maximumAge, now: now, unixNow) }
            active.insert(answer, for: key, size: answer.token.size)
        case .inactive?:
            inactive.removeOldest { now - $0 >= Self.inactivePeriod }
            inactive.insert(now, for: key)
        case .active?, nil: break
        }
        return questions.removeValue(forKey: key) ?? [:]
    }

    enum Outcome {
        case active(KnownAnswer)
        case inactive
    }
}

/// A token, as one entry of the settings asks about it.
package struct IntrospectionKey: Hashable, Sendable {
    /// Another number for each entry, and for each version of its settings.
    let entry: Int
    /// Of the token.
    let sha256: [UInt8]

    /// All octets at once: one by one, they took 450 instructions more.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(entry)
        unsafe sha256.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
}

/// An answer about an active token.
// A class, so that other loops' references to it end when it is forgotten.
package final class KnownAnswer: Sendable {
    package let token: ActiveToken
    /// `nil` if the answer was not signed.
    package let keys: SigningKeys?
    /// When the question was sent: the answer may be as old.
    package let askedAt: MonotonicTime

    init(token: ActiveToken, keys: SigningKeys?, askedAt: MonotonicTime) {
        self.token = token
        self.keys = keys
        self.askedAt = askedAt
    }

    /// Whether a request may use the answer: it is not too old, and the token has not expired.
    func isUsable(upTo maximumAge: Interval, now: MonotonicTime, _ unixNow: UnixTime) -> Bool {
        now - askedAt < maximumAge && now >= askedAt && token.expiresAt.map { unixNow < $0 } ?? true
    }
}
