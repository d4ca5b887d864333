@testable import Service
import Testing

/// The `traceparent` header field of W3C Trace Context.
@Suite struct TraceParentTests {
    private static let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    private func read(_ text: String) -> SpanContext? { SpanContext(traceParent: text.utf8.span) }

    @Test func `the parts of version 00`() throws {
        let context = try #require(read(Self.good))
        #expect(context.traceID.text == "0af7651916cd43dd8448eb211c80319c")
        #expect(context.spanID.text == "b7ad6b7169203331")
        #expect(context.isSampled)
        #expect(context.isRemote)
        #expect(context.state == nil)
        #expect(context.flags.text == "01")
    }

    @Test(
        arguments: [
            ("00", false, "00"), ("01", true, "01"), ("02", false, "02"), ("03", true, "03"), ("ff", true, "03"),
            ("fe", false, "02"), ("10", false, "00"),
        ] as [(String, Bool, String)])
    func `of the flags, those that are known`(digits: String, isSampled: Bool, kept: String) throws {
        let context = try #require(read(Self.good.dropLast(2) + digits))
        #expect(context.isSampled == isSampled)
        #expect(context.flags.text == kept)
    }

    @Test(
        arguments: [
            "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "fe-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-is-to-come",
            "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-",
        ])
    func `of a version to come, what stands in front`(text: String) throws {
        let context = try #require(read(text))
        #expect(context.traceID.text == "0af7651916cd43dd8448eb211c80319c")
        #expect(context.isSampled)
    }

    @Test(
        arguments: [
            "",
            "-",
            "00",
            "00-",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-010",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
            // its version
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "0g-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "0-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "000-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "FE-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-010",
            "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.00",
            // its ids
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-B7AD6B7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319-0b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319cb-7ad6b7169203331-01",
            // its flags and dashes
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0x",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0A",
            "00.0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331 01",
            " 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 ",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01,a",
        ] as [String])
    func `anything else is none`(text: String) { #expect(read(text) == nil) }

    @Test func `one id of one half is an id`() throws {
        let context = try #require(read("00-00000000000000000000000000000001-0000000000000001-00"))
        #expect(context.traceID.text == "00000000000000000000000000000001")
        #expect(context.spanID.text == "0000000000000001")
    }

    // MARK: tracestate

    @Test(
        arguments: [
            (["rojo=00f067aa0ba902b7"], "rojo=00f067aa0ba902b7"),
            (["a=1,b=2", "c=3"], "a=1,b=2,c=3"),
            ([" a=1 \t, ,\tb= 2", ""], "a=1,b= 2"),
            (["1a-_*/@=x!\"#$%&'()*+-./:;<>?@[]^_`{|}~"], "1a-_*/@=x!\"#$%&'()*+-./:;<>?@[]^_`{|}~"),
        ])
    func `the state is one list of what all fields have`(fields: [String], expected: String) {
        #expect(TraceState.text(fields) == expected)
    }

    @Test(
        arguments: [
            [], [""], [","], ["a"], ["a="], ["=1"], ["A=1"], ["a b=1"], ["a=1=2"], ["a=é"], ["a=1\u{7f}"], ["@a=1"],
            ["-a=1"],
            ["a=1,a=2"], ["a=1", "a=1"], [String(repeating: "k", count: 257) + "=1"],
            [String(repeating: "k", count: 256) + "=" + String(repeating: "v", count: 257)],
            [(0..<33).map { "k\($0)=1" }.joined(separator: ",")],
            [(0..<32).map { "k\($0)=123456789012" }.joined(separator: ",")],
        ])
    func `a state that is none, or too much, is left out`(fields: [String]) { #expect(TraceState.text(fields) == nil) }

    @Test func `as much as is passed on`() {
        let members = (0..<32).map { "k\($0)=1" }.joined(separator: ",")
        #expect(TraceState.text([members]) == members)
        let longest = "k=" + String(repeating: "v", count: 256) + ",l=" + String(repeating: "v", count: 251)
        #expect(longest.utf8.count == 512)
        #expect(TraceState.text([longest]) == longest)
        #expect(TraceState.text([longest + "v"]) == nil)
    }
}
