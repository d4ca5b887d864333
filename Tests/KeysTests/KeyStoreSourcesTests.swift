import HTTP
import JOSE
import Keys
import NIOCore
import Testing
import TestSupport

/// A key store with sources other than fetches.
@Suite struct KeyStoreSourcesTests {
    private let fixture = KeyStoreFixture()
    private var fetcher: PatientFetcher { fixture.fetcher }
    private var events: KeyStoreFixture.Events { fixture.events }
    private var fallback: PatientFetcher { fixture.fallback }

    // MARK: Archived keys

    @Test func `kept keys are handed out before the first fetch ends`() async throws {
        try await TemporaryDirectory.run { directory async throws in
            let archive = directory.archive()
            let now = SystemClocks.unixSeconds()
            #expect(archive.save(KeySets.fetched(["d"]).fetched(at: now - 60), lifetime: .seconds(300)))
            let store = fixture.store(archive)
            try await store.start().get()
            let status = try await store.status().get()
            #expect(status.snapshot?.keyIDs == ["d"])
            #expect(status.snapshot?.source == .disk)
            #expect(events.all == [.keysChanged(keyIDs: ["d"]), .stateChanged(.ready)])
            try await fetcher.end(.success(KeySets.fetched(["a", "d"]).fetched(at: now)))
            try await eventually { (try? archive.load(nowUnixSeconds: now))??.keys.keys.hasKey("a") == true }
            store.stop()
        }
    }

    @Test func `kept keys that are refused are reported, and the fetch begins all the same`() async throws {
        try await TemporaryDirectory.run { directory async throws in
            try directory.write("nonsense\n{}")
            let store = fixture.store(directory.archive())
            try await store.start().get()
            try await fetcher.begun()
            #expect(events.all == [.archiveRefused(reason: "its checksum is wrong")])
            store.stop()
            try await fetcher.end(.failure(Scene.failure))
        }
    }

    @Test func `keys that can't be kept are used, and the operator told`() async throws {
        let archive = KeyArchive(
            directory: "/nowhere/at/all", provider: "p", issuer: "https://p.example", location: "l",
            staleIfError: .seconds(60))
        let store = fixture.store(archive)
        try await store.start().get()
        try await fetcher.end(.success(KeySets.fetched(["a"])))
        try await eventually { [events] in events.all.contains(.archiveFailed) }
        #expect(try await store.status().get().snapshot?.keyIDs == ["a"])
        store.stop()
    }

    @Test func `keys that were left out serve on over a restart, still marked`() async throws {
        try await TemporaryDirectory.run { directory async throws in
            let archive = directory.archive()
            let now = SystemClocks.unixSeconds()
            let first = fixture.store(archive)
            try await first.start().get()
            try await fetcher.end(.success(KeySets.fetched(["a", "b"]).fetched(at: now)))
            try await eventually { try await first.status().get().snapshot != nil }
            let looking = first.wait(for: .key("c"), judgedBy: 1, until: fixture.soon())
            try await fetcher.end(.success(KeySets.fetched(["a"]).fetched(at: now)))
            _ = try await looking.get()
            try await eventually { (try? archive.load(nowUnixSeconds: now))??.omitted.isEmpty == false }
            first.stop()

            let second = fixture.store(archive)
            try await second.start().get()
            let restored = try #require(try await second.status().get().snapshot)
            #expect(restored.keyIDs == ["a", "b"])
            #expect(restored.omittedKeyCount == 1)
            #expect(restored.source == .disk)
            // The provider's first answer decides.
            try await fetcher.end(.success(KeySets.fetched(["a"]).fetched(at: now)))
            try await eventually { try await second.status().get().snapshot?.keyIDs == ["a"] }
            second.stop()
        }
    }

    // MARK: The fallback

    @Test func `the fallback's keys serve until the provider has some`() async throws {
        var rules = KeyRules()
        // Prevents fetches other than those that the test starts.
        rules.minimumBackoff = .seconds(60)
        let store = fixture.store(nil, rules, fallingBack: true)
        try await store.start().get()
        let waiting = store.wait(for: .anyKeys(mayFetch: true), judgedBy: 0, until: fixture.soon())
        try await fallback.end(.success(KeySets.fetched(["f"], source: .file)))
        #expect(try await waiting.get() == .retry)
        let status = try await store.status().get()
        #expect(status.snapshot?.keyIDs == ["f"])
        #expect(status.snapshot?.source == .file)
        #expect(status.snapshot?.isStale(at: status.now) == true)
        // It is read again after each failure.
        try await fetcher.end(.failure(Scene.failure))
        try await fallback.end(.success(KeySets.fetched(["f", "g"], source: .file)))
        try await eventually { try await store.status().get().snapshot?.keyIDs == ["f", "g"] }
        let refreshed = store.wait(for: .refresh(dropsOmitted: true), judgedBy: 0, until: fixture.soon())
        try await fetcher.end(.success(KeySets.fetched(["a"])))
        _ = try await refreshed.get()
        #expect(try await store.status().get().snapshot?.keyIDs == ["a"])
        #expect(await fallback.calls == 2)
        #expect(
            events.all == [
                .keysChanged(keyIDs: ["f"]), .stateChanged(.stale), .fetchFailed(Scene.failure, isFirst: true),
                .keysChanged(keyIDs: ["f", "g"]), .keysChanged(keyIDs: ["a"]), .fetched, .recovered,
                .stateChanged(.ready),
            ])
        store.stop()
    }

    @Test func `a fallback without keys is reported once, and read on`() async throws {
        var rules = KeyRules()
        rules.firstBackoff = Interval(milliseconds: 1)
        rules.minimumBackoff = Interval(milliseconds: 1)
        rules.maximumBackoff = Interval(milliseconds: 1)
        let store = fixture.store(nil, rules, fallingBack: true)
        try await store.start().get()
        let broken = FetchFailure(.file, "there is no such file")
        for reads in 1...3 {
            try await fallback.end(.failure(broken))
            try await eventually {
                // One that fails before the store has heard of the fallback's failure causes no other read.
                try await fetcher.end(.failure(Scene.failure))
                return await fallback.calls > reads
            }
        }
        try await fallback.begun()
        try await fetcher.begun()
        #expect(events.all.filter { $0 == .fallbackFailed(broken) }.count == 1)
        store.stop()
        try await fallback.end(.failure(broken))
        try await fetcher.end(.failure(Scene.failure))
    }

    @Test func `a fallback is not read where keys were kept`() async throws {
        try await TemporaryDirectory.run { directory async throws in
            let archive = directory.archive()
            let now = SystemClocks.unixSeconds()
            #expect(archive.save(KeySets.fetched(["d"]).fetched(at: now - 60), lifetime: .seconds(300)))
            let store = fixture.store(archive, fallingBack: true)
            try await store.start().get()
            try await fetcher.end(.failure(Scene.failure))
            try await eventually { try await store.status().get().lastFailure != nil }
            #expect(try await store.status().get().snapshot?.source == .disk)
            #expect(await fallback.calls == 0)
            store.stop()
        }
    }

    @Test func `fetches are told what they may be content with`() async throws {
        let store = fixture.store()
        try await store.start().get()
        try await fetcher.end(.success(KeySets.fetched(["a"])))
        try await eventually { try await store.status().get().snapshot != nil }
        let waiting = store.wait(for: .key("b"), judgedBy: 1, until: fixture.soon())
        try await fetcher.end(.success(KeySets.fetched(["a"])))
        _ = try await waiting.get()
        #expect(await fetcher.modes.last == .reload)
        store.stop()
    }
}
