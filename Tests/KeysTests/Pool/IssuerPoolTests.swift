import Foundation
import HTTP
@testable import Keys
import NIOCore
import NIOPosix
import Synchronization
import Testing
import TestSupport

/// A pool with fetchers that the test controls, and an event loop that reads its keys.
private final class PoolFixture: Sendable {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let fetcher = TestFetcher()
    let pool: IssuerPool
    private let delivered = Mutex<[String: IssuerPool.Delivery]>([:])

    init(maximum: Int = 10, idleFor: Interval = .seconds(3600), slots: Int = 4, directory: String? = nil) {
        let (loop, fetcher) = (loop, fetcher)
        let folder = directory.map { IssuerFolder(in: $0, entry: "e", maximumFiles: maximum) }
        let slots = FetchSlots(limit: slots, on: loop)
        pool = IssuerPool(
            IssuerPool.Rules(maximumIssuers: maximum, idleFor: idleFor, staleIfError: .seconds(60)), slots: slots,
            source: .open(id: "e"), on: loop,
            makeStore: { parts in
                // Longer than any test takes, also on a busy machine.
                var rules = parts.rules
                rules.minimumBackoff = .seconds(60)
                return KeyStore(
                    rules: rules, fetcher: fetcher,
                    archive: folder.map {
                        KeyArchive(in: $0, issuer: parts.issuer, location: "l", staleIfError: .seconds(60))
                    }, threads: KeyStoreFixture.threads, slots: slots, source: parts.source, lastUse: parts.lastUse,
                    on: loop, onEvent: parts.onEvent)
            }, onEvent: { _, _ in })
    }

    func reader() async throws -> IssuerPool.ReaderID {
        try await pool.add { issuer, delivery in
            self.delivered.withLock { $0[issuer] = delivery }
            return self.loop.makeSucceededVoidFuture()
        }.get()
    }

    /// - Parameter seconds: more than any test takes, or 0: it is too late for keys that are not there yet.
    func request(
        _ issuer: String, by reader: IssuerPool.ReaderID?, seconds: Int64 = 600
    ) -> EventLoopFuture<Machine.Outcome> {
        pool.wait(
            for: .anyKeys(mayFetch: true), of: issuer, judgedBy: 0, until: SystemClocks.monotonic() + .seconds(seconds),
            by: reader)
    }

    func wait(_ issuer: String, by reader: IssuerPool.ReaderID?, seconds: Int64 = 600) async throws -> Machine.Outcome {
        try await request(issuer, by: reader, seconds: seconds).get()
    }

    /// What the loop has.
    func delivery(_ issuer: String) -> IssuerPool.Delivery? { delivered.withLock { $0[issuer] } }

    func summary() async throws -> IssuerPoolSummary { try await pool.summary().get() }

    func count(_ state: IssuerPoolSummary.State) async throws -> Int? {
        try await summary().counts.first { $0.state == state }?.count
    }

    /// The number of issuers about which something is known.
    func known() async throws -> Int { try await summary().counts.map(\.count).reduce(0, +) }
}

@Suite struct IssuerPoolTests {
    @Test func `keys are fetched when needed, once, and go to the loop that asked`() async throws {
        let fixture = PoolFixture()
        await fixture.fetcher.answer(with: .success([.p256]))
        let (first, second) = (try await fixture.reader(), try await fixture.reader())
        #expect(try await fixture.known() == 0)
        #expect(try await fixture.wait("https://a.example", by: first) == .refreshed)
        #expect(fixture.delivery("https://a.example")?.snapshot.version == 1)
        // Another loop asks: the keys are there.
        #expect(try await fixture.wait("https://a.example", by: second) == .retry)
        #expect(await fixture.fetcher.calls == 1)
        #expect(try await fixture.count(.ready) == 1)
        fixture.pool.stop()
    }

    @Test func `an issuer that fails is remembered, not kept, and not asked again within its backoff`() async throws {
        let fixture = PoolFixture()
        await fixture.fetcher.answer(with: .failure(FetchFailure(.connect, "refused")))
        let reader = try await fixture.reader()
        for _ in 0..<5 {
            guard case .unavailable = try await fixture.wait("https://a.example", by: reader) else {
                Issue.record("it has keys")
                return
            }
        }
        #expect(await fixture.fetcher.calls == 1)
        let summary = try await fixture.summary()
        #expect(try await fixture.count(.unavailable) == 1)
        #expect(summary.failing.map(\.issuer) == ["https://a.example"])
        #expect(try await fixture.pool.status(of: "https://a.example").get().lastFailure?.message == "refused")
        fixture.pool.stop()
    }

