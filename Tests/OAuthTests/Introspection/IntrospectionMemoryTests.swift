import HTTP
import IDToken
@testable import OAuth
import Testing

@Suite struct IntrospectionMemoryTests {
    private typealias Memory = IntrospectionMemory<String>

    private static let key = IntrospectionKey(entry: 1, sha256: [1])
    private static let minute = Interval.seconds(60)

    private func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: seconds * 1000) }
    private func unix(_ seconds: Int64) -> UnixTime { UnixTime(seconds: 1_700_000_000 + seconds) }

    private func answer(askedAt seconds: Int64, expiresIn lifetime: Int64? = nil, size: Int = 100) throws
        -> Memory.Outcome
    {
        .active(try knownAnswer(askedAt: time(seconds), expiresAt: lifetime.map(unix), size: size))
    }

    private func ask(
        _ memory: inout Memory, _ waiter: Int, at seconds: Int64, upTo age: Interval = minute,
        _ key: IntrospectionKey = key
    ) -> String {
        let step = memory.ask(
            key, "\(waiter)", id: waiter, usingAnswersUpTo: age, now: time(seconds), unix(seconds))
        return switch step {
        case .known: "known"
        case .inactive: "inactive"
        case .wait: "wait"
        case .ask: "ask"
        }
    }

    private func end(
        _ memory: inout Memory, _ outcome: Memory.Outcome?, at seconds: Int64, keepingFor age: Interval = minute,
        _ key: IntrospectionKey = key
    ) -> [Int] {
        memory.end(key, outcome, keepingFor: age, now: time(seconds), unix(seconds)).keys.sorted()
    }

    @Test func `all that wait share one question`() throws {
        var memory = Memory(capacity: 10)
        #expect(ask(&memory, 1, at: 0) == "ask")
        #expect(ask(&memory, 2, at: 1) == "wait")
        #expect(ask(&memory, 3, at: 2) == "wait")
        #expect(try end(&memory, answer(askedAt: 0), at: 3) == [1, 2, 3])
        #expect(ask(&memory, 4, at: 3) == "known")
    }

    @Test func `another token or entry is another question`() {
        var memory = Memory(capacity: 10)
        #expect(ask(&memory, 1, at: 0) == "ask")
        #expect(ask(&memory, 2, at: 0, .init(entry: 1, sha256: [2])) == "ask")
        #expect(ask(&memory, 3, at: 0, .init(entry: 2, sha256: [1])) == "ask")
        #expect(end(&memory, .inactive, at: 1) == [1])
    }

    @Test func `a waiter that leaves ends no question`() throws {
        var memory = Memory(capacity: 10)
        #expect(ask(&memory, 1, at: 0) == "ask")
        #expect(ask(&memory, 2, at: 0) == "wait")
        #expect(memory.leave(Self.key, id: 1) == "1")
        #expect(memory.leave(Self.key, id: 1) == nil)
        #expect(memory.leave(Self.key, id: 2) == "2")
        // Nobody waits, but the answer is still on its way.
        #expect(ask(&memory, 3, at: 1) == "wait")
        #expect(try end(&memory, answer(askedAt: 0), at: 2) == [3])
        #expect(ask(&memory, 4, at: 2) == "known")
    }

    @Test func `an answer is kept as long as the settings say, from when it was asked for`() throws {
        var memory = Memory(capacity: 10)
        _ = ask(&memory, 1, at: 0)
        _ = try end(&memory, answer(askedAt: 0), at: 10)
        #expect(ask(&memory, 2, at: 59) == "known")
        #expect(ask(&memory, 3, at: 59, upTo: .seconds(30)) == "ask")
        _ = try end(&memory, answer(askedAt: 59), at: 59)
        #expect(ask(&memory, 4, at: 119) == "ask")
    }

    @Test func `without a cache nothing about active tokens is kept`() throws {
        var memory = Memory(capacity: 10)
        for round: Int64 in 0..<3 {
            #expect(ask(&memory, 1, at: round, upTo: .seconds(0)) == "ask")
            _ = try end(&memory, answer(askedAt: round), at: round, keepingFor: .seconds(0))
        }
    }

    @Test func `no answer is used past the token's expiry`() throws {
        var memory = Memory(capacity: 10)
        _ = ask(&memory, 1, at: 0)
        _ = try end(&memory, answer(askedAt: 0, expiresIn: 20), at: 1)
        #expect(ask(&memory, 2, at: 19) == "known")
        #expect(ask(&memory, 3, at: 20) == "ask")
        _ = try end(&memory, answer(askedAt: 20, expiresIn: 20), at: 20)
        #expect(ask(&memory, 4, at: 20) == "ask")
    }

    @Test func `an inactive token is known for five seconds, without a cache too`() {
        var memory = Memory(capacity: 10)
        _ = ask(&memory, 1, at: 0, upTo: .seconds(0))
        _ = end(&memory, .inactive, at: 1, keepingFor: .seconds(0))
        #expect(ask(&memory, 2, at: 5, upTo: .seconds(0)) == "inactive")
        #expect(ask(&memory, 3, at: 6, upTo: .seconds(0)) == "ask")
    }

    @Test func `a failure is not remembered`() {
        var memory = Memory(capacity: 10)
        _ = ask(&memory, 1, at: 0)
        #expect(end(&memory, nil, at: 1) == [1])
        #expect(ask(&memory, 2, at: 1) == "ask")
    }

    @Test func `junk displaces no answer about a good token`() throws {
        var memory = Memory(capacity: 3)
        _ = ask(&memory, 0, at: 0)
        _ = try end(&memory, answer(askedAt: 0), at: 0)
        for number: UInt8 in 10..<100 {
            let junk = IntrospectionKey(entry: 1, sha256: [number])
            #expect(ask(&memory, Int(number), at: 0, junk) == "ask")
            _ = end(&memory, .inactive, at: 0, junk)
        }
        #expect(ask(&memory, 1, at: 0) == "known")
        #expect(ask(&memory, 2, at: 0, .init(entry: 1, sha256: [99])) == "inactive")
        #expect(ask(&memory, 3, at: 0, .init(entry: 1, sha256: [10])) == "ask")
    }

    @Test func `with no room nothing is kept, and questions are still shared`() throws {
        var memory = Memory(capacity: 0)
        #expect(ask(&memory, 1, at: 0) == "ask")
        #expect(ask(&memory, 2, at: 0) == "wait")
        #expect(try end(&memory, answer(askedAt: 0), at: 0) == [1, 2])
        #expect(ask(&memory, 3, at: 0) == "ask")
    }

    @Test func `an answer is not used if the clock went back`() throws {
        var memory = Memory(capacity: 10)
        _ = ask(&memory, 1, at: 100)
        _ = try end(&memory, answer(askedAt: 100), at: 100)
        #expect(ask(&memory, 2, at: 99) == "ask")
    }
}

