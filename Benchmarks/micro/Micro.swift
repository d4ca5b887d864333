private import Glibc

/// Repeats one piece of the hot path on fixed input, so that measure.py can count instructions and allocations.
///
///     micro --list               prints the names of the benchmarks
///     micro --failures           prints the names of decryptions that fail, which failures.py compares
///     micro NAME ITERATIONS      runs one of them; exit status 1 if a result is wrong
///     micro --failures FAMILY ITERATIONS
///                                runs those of a family, one after the other
///     micro --time [NAME...]     prints approximate nanoseconds per iteration: the minimum of several rounds
@main struct Micro {
    static let benchmarks =
        encodingBenchmarks + keyBenchmarks + signatureBenchmarks + tokenBenchmarks + requestBenchmarks
        + endpointBenchmarks + accessTokenBenchmarks + encryptionBenchmarks

    static func main() {
        do {
            try run()
        } catch {
            let line = "micro: \(error)\n"
            unsafe write(STDERR_FILENO, line, line.utf8.count)
            exit(1)
        }
    }

    private static func run() throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch (arguments.first, arguments.count) {
        case ("--list", 1): for benchmark in benchmarks { print(benchmark.name) }
        case ("--failures", 1): for failure in failedDecryptions { print(failure.name) }
        case ("--time", _):
            let chosen = arguments.dropFirst()
            for benchmark in benchmarks where chosen.isEmpty || chosen.contains(benchmark.name) {
                print("\(benchmark.name) \(try benchmark.nanoseconds())")
            }
        case (let name?, 2):
            guard let benchmark = benchmarks.first(where: { $0.name == name }) else {
                throw Mistake("no benchmark \(name)")
            }
            try benchmark.run(try iterations(arguments))
        case ("--failures", 3):
            let family = arguments.dropFirst().first ?? ""
            let chosen = failedDecryptions.filter { $0.name.hasPrefix(family + " ") }
            guard !chosen.isEmpty else { throw Mistake("no family \(family)") }
            for benchmark in chosen { try benchmark.runApart(try iterations(arguments)) }
        default:
            throw Mistake(
                "usage: micro --list | --failures [FAMILY ITERATIONS] | NAME ITERATIONS | --time [NAME...]")
        }
    }

    private static func iterations(_ arguments: ArraySlice<String>) throws -> Int {
        guard let iterations = arguments.last.flatMap({ Int($0) }) else { throw Mistake("no number of iterations") }
        return iterations
    }
}