    @Test func `more issuers than there is room for: the unproven ones go`() async throws {
        let fixture = PoolFixture(maximum: 2)
        await fixture.fetcher.answer(with: .success([.p256]))
        let reader = try await fixture.reader()
        for name in ["a", "b"] {
            _ = try await fixture.wait("https://\(name).example", by: reader)
            fixture.delivery("https://\(name).example")?.use.note(at: SystemClocks.monotonic())
        }
        for number in 0..<5 { _ = try await fixture.wait("https://\(number).example", by: reader) }
        try await eventually { try await fixture.known() == 2 }
        #expect(fixture.delivery("https://a.example") != nil)
        #expect(fixture.delivery("https://0.example") == nil)
        fixture.pool.stop()
    }

    @Test func `an idle issuer is dropped, and fetched again when needed`() async throws {
        let fixture = PoolFixture(idleFor: Interval(milliseconds: 1))
        await fixture.fetcher.answer(with: .success([.p256]))
        let reader = try await fixture.reader()
        _ = try await fixture.wait("https://a.example", by: reader)
        try await eventually { try await fixture.known() == 0 }
        #expect(fixture.delivery("https://a.example") == nil)
        #expect(try await fixture.wait("https://a.example", by: reader) == .refreshed)
        #expect(await fixture.fetcher.calls == 2)
        fixture.pool.stop()
    }

    @Test func `too many first fetches are refused at once`() async throws {
        let fixture = PoolFixture(slots: 1)
        let reader = try await fixture.reader()
        let pending = (0..<9).map { fixture.request("https://\($0).example", by: reader) }
        try await fixture.fetcher.called(1)
        #expect(try await fixture.wait("https://late.example", by: reader) == .unavailable(retryAfter: .seconds(1)))
        fixture.pool.stop()
        for each in pending { #expect(try await each.get() == .unavailable(retryAfter: .seconds(1))) }
    }

    @Test func `a first fetch that nobody waits for any more does not begin`() async throws {
        let fixture = PoolFixture(slots: 1)
        let reader = try await fixture.reader()
        let first = fixture.request("https://first.example", by: reader)
        try await fixture.fetcher.called(1)
        guard case .unavailable = try await fixture.wait("https://second.example", by: reader, seconds: 0) else {
            Issue.record("it has keys")
            return
        }
        try await eventually { try await fixture.known() == 1 }
        await fixture.fetcher.answer(with: .success([.p256]))
        #expect(try await first.get() == .refreshed)
        #expect(try await fixture.count(.ready) == 1)
        #expect(await fixture.fetcher.calls == 1)
        fixture.pool.stop()
    }

    @Test func `issuers that are looked for on the disk count as fetches that wait`() async throws {
        try await TemporaryDirectory.run { directory async throws in
            let fixture = PoolFixture(maximum: 100, slots: 1, directory: directory.path)
            let reader = try await fixture.reader()
            let pending = (0..<30).map { fixture.request("https://\($0).example", by: reader) }
            #expect(try await fixture.known() <= 9)
            fixture.pool.stop()
            for each in pending { _ = try await each.get() }
        }
    }

    @Test func `what the disk has is used at once and refreshed beside it`() async throws {
        try await TemporaryDirectory.run { directory async throws in
            let first = PoolFixture(directory: directory.path)
            await first.fetcher.answer(with: .success([.p256]))
            _ = try await first.wait("https://a.example", by: nil)
            try await eventually {
                (try? FileManager.default.contentsOfDirectory(atPath: directory.path + "/e.issuers"))?.contains {
                    $0.hasSuffix(".keys")
                } == true
            }
            first.pool.stop()
            let second = PoolFixture(directory: directory.path)
            let reader = try await second.reader()
            #expect(try await second.wait("https://a.example", by: reader) == .retry)
            #expect(second.delivery("https://a.example")?.snapshot.source == .disk)
            try await second.fetcher.called(1)
            await second.fetcher.answer(with: .success([.p256]))
            try await eventually { second.delivery("https://a.example")?.snapshot.source == .network }
            second.pool.stop()
        }
    }
}
