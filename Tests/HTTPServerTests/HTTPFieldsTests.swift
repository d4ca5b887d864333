import TestSupport
import Testing

@testable import HTTPServer

@Suite struct HTTPFieldsTests {
    @Test func `a field that is there once is found, and one that is there twice is not`() {
        let fields = HTTPFields([("a", "1"), ("TraceParent", "2"), ("b", "3"), ("B", "4"), ("traceparent-x", "5")])
        #expect(fields.only("traceparent")?.string == "2")
        #expect(fields.only("a")?.string == "1")
        #expect(fields.only("b") == nil)
        #expect(fields.only("c") == nil)
        #expect(HTTPFields([(name: String, value: String)]()).only("a") == nil)
    }
}