/// What a loop knows besides.
@Suite struct LoopIntrospectionsTests {
    private let loop = LoopIntrospections()
    private let key = IntrospectionKey(entry: 1, sha256: [1])

    private func isUsable(at seconds: Int64, upTo age: Interval = .seconds(60), _ other: IntrospectionKey? = nil)
        -> Bool
    {
        let now = MonotonicTime(milliseconds: seconds * 1000)
        return loop.usable(other ?? key, upTo: age, now: now, UnixTime(seconds: seconds)) != nil
    }

    @Test func `what the shared memory forgets is forgotten on every loop`() throws {
        var memory = IntrospectionMemory<String>(capacity: 1)
        let zero = MonotonicTime(milliseconds: 0)
        func end(_ key: IntrospectionKey, isKnownHere: Bool) throws {
            let answer = try knownAnswer(askedAt: zero)
            if isKnownHere { loop.insert(answer, nil, for: key) }
            _ = memory.end(
                key, .active(answer), keepingFor: .seconds(60), now: zero, UnixTime(seconds: 0))
        }
        try end(key, isKnownHere: true)
        #expect(isUsable(at: 1))
        #expect(!isUsable(at: 1, IntrospectionKey(entry: 2, sha256: [1])))
        try end(IntrospectionKey(entry: 1, sha256: [2]), isKnownHere: false)
        #expect(!isUsable(at: 1))
    }

