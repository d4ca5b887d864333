/// A piece of the hot path and its fixed input.
struct Benchmark: Sendable {
    let name: String
    /// Prepares the input; not measured.
    private let prepare: @Sendable () throws -> Iteration

    /// Does the work once and returns whether the result is right, so that failures show and nothing is optimized away.
    typealias Iteration = () throws -> Bool

    init(_ name: String, _ prepare: @escaping @Sendable () throws -> Iteration) {
        self.name = name
        self.prepare = prepare
    }

    /// Runs `count` iterations, after a few that prepare contexts and fill caches.
    func run(_ count: Int) throws {
        let iteration = try prepare()
        try iterate(iteration, 5)
        try measured(iteration, count)
    }

    /// The same, but the few are measured apart, so that whoever counts calls from the start can leave them out.
    func runApart(_ count: Int) throws {
        let iteration = try prepare()
        try measured(iteration, 5)
        try measured(iteration, count)
    }

    /// The code that measure.py counts. It finds this function by its name.
    @inline(never)
    private func measured(_ iteration: Iteration, _ count: Int) throws { try iterate(iteration, count) }

    private func iterate(_ iteration: Iteration, _ count: Int) throws {
        for _ in 0..<count {
            guard try iteration() else { throw Mistake("\(name): not the result it should be") }
        }
    }

    /// Nanoseconds per iteration: the minimum of ten rounds of about 10 ms, because other load only adds time.
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

/// The reason why a benchmark cannot run.
struct Mistake: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
