import Bytes
import Glibc
import HTTP
import IDToken
import OpenSSL
@testable import SignIns
import Testing
import TestSupport
@testable import Verification

@Suite struct ClaimMemoryTests {
    /// A time in seconds since the start, with a wall clock that may have been changed.
    private static func time(_ seconds: Int64, wallAhead: Int64 = 0) -> VerificationTime {
        VerificationTime(
            monotonic: MonotonicTime(milliseconds: seconds * 1000),
            wall: UnixTime(seconds: 1_700_000_000 + seconds + wallAhead))
    }

    private static func key(_ number: UInt64) -> ClaimKey {
        ClaimKey(high: number &* 0x9e37_79b9_7f4a_7c15, low: number &* 0xbf58_476d_1ce4_e5b9)
    }

    @Test func `the first claim wins, and all others fail`() {
        let memory = ClaimMemory(capacity: 10)
        let end = ClaimEnd(after: 1_700_000_600)
        #expect(memory.claim(Self.key(1), until: end, now: Self.time(0)) == .claimed)
        #expect(memory.claim(Self.key(1), until: end, now: Self.time(0)) == .alreadyClaimed)
        #expect(memory.claim(Self.key(1), until: end, now: Self.time(899)) == .alreadyClaimed)
        #expect(memory.claim(Self.key(2), until: end, now: Self.time(0)) == .claimed)
    }

    @Test func `a claim is kept until its expiry and five minutes more, and its room is used again`() {
        let memory = ClaimMemory(capacity: 1)
        #expect(memory.claim(Self.key(1), until: ClaimEnd(after: 1_700_000_600), now: Self.time(0)) == .claimed)
        let later = ClaimEnd(after: 1_700_002_000)
        #expect(memory.claim(Self.key(2), until: later, now: Self.time(899)) == .unavailable(mayBeClaimed: false))
        #expect(memory.claim(Self.key(2), until: later, now: Self.time(960)) == .claimed)
        #expect(memory.status(now: Self.time(960)).entries == 1)
    }

    @Test func `a claim that was given back can be made again, and its room is used again`() {
        let memory = ClaimMemory(capacity: 1)
        let end = ClaimEnd(after: 1_700_000_600)
        #expect(memory.claim(Self.key(1), until: end, now: Self.time(0)) == .claimed)
        for number: UInt64 in [1, 1, 2] { memory.remove(Claim(key: Self.key(number), end: end, provider: "p")) }
        #expect(memory.status(now: Self.time(0)).entries == 0)
        #expect(memory.claim(Self.key(1), until: end, now: Self.time(0)) == .claimed)
        #expect(memory.claim(Self.key(1), until: end, now: Self.time(0)) == .alreadyClaimed)
        #expect(memory.status(now: Self.time(2000)).entries == 0)
    }

    @Test func `nothing is forgotten early where the wall clock is set`() {
        let memory = ClaimMemory(capacity: 10)
        let end = ClaimEnd(after: 1_700_000_600)
        #expect(memory.claim(Self.key(1), until: end, now: Self.time(0)) == .claimed)
        // With the clock a day ahead, the sign-in is rejected as expired. With the clock corrected, it is valid again.
        _ = memory.claim(Self.key(2), until: end, now: Self.time(10, wallAhead: 86400))
        #expect(memory.claim(Self.key(1), until: end, now: Self.time(20)) == .alreadyClaimed)
        // Expired by the monotonic clock; but the wall clock was set back by an hour, so it is valid again.
        #expect(memory.claim(Self.key(1), until: end, now: Self.time(1000, wallAhead: -3600)) == .alreadyClaimed)
    }

    @Test func `what is full is refused, in every shard, and says so`() {
        let memory = ClaimMemory(capacity: 100)
        let end = ClaimEnd(after: 1_700_000_600)
        let outcomes = (0..<200).map { memory.claim(Self.key($0), until: end, now: Self.time(0)) }
        #expect(outcomes.prefix(100).allSatisfy { $0 == .claimed })
        #expect(outcomes.dropFirst(100).allSatisfy { $0 == .unavailable(mayBeClaimed: false) })
        #expect(memory.status(now: Self.time(0)) == StoreStatus(health: .full, entries: 100, fill: 1))
        // All expired claims are removed at once, whichever shard is used.
        #expect(memory.claim(Self.key(1000), until: ClaimEnd(after: 1_700_003_000), now: Self.time(1000)) == .claimed)
    }

    @Test func `a flood at one provider leaves room for the others`() {
        let memory = ClaimMemory(capacity: 100)
        let end = ClaimEnd(after: 1_700_000_600)
        func claim(_ number: UInt64, _ provider: String) -> ClaimOutcome {
            memory.claim(
                Claim(key: Self.key(number), end: end, provider: provider), sharedBy: 2, now: Self.time(0))
        }
        let flood = (0..<200).map { claim($0, "flooded") }
        #expect(flood.count { $0 == .claimed } == 95)
        #expect(memory.status(now: Self.time(0)) == StoreStatus(health: .full, entries: 95, fill: 0.95))
        let others = (200..<210).map { claim($0, "other") }
        #expect(others.count { $0 == .claimed } == 5)
        memory.remove(Claim(key: Self.key(0), end: end, provider: "flooded"))
        #expect(claim(300, "other") == .claimed)
        #expect(claim(301, "flooded") == .unavailable(mayBeClaimed: false))
        #expect(memory.status(now: Self.time(960)) == StoreStatus(health: .ok, entries: 0, fill: 0))
    }

