import Testing

@testable import HTTPServer

@Suite struct RequestMethodTests {
    private func read(_ name: String) -> RequestMethod? { RequestMethod(Array(name.utf8).span) }

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"])
    func `the methods of RFC 9110 and PATCH have names of their own`(name: String) {
        #expect(read(name)?.rawValue == name)
    }

    @Test(arguments: [
        "ACL", "BASELINE-CONTROL", "MKCALENDAR", "PROPFIND", "QUERY", "UPDATEREDIRECTREF", "VERSION-CONTROL",
    ])
    func `other registered methods are one`(name: String) { #expect(read(name) == .other) }

    @Test(arguments: [
        "", "post", "Get", "GETGET", "PRI", "_OTHER", "ANNOUNCE", "ACL BIND", "MKACTIVIT", "UPDATEREDIRECTREFS",
    ])
    func `anything else is no method`(name: String) { #expect(read(name) == nil) }
}
