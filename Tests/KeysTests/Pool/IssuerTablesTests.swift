import Bytes
import HTTP
@testable import Keys
import Testing

private func seconds(_ number: Double) -> MonotonicTime { MonotonicTime(milliseconds: Int64(number * 1000)) }

@Suite struct IssuerFailuresTests {
    private func entry(until: Double, count: Int = 1) -> IssuerFailures.Entry {
        IssuerFailures.Entry(
            failure: FetchFailure(.dns, "the host name has no address"), count: count, atUnixSeconds: 0,
            until: seconds(until))
    }

    @Test func `an unexpired failure is never evicted`() {
        var failures = IssuerFailures(capacity: 2)
        failures.insert(entry(until: 10), of: ExactString("a"), now: seconds(0))
        failures.insert(entry(until: 20), of: ExactString("b"), now: seconds(0))
        #expect(failures.hasRoom(for: 1, now: seconds(5)) == false)
        failures.insert(entry(until: 30), of: ExactString("c"), now: seconds(5))
        #expect(failures[ExactString("c")] == nil)
        #expect(failures[ExactString("a")] != nil)
        #expect(failures.hasRoom(for: 1, now: seconds(10.1)) == true)
        #expect(failures[ExactString("a")] == nil)
        #expect(failures[ExactString("b")] != nil)
    }

    @Test func `an issuer that is there takes no more room`() {
        var failures = IssuerFailures(capacity: 1)
        failures.insert(entry(until: 10), of: ExactString("a"), now: seconds(0))
        failures.insert(entry(until: 40, count: 2), of: ExactString("a"), now: seconds(11))
        #expect(failures[ExactString("a")]?.count == 2)
        #expect(Array(failures.all).count == 1)
    }

    @Test func `eviction looks at all entries at most ten times a second`() {
        var failures = IssuerFailures(capacity: 2)
        failures.insert(entry(until: 10), of: ExactString("a"), now: seconds(0))
        failures.insert(entry(until: 10.02), of: ExactString("b"), now: seconds(0))
        #expect(failures.hasRoom(for: 1, now: seconds(9.99)) == false)
        #expect(failures.hasRoom(for: 1, now: seconds(10.05)) == false)
        #expect(failures.hasRoom(for: 2, now: seconds(10.1)) == true)
    }
}

@Suite struct IssuerRankingTests {
    private let ranking = IssuerRanking(maximum: 2, idleFor: .seconds(60))

    private func issuer(arrived: Double, used: Double? = nil, isAwaited: Bool = false) -> IssuerRanking.Standing {
        IssuerRanking.Standing(arrivedAt: seconds(arrived), usedAt: used.map(seconds), isAwaited: isAwaited)
    }

    private func surplus(_ issuers: IssuerRanking.Standing..., at now: Double) -> [Int] {
        ranking.surplus(among: issuers, now: seconds(now))
    }

    @Test func `the one used longest ago goes`() {
        #expect(
            surplus(issuer(arrived: 0, used: 50), issuer(arrived: 0, used: 40), issuer(arrived: 0, used: 60), at: 61)
                == [1])
        #expect(surplus(issuer(arrived: 0, used: 50), issuer(arrived: 0, used: 40), at: 61) == [])
    }

    @Test func `one under which no signature ever held goes first, however new`() {
        #expect(surplus(issuer(arrived: 0, used: 1), issuer(arrived: 50), issuer(arrived: 0, used: 60), at: 61) == [1])
    }

    @Test func `a newcomer has two seconds to prove itself, and takes no place until then`() {
        let proven = [issuer(arrived: 0, used: 1), issuer(arrived: 0, used: 2)]
        #expect(surplus(proven[0], proven[1], issuer(arrived: 60), at: 61.9) == [])
        #expect(surplus(proven[0], proven[1], issuer(arrived: 60), at: 62) == [2])
        #expect(surplus(proven[0], proven[1], issuer(arrived: 60, used: 61), at: 61) == [0])
    }

    @Test func `not all newcomers of a flood stay`() {
        let flood = (0..<600).map { issuer(arrived: 60 + Double($0) / 1000) }
        let dropped = ranking.surplus(
            among: [issuer(arrived: 0, used: 1), issuer(arrived: 0, used: 2)] + flood, now: seconds(61))
        #expect(dropped == Array(2..<90))
    }

    @Test func `one with waiters stays`() {
        #expect(
            surplus(
                issuer(arrived: 0, used: 1, isAwaited: true), issuer(arrived: 0, used: 2), issuer(arrived: 0, used: 3),
                issuer(arrived: 0, used: 4), at: 61) == [1])
    }

    @Test func `one that is not used for long is dropped`() {
        let issuers = [
            issuer(arrived: 0), issuer(arrived: 0, used: 1), issuer(arrived: 0, used: 2),
            issuer(arrived: 0, used: 1, isAwaited: true), issuer(arrived: 30),
        ]
        #expect(ranking.idle(among: issuers, now: seconds(61)) == [0, 1])
    }
}

@Suite struct IssuerFolderTests {
    @Test func `a file that is written again and again takes no more memory`() {
        var index = IssuerFolder.Index()
        index.note("a")
        for _ in 0..<10_000 { index.note("b") }
        #expect(index.order.count <= 2 * 2 + IssuerFolder.Index.slack)
        #expect(index.removeOldest() == "a")
        #expect(index.removeOldest() == "b")
        #expect(index.removeOldest() == nil)
    }
}