    @Test func `of a thousand concurrent claims, one wins`() async {
        let memory = ClaimMemory(capacity: 10)
        let end = ClaimEnd(after: 1_700_000_600)
        let won = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<1000 {
                group.addTask { memory.claim(Self.key(7), until: end, now: Self.time(0)) == .claimed }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(won == 1)
        #expect(memory.status(now: Self.time(0)).entries == 1)
    }

    @Test func `expired claims are forgotten when the status is read`() {
        let memory = ClaimMemory(capacity: 10)
        let end = ClaimEnd(after: 1_700_000_600)
        for number in 0..<10 { _ = memory.claim(Self.key(UInt64(number)), until: end, now: Self.time(0)) }
        #expect(memory.status(now: Self.time(899)) == StoreStatus(health: .full, entries: 10, fill: 1))
        #expect(memory.status(now: Self.time(960)) == StoreStatus(health: .ok, entries: 0, fill: 0))
    }

    /// In a process of its own, so that no other test uses its memory. Sanitizers use several times as much.
    @Test(.disabled(if: isSanitized)) func `100,000 claims take at most 15 MB, and those after them no more`() async {
        await #expect(processExitsWith: .success) {
            let memory = ClaimMemory(capacity: 100_000)
            let before = residentBytes()
            var most = 0
            for round in 0..<4 {
                let begun = Int64(round) * 2000
                for number in 0..<100_000 {
                    // Spread over ten minutes, as real sign-ins would be.
                    let now = Self.time(begun + Int64(number) / 167)
                    let end = ClaimEnd(after: now.wall.seconds + 600)
                    let outcome = memory.claim(Self.key(UInt64(round * 100_000 + number)), until: end, now: now)
                    precondition(outcome == .claimed)
                }
                most = max(most, residentBytes() - before)
            }
            #expect(most <= 15_000_000)
        }
    }

    /// Random claims and times, compared with a dictionary. Every other seed also changes the wall clock.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func `the memory does as its model`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let memory = ClaimMemory(capacity: 50)
        var ends: [ClaimKey: (monotonic: Int64, unix: Int64)] = [:]
        /// Expired by both clocks, so they may be forgotten.
        var over: Set<ClaimKey> = []
        var (seconds, ahead) = (Int64(0), Int64(0))
        for _ in 0..<3000 {
            seconds += Int64.random(in: 0...40, using: &random)
            if seed % 2 == 1, Int.random(in: 0..<50, using: &random) == 0 {
                ahead = .random(in: -4000...4000, using: &random)
            }
            let now = Self.time(seconds, wallAhead: ahead)
            for (key, end) in ends where seconds >= end.monotonic && now.wall.seconds >= end.unix { over.insert(key) }
            let key = Self.key(.random(in: 0..<200, using: &random))
            let end = ClaimEnd(after: now.wall.seconds + .random(in: 0...3600, using: &random))
            switch memory.claim(key, until: end, now: now) {
            case .claimed:
                #expect(ends[key] == nil || over.contains(key))
                ends[key] = (seconds + end.unixSeconds - now.wall.seconds, end.unixSeconds)
                over.remove(key)
            case .alreadyClaimed:
                #expect(ends[key] != nil)
                // Expired claims are forgotten within a minute.
                if seed % 2 == 0, let end = ends[key] { #expect(seconds < end.monotonic + 60) }
            case .unavailable:
                #expect(ends[key] == nil || over.contains(key))
                if seed % 2 == 0 { #expect(ends.values.count { seconds < $0.monotonic + 60 } >= 50) }
            }
        }
    }
}

extension ClaimMemory {
    /// A claim for the only provider.
    fileprivate func claim(_ key: ClaimKey, until end: ClaimEnd, now: VerificationTime) -> ClaimOutcome {
        claim(Claim(key: key, end: end, provider: "p"), sharedBy: 1, now: now)
    }
}

@Suite struct ClaimKeyTests {
    @Test func `keys differ by kind, by each part, and by where parts end`() throws {
        let context = try DigestContext()
        let keys = try [
            ClaimKey("a", of: [[1, 2], [3]], context), ClaimKey("b", of: [[1, 2], [3]], context),
            ClaimKey("a", of: [[1], [2, 3]], context), ClaimKey("a", of: [[1, 2, 3]], context),
            ClaimKey("a", of: [[1, 2], [4]], context), ClaimKey("a", of: [[1, 2], [3], []], context),
        ]
        #expect(Set(keys).count == keys.count)
        #expect(try ClaimKey("a", of: [[1, 2], [3]], context) == keys[0])
        #expect(keys.allSatisfy { $0.digits.count == 32 })
    }
}

/// The resident memory of this process.
private func residentBytes() -> Int {
    guard let file = unsafe fopen("/proc/self/statm", "r") else { return 0 }
    defer { unsafe fclose(file) }
    var buffer = [UInt8](repeating: 0, count: 128)
    let count = unsafe fread(&buffer, 1, buffer.count, file)
    let text = String(decoding: buffer[..<count], as: UTF8.self)
    return (Int(text.split(separator: " ")[1]) ?? 0) * 4096
}

/// Whether the tests run under a sanitizer.
private var isSanitized: Bool {
    unsafe dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
}
