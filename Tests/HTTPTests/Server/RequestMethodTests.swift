@testable import HTTP
import Testing

@Suite struct RequestMethodTests {
    private func read(_ name: String) -> RequestMethod? { RequestMethod(Array(name.utf8).span) }

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"])
    func `the methods of RFC 9110 and PATCH have names of their own`(name: String) {
        #expect(read(name)?.rawValue == name)
    }

    @Test(arguments: [
        "PROPFIND", "UPDATEREDIRECTREF", "PURGE", "ANNOUNCE", "post", "Get", "GETGET", "PRI", "_OTHER", "X",
        "!#$%&'*+-.^_`|~",
        String(repeating: "A", count: 32),
    ])
    func `all others are one`(name: String) { #expect(read(name) == .other) }

    @Test(arguments: ["", String(repeating: "A", count: 33)])
    func `a name has 1 to 32 characters`(name: String) { #expect(read(name) == nil) }
}
