import Keys
@testable import Service
import Testing

@Suite struct KeyHistoryTests {
    private typealias Entry = KeyHistory.Entry
    private typealias NamedKeys = KeyHistory.NamedKeys
    private typealias Event = KeyHistory.Event

    private func history(_ events: (KeyEvent, Int64)...) -> [Entry] {
        var history = KeyHistory()
        for (event, time) in events { history.note(event, atUnixSeconds: time) }
        return history.entries
    }

    @Test func `changed keys are reported as added and removed`() {
        let entries = history(
            (.keysChanged(keyIDs: ["a", "b"]), 1), (.keysChanged(keyIDs: ["b", "c", "d"]), 2),
            (.keysChanged(keyIDs: ["d", "c", "b"]), 3))
        #expect(
            entries.map(\.event) == [
                Event(name: "keys_changed", added: NamedKeys(["a", "b"]), removed: NamedKeys([])),
                Event(name: "keys_changed", added: NamedKeys(["c", "d"]), removed: NamedKeys(["a"])),
                Event(name: "keys_changed", added: NamedKeys([]), removed: NamedKeys([])),
            ])
        #expect(entries.map(\.at) == [1, 2, 3])
    }

    @Test func `names are the same byte for byte or not at all`() {
        let entries = history((.keysChanged(keyIDs: ["\u{e9}"]), 1), (.keysChanged(keyIDs: ["e\u{301}"]), 2))
        #expect(entries.last?.event.added?.count == 1 && entries.last?.event.removed?.count == 1)
    }

    @Test func `what repeats itself is one entry, from the first time to the last`() {
        let failure = KeyEvent.fetchFailed(FetchFailure(.dns, "no such host"), isFirst: true)
        func failed(_ message: String) -> Event { Event(name: "fetch_failed", phase: .dns, message: message) }
        let entries = history(
            (.fetched, 1), (.fetched, 5), (.recovered, 6), (.fetched, 9), (failure, 10),
            (.fetchFailed(FetchFailure(.dns, "no such host"), isFirst: false), 11),
            (.fetchFailed(FetchFailure(.dns, "the name server is silent"), isFirst: false), 12), (.fetched, 13))
        #expect(
            entries == [
                Entry(event: Event(name: "fetched"), issuer: nil, since: 1, at: 9, count: 3),
                Entry(event: failed("no such host"), issuer: nil, since: 10, at: 11, count: 2),
                Entry(event: failed("the name server is silent"), issuer: nil, since: 12, at: 12),
                Entry(event: Event(name: "fetched"), issuer: nil, since: 13, at: 13),
            ])
    }

    @Test func `states and archive events are recorded too`() {
        let entries = history(
            (.stateChanged(.stale), 1), (.archiveRefused(reason: "it is damaged"), 2), (.archiveFailed, 3),
            (.fallbackFailed(FetchFailure(.file, "there is no such file")), 4))
        #expect(
            entries.map(\.event) == [
                Event(name: "state_changed", state: .stale),
                Event(name: "archive_refused", message: "it is damaged"), Event(name: "archive_failed"),
                Event(name: "fallback_failed", message: "there is no such file"),
            ])
    }

    @Test func `what strangers' tokens cause pushes nothing out`() {
        #expect(history((.tokenFetchBegan, 1), (.tokenFetchRefused, 2)).isEmpty)
    }

    @Test func `the oldest goes when there is no more room`() {
        var history = KeyHistory()
        for number in 0..<KeyHistory.maximumEntries + 7 {
            history.note(number.isMultiple(of: 2) ? .fetched : .archiveFailed, atUnixSeconds: Int64(number))
        }
        #expect(history.entries.count == KeyHistory.maximumEntries)
        #expect(history.entries.first?.at == 7)
        #expect(history.entries.last?.at == Int64(KeyHistory.maximumEntries + 6))
    }

    @Test func `many or long names are truncated, and counted`() {
        let long = String(repeating: "e\u{301}\u{301}\u{301}", count: 100)
        let keys = NamedKeys((0..<KeyHistory.maximumKeyIDs + 1).map { "\($0)" + long })
        #expect(keys.count == KeyHistory.maximumKeyIDs + 1)
        #expect(keys.keyIDs.count == KeyHistory.maximumKeyIDs)
        #expect(keys.keyIDs.allSatisfy { $0.unicodeScalars.count == KeyHistory.maximumKeyIDLength })
        #expect(NamedKeys(["a"]).keyIDs == ["a"])
    }
}
