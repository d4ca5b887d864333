import Dispatch
import HTTP
@testable import Keys
import NIOPosix
import Synchronization
import Testing
import TestSupport

@Suite struct NameResolverTests {
    private let resolver = NameResolver()

    @Test func `this machine has an address, of loopback`() async throws {
        let addresses = try await resolver.addresses(of: "localhost")
        #expect(!addresses.isEmpty)
        #expect(addresses.allSatisfy { $0 == "::1" || $0.hasPrefix("127.") }, "\(addresses)")
    }

    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("127.1", "127.0.0.1"), ("0x7f000001", "127.0.0.1"), ("::1", "::1"),
        ("0:0:0:0:0:0:0:1", "::1"), ("::ffff:10.0.0.1", "::ffff:10.0.0.1"), ("2001:DB8::1", "2001:db8::1"),
    ])
    func `an address is its own, once, as the system writes it`(host: String, address: String) async throws {
        #expect(try await resolver.addresses(of: host) == [address])
    }

    /// RFC 6761: `invalid` never resolves. Labels have at most 63 letters.
    @Test(arguments: ["assay-test.invalid", String(repeating: "a", count: 64) + ".example", "a..b", "256.256.256.256"])
    func `a name that can't exist has none`(host: String) async {
        let failure = await #expect(throws: FetchFailure.self) { try await resolver.addresses(of: host) }
        #expect(failure == FetchFailure(.dns, "the host name has no address"))
    }

    /// A name server that does not answer for names that begin with `hangs`, until it is let go.
    private final class NameServer: Sendable {
        private let asked = Mutex<[String]>([])
        private let patience = DispatchSemaphore(value: 0)
        var questions: [String] { asked.withLock { $0 } }

        func lookUp(_ host: String) -> [String] {
            asked.withLock { $0.append(host) }
            if host.hasPrefix("hangs") { patience.wait() }
            return ["192.0.2.1"]
        }

        func letGo(_ count: Int) { for _ in 0..<count { patience.signal() } }
    }

    @Test func `a name is asked for once at a time, and again later`() async throws {
        let server = NameServer()
        let resolver = NameResolver(threads: 3, lookUp: server.lookUp)
        try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<20 { group.addTask { try await resolver.addresses(of: "hangs.example") } }
            try await eventually { !server.questions.isEmpty }
            // It takes one thread, however many wait for it.
            for index in 0..<20 {
                #expect(try await resolver.addresses(of: "\(index).example") == ["192.0.2.1"])
            }
            server.letGo(20)
            for try await addresses in group { #expect(addresses == ["192.0.2.1"]) }
        }
        let asked = server.questions.filter { $0 == "hangs.example" }.count
        #expect(asked < 20)
        #expect(try await resolver.addresses(of: "hangs.example") == ["192.0.2.1"])
        #expect(server.questions.count == asked + 21)
    }

    @Test func `names that hang delay no other while a thread is free`() async throws {
        let server = NameServer()
        let resolver = NameResolver(threads: 3, lookUp: server.lookUp)
        try await withThrowingTaskGroup(of: [String].self) { group in
            for index in 0..<2 { group.addTask { try await resolver.addresses(of: "hangs-\(index).example") } }
            try await eventually { server.questions.count == 2 }
            #expect(try await resolver.addresses(of: "good.example") == ["192.0.2.1"])
            server.letGo(2)
            for try await addresses in group { #expect(addresses == ["192.0.2.1"]) }
        }
    }

    @Test func `names of entries with many issuers get some of the threads, and one of the settings goes first`()
        async throws
    {
        let server = NameServer()
        let resolver = NameResolver(threads: 3, ofMany: 2, lookUp: server.lookUp)
        try await withThrowingTaskGroup(of: [String].self) { group in
            for index in 0..<4 {
                group.addTask { try await resolver.addresses(of: "hangs-\(index).example", for: .manyIssuers) }
            }
            try await eventually { server.questions.count == 2 }
            #expect(try await resolver.addresses(of: "good.example") == ["192.0.2.1"])
            #expect(server.questions.count == 3)
            // A provider of the settings asks for a name that waits.
            let waiting = try #require((0..<4).map { "hangs-\($0).example" }.first { !server.questions.contains($0) })
            group.addTask { try await resolver.addresses(of: waiting) }
            try await eventually { server.questions.count == 4 }
            #expect(server.questions.contains(waiting))
            server.letGo(4)
            for try await addresses in group { #expect(addresses == ["192.0.2.1"]) }
        }
        #expect(server.questions.count == 5)
    }

    @Test func `a name for which nobody waits any more is not asked for`() async throws {
        let server = NameServer()
        let resolver = NameResolver(threads: 1, lookUp: server.lookUp)
        let first = Task { try await resolver.addresses(of: "hangs.example") }
        try await eventually { server.questions == ["hangs.example"] }
        let second = Task { try await resolver.addresses(of: "late.example") }
        second.cancel()
        await #expect(throws: FetchFailure.self) { try await second.value }
        server.letGo(1)
        #expect(try await first.value == ["192.0.2.1"])
        #expect(try await resolver.addresses(of: "next.example") == ["192.0.2.1"])
        #expect(server.questions == ["hangs.example", "next.example"])
    }
}

@Suite struct BlockingCallsTests {
    private let loop = MultiThreadedEventLoopGroup.singleton.next()
    private let timeout = FetchFailure(.file, "it was not read in time")

    /// If it were waited for again, the test would not end.
    @Test(.timeLimit(.minutes(5))) func `a call that hangs is waited for once, and made again once it has returned`()
        async throws
    {
        let calls = BlockingCalls<String, Int>(threads: 2)
        let disk = DispatchSemaphore(value: 0)
        let isRead = Mutex(false)
        let hanging = Task {
            try await calls.run(for: "a") {
                isRead.withLock { $0 = true }
                disk.wait()
                return 1
            }
        }
        try await eventually { isRead.withLock { $0 } }
        await #expect(throws: timeout) {
            try await calls.run(for: "a", within: Interval(milliseconds: 1), on: loop, orThrow: timeout) { 2 }
        }
        for _ in 0..<3 {
            await #expect(throws: timeout) {
                try await calls.run(for: "a", within: .seconds(3600), on: loop, orThrow: timeout) { 3 }
            }
        }
        #expect(try await calls.run(for: "b", within: .seconds(3600), on: loop, orThrow: timeout) { 4 } == 4)
        disk.signal()
        #expect(try await hanging.value == 1)
        try await eventually {
            (try? await calls.run(for: "a", within: .seconds(3600), on: loop, orThrow: timeout) { 5 }) == 5
        }
    }
}