    @Test(arguments: [(10, true), (39, true), (40, false), (9, false)] as [(Int64, Bool)])
    func `an answer is not used past the token's expiry`(seconds: Int64, isUsed: Bool) throws {
        let answer = try knownAnswer(askedAt: MonotonicTime(milliseconds: 10_000), expiresAt: UnixTime(seconds: 40))
        loop.insert(answer, nil, for: key)
        #expect(isUsable(at: seconds) == isUsed)
        // The answer lives as long as somebody has it.
        #expect(answer.keys == nil)
    }

    @Test(arguments: [(29, true), (30, false)] as [(Int64, Bool)])
    func `an answer is not used past its time`(seconds: Int64, isUsed: Bool) throws {
        let answer = try knownAnswer(askedAt: MonotonicTime(milliseconds: 10_000))
        loop.insert(answer, nil, for: key)
        #expect(isUsable(at: seconds, upTo: .seconds(20)) == isUsed)
        #expect(answer.keys == nil)
    }
}

private func knownAnswer(
    askedAt: MonotonicTime, expiresAt: UnixTime? = nil, size: Int = 100
) throws -> KnownAnswer {
    let introspected = try #require(IntrospectedClaims(Array("{}".utf8)))
    let token = ActiveToken(introspected: introspected, expiresAt: expiresAt, size: size)
    return KnownAnswer(token: token, keys: nil, askedAt: askedAt)
}

@Suite struct BoundedTableTests {
    private typealias Table = BoundedTable<Int, String>

    @Test func `the oldest make room`() {
        var table = Table(capacity: 2)
        for number in 1...3 { table.insert("\(number)", for: number) }
        #expect([table[1], table[2], table[3]] == [nil, "2", "3"])
        // What is inserted again is the newest.
        table.insert("2b", for: 2)
        table.insert("4", for: 4)
        #expect([table[2], table[3], table[4]] == ["2b", nil, "4"])
    }

    @Test func `large entries make room for fewer`() {
        var table = Table(capacity: 4, meanSize: 100)
        for number in 1...4 { table.insert("\(number)", for: number, size: 100) }
        #expect(table.count == 4)
        table.insert("5", for: 5, size: 200)
        #expect((1...5).map { table[$0] != nil } == [false, false, true, true, true])
        table.insert("6", for: 6, size: 500)
        #expect(table.count == 0)
    }

    @Test func `a smaller table forgets at once`() {
        var table = Table(capacity: 10)
        for number in 1...10 { table.insert("\(number)", for: number) }
        table.capacity = 3
        #expect((1...10).filter { table[$0] != nil } == [8, 9, 10])
    }

    @Test func `removals and replacements leave the order as it was`() {
        var table = Table(capacity: 3)
        for round in 0..<1000 {
            table.insert("\(round)", for: round % 5)
            table.remove((round + 1) % 5)
            #expect(table.count <= 3)
            #expect(table[round % 5] == "\(round)")
        }
        table.removeOldest { _ in true }
        #expect(table.count == 0)
    }

    @Test func `what is forgotten leaves nothing behind`() {
        var table = Table(capacity: 3)
        for number in 0..<1000 {
            table.insert("", for: number)
            #expect(table.order.count <= 2 * table.count + Table.slack + 1)
        }
        for number in 1000..<2000 {
            table.insert("", for: number)
            table.removeOldest { _ in true }
            #expect(table.order.count <= 2 * table.count + Table.slack + 1)
        }
    }
}
