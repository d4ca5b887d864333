private import Glibc

/// Repeats one piece of the hot path on fixed input, so that measure.py can count instructions and allocations.
///
///     micro --list               prints the names of the benchmarks
///     micro --failures           prints the names of decryptions that fail, which failures.py compares
///     micro NAME ITERATIONS      runs one of them; exit status 1 if a result is wrong
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
            guard let benchmark = (benchmarks + failedDecryptions).first(where: { $0.name == name }),
                let iterations = arguments.last.flatMap({ Int($0) })
            else { throw Mistake("no benchmark \(name), or no number after it") }
            try benchmark.run(iterations)
        default: throw Mistake("usage: micro --list | --failures | NAME ITERATIONS | --time [NAME...]")
        }
    }
}
