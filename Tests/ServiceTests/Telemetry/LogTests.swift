#if canImport(Glibc)
import Foundation
import Glibc
import HTTP
import JOSE
import Service
import Synchronization
import Testing
import TestSupport
#endif

/// Each test runs in a process of its own, because standard error can be captured only from outside.
@Suite struct LogTests {
    private func lines(_ bytes: [UInt8]) throws -> [[String: JSONTree]] {
        #expect(bytes.last == UInt8(ascii: "\n"))
        return try bytes.split(separator: UInt8(ascii: "\n")).map { line in
            try #require(try JSONTree(readingObject: Array(line)).object)
        }
    }

    @Test func `each line is one JSON object, whatever the values hold`() async throws {
        let result = try #require(
            await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let sink = LogSink()
                let log = Log(
                    to: sink, from: .debug, unixMilliseconds: { 1_709_210_096_007 },
                    monotonic: { MonotonicTime(milliseconds: 0) })
                log.write(.debug, "first")
                log.write(
                    .warning, "second",
                    [
                        ("text", .text("line\nfeed \"quoted\" \\ \u{1} \u{2028} é😀\r\n")), ("number", .number(.min)),
                    ])
                await sink.close()
            })
        let lines = try lines(result.standardErrorContent)
        #expect(
            lines == [
                [
                    "time": .string("2024-02-29T12:34:56.007Z"), "level": .string("debug"), "message": .string("first"),
                ],
                [
                    "time": .string("2024-02-29T12:34:56.007Z"), "level": .string("warning"),
                    "message": .string("second"),
                    "text": .string("line\nfeed \"quoted\" \\ \u{1} \u{2028} é😀\r\n"), "number": .integer(.min),
                ],
            ])
    }

    @Test func `the level can change`() async throws {
        let result = try #require(
            await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let sink = LogSink()
                let log = Log(
                    to: sink, from: .error, unixMilliseconds: { 0 }, monotonic: { MonotonicTime(milliseconds: 0) })
                log.write(.info, "before")
                log.change(minimumLevel: .info)
                log.write(.info, "info")
                log.write(.debug, "debug")
                log.change(minimumLevel: .error)
                log.write(.warning, "after")
                await sink.close()
            })
        #expect(try lines(result.standardErrorContent).map { $0["message"] } == [.string("info")])
    }

    @Test func `what is below the level is not written`() async throws {
        let result = try #require(
            await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let sink = LogSink()
                for minimum in Log.Level.allCases {
                    let log = Log(
                        to: sink, from: minimum, unixMilliseconds: { 0 }, monotonic: { MonotonicTime(milliseconds: 0) })
                    for level in Log.Level.allCases { log.write(level, "m", [("minimum", .text(minimum.rawValue))]) }
                }
                await sink.close()
            })
        let seen = try lines(result.standardErrorContent).map { "\($0["minimum"]!.string!) \($0["level"]!.string!)" }
        #expect(
            seen == [
                "debug debug", "debug info", "debug warning", "debug error", "info info", "info warning", "info error",
                "warning warning", "warning error", "error error",
            ])
    }

    @Test func `warnings that repeat themselves are written a few times, and then counted`() async throws {
        let result = try #require(
            await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let sink = LogSink()
                let seconds = Atomic(Int64(0))
                var rules = LogRateLimits()
                rules.burst = 2
                let log = Log(
                    to: sink, from: .info, repeats: rules, unixMilliseconds: { 0 },
                    monotonic: { MonotonicTime(milliseconds: seconds.load(ordering: .relaxed) * 1000) })
                func write(_ level: Log.Level, _ provider: String) {
                    for number in 0..<5 {
                        log.write(level, "m", [("provider", .text(provider)), ("number", .number(Int64(number)))])
                    }
                }
                write(.warning, "p")
                // Another provider or level makes another kind. Lines that report no failure are not limited.
                write(.error, "p")
                write(.warning, "q")
                write(.info, "p")
                seconds.store(60, ordering: .relaxed)
                log.reportHeldBack()
                log.write(.info, "told")
                log.write(.warning, "m", [("provider", .text("p")), ("number", .number(0))])
                // At level `debug`, nothing is suppressed.
                log.change(minimumLevel: .debug)
                write(.warning, "p")
                log.change(minimumLevel: .info)
                for _ in 0..<3 { log.write(.warning, "n") }
                log.reportAllHeldBack()
                await sink.close()
            })
        let lines = try lines(result.standardErrorContent).map { line in
            let parts = ["level", "message", "provider"].compactMap { line[$0]?.string }
            return (parts + [line["suppressed"]?.integer].compactMap { $0.map { "+\($0)" } }).joined(separator: " ")
        }
        let first = ["warning m p", "error m p", "warning m q"].flatMap { [$0, $0] }
        #expect(Array(lines.prefix(11)) == first + Array(repeating: "info m p", count: 5))
        #expect(Set(lines[11..<14]) == ["warning m p +3", "error m p +3", "warning m q +3"])
        #expect(
            Array(lines[14...]) == ["info told"] + Array(repeating: "warning m p", count: 6)
                + ["warning n", "warning n", "warning n +1"])
    }

    @Test func `lines of many threads stay whole and are all there at the end`() async throws {
        let result = try #require(
            await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let sink = LogSink()
                let log = Log(
                    to: sink, from: .info, unixMilliseconds: { 0 }, monotonic: { MonotonicTime(milliseconds: 0) })
                await withTaskGroup(of: Void.self) { group in
                    for thread in 0..<8 {
                        group.addTask {
                            for index in 0..<250 {
                                log.write(
                                    .info, "m", [("thread", .number(Int64(thread))), ("index", .number(Int64(index)))])
                            }
                        }
                    }
                }
                await sink.close()
            })
        let lines = try lines(result.standardErrorContent)
        #expect(lines.count == 2000)
        for thread in 0..<8 {
            let indices = lines.filter { $0["thread"] == .integer(Int64(thread)) }.compactMap { $0["index"]?.integer }
            #expect(indices == Array(0..<250))
        }
    }

    @Test func `a reader that does not read costs lines, which are counted, and neither memory nor time`() async {
        await #expect(processExitsWith: .success) {
            // Standard error is a pipe that is not read yet.
            var ends: [CInt] = [0, 0]
            precondition(unsafe pipe(&ends) == 0)
            dup2(ends[1], STDERR_FILENO)
            close(ends[1])
            let sink = LogSink()
            let line = [UInt8](repeating: UInt8(ascii: "x"), count: 1023) + [UInt8(ascii: "\n")]
            let count = 12 * 1024
            for _ in 0..<count { sink.write(line) }
            let dropped = sink.droppedBytes
            // 4 MiB may be queued, 4 MiB may be on their way to the pipe, and the pipe's own buffer is small.
            let kept = count * line.count - dropped
            guard kept >= 4 << 20, kept <= (8 << 20) + (1 << 20), dropped.isMultiple(of: line.count) else {
                fatalError("\(kept) bytes were kept, \(dropped) dropped")
            }
            // Once the pipe is read, the lines that were kept arrive complete, and nothing else.
            let source = ends[0]
            let reading = Task.detached { () -> Int in
                var total = 0
                var buffer = [UInt8](repeating: 0, count: 65536)
                while true {
                    let count = unsafe read(source, &buffer, buffer.count)
                    guard count > 0 else { return total }
                    total += count
                }
            }
            await sink.close()
            close(STDERR_FILENO)
            let total = await reading.value
            exit(total == kept && sink.droppedBytes == dropped ? 0 : 1)
        }
    }

    @Test func `what could never fit is dropped at once`() async {
        let sink = LogSink()
        sink.write([UInt8](repeating: 0x20, count: 4 << 20) + [UInt8(ascii: "\n")])
        #expect(sink.droppedBytes == (4 << 20) + 1)
        await sink.close()
    }

    @Test func `what just fits is written`() async throws {
        let result = try #require(
            await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let sink = LogSink()
                sink.write([UInt8](repeating: UInt8(ascii: "\n"), count: 4 << 20))
                await sink.close()
            })
        #expect(result.standardErrorContent.count == 4 << 20)
    }
}
