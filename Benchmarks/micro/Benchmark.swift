/// A piece of the hot path and the fixed input it is measured on.
struct Benchmark: Sendable {
    let name: String
    /// Makes the input ready, outside of what is measured.
    private let prepare: @Sendable () throws -> Iteration

    /// Does the work once and says whether its result is right: it can neither fail unseen nor be optimized away.
    typealias Iteration = () throws -> Bool

    init(_ name: String, _ prepare: @escaping @Sendable () throws -> Iteration) {
        self.name = name
        self.prepare = prepare
    }

    /// Runs a number of iterations, after some that make contexts ready and fill memos.
    func run(_ count: Int) throws {
        let iteration = try prepare()
        try iterate(iteration, 5)
        try measured(iteration, count)
    }

    /// What measure.py counts; it finds it by its name.
    @inline(never)
    private func measured(_ iteration: Iteration, _ count: Int) throws { try iterate(iteration, count) }

    private func iterate(_ iteration: Iteration, _ count: Int) throws {
        for _ in 0..<count {
            guard try iteration() else { throw Mistake("\(name): not the result it should be") }
        }
    }

    /// Nanoseconds of one iteration: the least of ten rounds of 10 ms or so, since whatever else runs only adds to it.
    func nanoseconds() throws -> Int {
        let iteration = try prepare()
        let clock = ContinuousClock()
        var count = 1
        while try clock.measure({ try iterate(iteration, count) }) < .milliseconds(10) { count *= 2 }
        var least = Duration.seconds(60)
        for _ in 0..<10 { least = min(least, try clock.measure { try iterate(iteration, count) }) }
        return Int(least / .nanoseconds(1)) / count
    }
}

/// What keeps a benchmark from being run.
struct Mistake: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
