import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import HTTP

/// How much work of one kind runs in a turn of an event loop.
@Suite struct LoopTurnsTests {
    private let loop = EmbeddedEventLoop()
    private let turns: LoopTurns
    private let done = Done()

    private final class Done { var numbers: [Int] = [] }
    private final class Clock: Sendable { let now = Mutex(NIODeadline.uptimeNanoseconds(0)) }

    init() { turns = LoopTurns(on: loop) }

    private func run(_ numbers: Range<Int>) {
        for number in numbers { turns.run { [done] in done.numbers.append(number) } }
    }

    @Test func `as much as fits in a turn runs at once`() {
        run(0..<LoopTurns.most)
        #expect(done.numbers == Array(0..<LoopTurns.most))
    }

    @Test func `the rest waits until the loop has looked at its connections, a turn's work at a time`() {
        run(0..<10)
        loop.run()
        #expect(done.numbers == Array(0..<LoopTurns.most))
        loop.advanceTime(by: .microseconds(5))
        #expect(done.numbers == Array(0..<2 * LoopTurns.most))
        loop.advanceTime(by: .microseconds(5))
        #expect(done.numbers == Array(0..<10))
    }

    @Test func `a later turn has room again`() {
        run(0..<LoopTurns.most)
        loop.run()
        run(LoopTurns.most..<LoopTurns.most + 1)
        #expect(done.numbers.count == LoopTurns.most + 1)
    }

    @Test func `work that comes while some waits goes behind it, also if this turn has room`() {
        run(0..<LoopTurns.most)
        turns.run { [turns, done] in
            done.numbers.append(4)
            turns.run { done.numbers.append(6) }
        }
        run(5..<6)
        loop.advanceTime(by: .microseconds(5))
        #expect(done.numbers == Array(0..<7))
    }

    @Test func `what waits may take as long as everything else did`() {
        let clock = Clock()
        let turns = LoopTurns(on: loop) { clock.now.withLock { $0 } }
        func pass(_ time: TimeAmount) { clock.now.withLock { $0 = $0 + time } }
        for number in 0..<20 {
            turns.run { [done] in
                done.numbers.append(number)
                pass(.microseconds(100))
            }
        }
        loop.run()
        // The pause, and what else the loop did.
        pass(.microseconds(5))
        pass(.microseconds(1000))
        loop.advanceTime(by: .microseconds(5))
        #expect(done.numbers.count == LoopTurns.most + 10)
    }

    @Test func `work that begins more of it takes the room of its turn, not more`() {
        turns.run { [turns, done] in
            for number in 0..<LoopTurns.most { turns.run { done.numbers.append(number) } }
        }
        #expect(done.numbers == Array(0..<LoopTurns.most - 1))
        loop.run()
        loop.advanceTime(by: .microseconds(5))
        #expect(done.numbers == Array(0..<LoopTurns.most))
    }

    @Test func `its outcome is passed on`() throws {
        let outcome = turns.submit { [loop] in loop.makeSucceededFuture(7) }
        loop.run()
        #expect(try outcome.wait() == 7)
    }

    @Test func `an executor runs the steps of tasks that are resumed together in turns`() {
        let executor = LoopExecutor(loop)
        let answer = loop.makePromise(of: Void.self)
        for number in 0..<6 {
            executor.startTask { [done] in
                try? await answer.futureResult.get()
                done.numbers.append(number)
            }
        }
        answer.succeed()
        loop.run()
        #expect(done.numbers.count == LoopTurns.most)
        loop.advanceTime(by: .microseconds(5))
        #expect(done.numbers.count == 6)
    }
}
