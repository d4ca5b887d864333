import Bytes
import Testing

@Suite struct ExactStringTests {
    @Test(arguments: [
        ("", "", true), ("a", "a", true), ("\u{e9}", "\u{e9}", true), ("a", "A", false), ("a", "a ", false),
        ("a", "", false),
        ("\u{e9}", "e\u{301}", false), ("K", "\u{212a}", false), (";", "\u{37e}", false),
        ("가", "\u{1100}\u{1161}", false),
    ])
    func `strings are the same byte for byte, or not at all`(left: String, right: String, isSame: Bool) {
        #expect(left.isExactly(right) == isSame)
        #expect(right.isExactly(left) == isSame)
        #expect([right].containsExactly(left) == isSame)
        #expect((ExactString(left) == ExactString(right)) == isSame)
        // Dictionary keys are compared by the same rule.
        #expect(([ExactString(left): 1][ExactString(right)] != nil) == isSame)
    }

    @Test func `a list contains what is in it`() {
        #expect(["a", "b"].containsExactly("b"))
        #expect(!["a", "b"].containsExactly("c"))
        #expect(!([] as [String]).containsExactly(""))
    }

    @Test(arguments: [
        ("", "", true), ("a.example", "A.Example", true), ("bearer", "Bearer", true), ("a", "b", false),
        ("a", "ab", false), ("@", "`", false), ("[", "{", false), ("É", "é", false), ("K", "\u{212a}", false),
    ])
    func `only the case of ASCII letters can be ignored`(left: String, right: String, isSame: Bool) {
        #expect(left.utf8.span.isEqualIgnoringCase(to: right.utf8.span) == isSame)
        #expect(right.utf8.span.isEqualIgnoringCase(to: left.utf8.span) == isSame)
    }
}
