import HTTP
import Settings
import Testing

@Suite struct FileChangeDebouncerTests {
    /// Which of several polls report a stable change. Each has a time in milliseconds and the content found.
    private func looks(_ looks: [(Int64, String)], after watch: inout FileChangeDebouncer<String>) -> [Bool] {
        looks.map { watch.observe($1, at: MonotonicTime(milliseconds: $0)) }
    }

    private func looks(_ looks: (Int64, String)...) -> [Bool] {
        var watch = FileChangeDebouncer(read: "a", rest: .seconds(2))
        return self.looks(looks, after: &watch)
    }

    @Test func `what was read is no change, however often it is seen`() {
        #expect(looks((0, "a"), (2000, "a"), (4000, "a"), (600_000, "a")) == [false, false, false, false])
    }

    @Test func `a change counts once it has been there for a while, to the millisecond`() {
        #expect(looks((10_000, "b"), (11_999, "b"), (12_000, "b")) == [false, false, true])
    }

    @Test func `a change that goes on changing begins to rest with its last part`() {
        #expect(looks((10_000, "b"), (12_000, "bc"), (13_000, "bc"), (14_000, "bc")) == [false, false, false, true])
    }

    @Test func `a change that is taken back is none`() {
        #expect(looks((10_000, "b"), (11_000, "a"), (12_000, "b"), (14_000, "b")) == [false, false, false, true])
    }

    @Test func `what was read is not to be read again until it changes again`() {
        var watch = FileChangeDebouncer(read: "a", rest: .seconds(2))
        let before = looks([(10_000, "b"), (12_000, "b")], after: &watch)
        watch.didRead("b")
        let after = looks([(14_000, "b"), (16_000, "a"), (18_000, "a")], after: &watch)
        #expect(before == [false, true])
        #expect(after == [false, false, true])
    }

    @Test func `what was read without a look is no change either`() {
        var watch = FileChangeDebouncer(read: "a", rest: .seconds(2))
        watch.didRead("b")
        #expect(looks([(10_000, "b"), (12_000, "b")], after: &watch) == [false, false])
    }
}
