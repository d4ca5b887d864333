import HTTP
@testable import SignIns
import Testing

@Suite struct SharedTimeTests {
    private func at(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: milliseconds) }

    /// Steps that each take all of their own time end together, however many there are.
    @Test func `steps share 10 seconds, half of one for the store`() {
        let time = SharedTime(from: at(1000))
        #expect(time.deadline(of: .seconds(5), from: at(1000)) == at(6000))
        #expect(time.deadline(of: .seconds(5), from: at(5500)) == at(10_500))
        #expect(time.deadline(of: .seconds(5), from: at(5501)) == at(10_500))
        #expect(time.deadline(of: .seconds(60), from: at(10_499)) == at(10_500))
        #expect(time.deadline(of: .seconds(5), from: at(11_000)) == at(10_500))
        #expect(SharedTime.ofSteps + Interval(milliseconds: 2 * 250) == .seconds(10))
    }
}
