import JOSE
import Testing

/// The location of the error in an invalid text.
@Suite struct JSONErrorLocationTests {
    @Test(
        arguments: [
            ("", .syntax, 0, 1, 1, true),
            ("{", .syntax, 1, 1, 2, true),
            (#"{"a":1"#, .syntax, 6, 1, 7, true),
            (#"{"a":1,}"#, .syntax, 7, 1, 8, false),
            ("{\n  \"a\": 1\n  \"b\": 2\n}", .syntax, 13, 3, 3, false),
            ("{\"\u{e9}\u{1f600}\": x}", .syntax, 11, 1, 8, false),
            (#"{"a":tru}"#, .syntax, 5, 1, 6, false),
            (#"{"a":"x\q"}"#, .syntax, 7, 1, 8, false),
            ("{\"a\":\"x\ny\"}", .syntax, 7, 1, 8, false),
            ("{\"a\":\"x", .syntax, 7, 1, 8, true),
            ("{}x", .syntax, 2, 1, 3, false),
            ("\u{feff}{}", .syntax, 0, 1, 1, false),
            (#"{"a":"\udc00"}"#, .encoding, 12, 1, 13, false),
            (#"{"a":1,"a":2}"#, .duplicateMember, 13, 1, 14, false),
            (#"{"a":1e999}"#, .numberOutOfRange, 10, 1, 11, false),
            ("[1]", .notAnObject, 3, 1, 4, false),
        ] as [(String, JSONError, Int, Int, Int, Bool)])
    func `a fault has a place`(text: String, error: JSONError, offset: Int, line: Int, column: Int, isAtEnd: Bool) {
        // A slice whose indices don't start at 0.
        let fault = JSONErrorLocation(in: (Array("xxx".utf8) + Array(text.utf8)).dropFirst(3))
        #expect(fault?.error == error)
        #expect(fault?.offset == offset)
        #expect(fault?.line == line)
        #expect(fault?.column == column)
        #expect(fault?.isAtEnd == isAtEnd)
    }

    @Test func `a bad byte is found where it stands`() {
        let fault = JSONErrorLocation(in: (Array(#"{"a":"x"#.utf8) + [0xff] + Array(#""}"#.utf8))[...])
        #expect(fault?.error == .encoding)
        #expect(fault?.offset == 7)
    }

    @Test func `nesting is refused where it gets too deep`() {
        let text = #"{"a":"# + String(repeating: "[", count: 70)
        let fault = JSONErrorLocation(in: Array(text.utf8)[...])
        #expect(fault?.error == .tooDeep)
        #expect(fault?.offset == 5 + 63)
    }

    @Test func `a text that is accepted has no fault`() {
        #expect(JSONErrorLocation(in: Array(#" {"a":"\u0000"} "#.utf8)[...], allowsNUL: true) == nil)
        #expect(JSONErrorLocation(in: Array(#" {"a":"\u0000"} "#.utf8)[...])?.error == .encoding)
    }
}
