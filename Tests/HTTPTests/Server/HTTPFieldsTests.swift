@testable import HTTP
import Testing
import TestSupport

@Suite struct HTTPFieldsTests {
    @Test func `a field that is there once is found, and one that is there twice is not`() throws {
        let text = "GET / HTTP/1.0\r\na: 1\r\nTraceParent: 2\r\nb: 3\r\nB: 4\r\ntraceparent-x: 5\r\n\r\n"
        var parser = HeadParser(maximumLength: 1000)
        let fields = try #require(try parser.parse(Array(text.utf8).span)).head.fields
        #expect(fields.only("traceparent")?.string == "2")
        #expect(fields.only("a")?.string == "1")
        #expect(fields.only("b") == nil)
        #expect(fields.only("c") == nil)
    }
}
