@testable import HTTP
import Testing

@Suite struct LoadShedderTests {
    private static let period: Int64 = 100_000
    private var queue = LoadShedder(limit: 500_000)
    private var now: Int64 = 7_000_000

    init() { queue.recordTick(at: now, period: Self.period) }

    private mutating func look(late: Int64) {
        now += Self.period + late
        queue.recordTick(at: now, period: Self.period)
    }

    @Test mutating func `short turns never crowd`() {
        for late: Int64 in [0, 3, 100_000, 249_999, 250_000] {
            look(late: late)
            #expect(!queue.isCrowded)
        }
    }

    @Test mutating func `a short stall of the machine sheds no load`() {
        look(late: 2_000_000)
        // The requests that arrived meanwhile are answered within the time of one turn.
        #expect(queue.admit(at: 10_000_000) == .first)
        for millisecond in 1..<250 { #expect(queue.admit(at: 10_000_000 + Int64(millisecond) * 1000) == .admitted) }
        queue.turnEnded()
        for _ in 0..<10 { look(late: 0) }
        #expect(!queue.isCrowded)
    }

    @Test mutating func `a long turn crowds, until the loop was in time for a while`() {
        look(late: 250_001)
        #expect(queue.isCrowded)
        for _ in 0..<9 { look(late: 0) }
        // Neither long nor short: the count starts again.
        look(late: 31_251)
        for _ in 0..<9 { look(late: 31_250) }
        #expect(queue.isCrowded)
        look(late: 0)
        #expect(!queue.isCrowded)
    }

    @Test mutating func `half the limit of each turn is for requests, and the rest is turned away`() {
        look(late: 300_000)
        #expect(queue.admit(at: 10_000_000) == .first)
        #expect(queue.admit(at: 10_000_000) == .admitted)
        #expect(queue.admit(at: 10_249_999) == .admitted)
        #expect(queue.admit(at: 10_250_000) == .refused)
        #expect(queue.admit(at: 10_900_000) == .refused)
        queue.turnEnded()
        #expect(queue.admit(at: 10_900_001) == .first)
        #expect(queue.admit(at: 11_150_000) == .admitted)
        #expect(queue.admit(at: 11_150_001) == .refused)
    }

    @Test mutating func `the first look has nothing to be late by`() {
        var queue = LoadShedder(limit: 50_000)
        queue.recordTick(at: 99_000_000, period: Self.period)
        #expect(!queue.isCrowded)
    }

    @Test mutating func `another limit counts from the next look on`() {
        look(late: 200_000)
        #expect(!queue.isCrowded)
        queue.limit = 100_000
        look(late: 50_001)
        #expect(queue.isCrowded)
        #expect(queue.admit(at: 0) == .first)
        #expect(queue.admit(at: 50_000) == .refused)
    }
}
