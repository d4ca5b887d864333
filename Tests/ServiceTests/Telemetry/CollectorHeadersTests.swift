@testable import Service
import Testing

/// The file with extra headers for the collector.
@Suite struct CollectorHeadersTests {
    @Test func `a line each, with room for comments`() throws {
        let headers = try CollectorHeaders("# a comment\nAuthorization: Bearer a:b\r\n\n  x-tenant:1 \nempty:\n")
        #expect(
            headers.fields.map { "\($0.name)=\($0.value)" } == ["Authorization=Bearer a:b", "x-tenant=1", "empty="])
    }

    @Test(arguments: [
        ("a", 1), ("a: b\n: c", 2), ("a b: c", 1), ("a : c", 1), ("\n\na: b\u{1}", 3), ("a: é", 1), ("secret", 1),
    ])
    func `a malformed line is reported by its number only`(text: String, line: Int) throws {
        let error = try #require(throws: CollectorHeaders.Malformed.self) { try CollectorHeaders(text) }
        #expect(error.line == line)
        #expect(!error.description.contains("secret"))
    }
}
