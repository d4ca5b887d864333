import Testing
@testable import Verification

@Suite struct IssuerListTests {
    private func read(_ text: String) throws -> IssuerList {
        try IssuerList(reading: Array(text.utf8)) { $0.hasPrefix("https://") ? nil : "it is bad" }
    }

    @Test func `lines have an issuer, audiences and domains, in any spacing`() throws {
        let list = try read("https://a - @a.example\n\n# remark\r\n  https://b  x y @b.example #z\r\nhttps://c - #\n")
        #expect(list.issuers == ["https://a", "https://b", "https://c"])
        #expect(list["https://a"] == IssuerList.Line(number: 0, audiences: nil, domains: ["a.example"]))
        #expect(list["https://b"]?.audiences == ["x", "y"])
        #expect(list["https://b"]?.domains == ["b.example"])
        #expect(list["https://b"]?.number == 4)
        #expect(list["https://c"]?.domains == [])
        #expect(list["https://A"] == nil)
        #expect(list.usesEntryAudiences && !list.namesDomainsEverywhere)
    }

    @Test func `an empty file, or one of remarks, is an empty list`() throws {
        #expect(try read("").count == 0)
        #expect(try read("# nothing\n\n").count == 0)
    }

    @Test(arguments: [
        ("https://a -", 1), ("https://a\n", 1), ("\nhttps://a @a.example\n", 2), ("https://a -\nhttps://a -\n", 2),
        ("http://a -\n", 1), ("https://a - b\n", 1), ("https://a - @\n", 1), ("https://a - @a..b\n", 1),
        ("https://a\t-\n", 1), ("https://a -\u{7f}\n", 1), ("# x\n# y\n- -\n", 3), ("https://a - @-a.example\n", 1),
        ("https://a " + String(repeating: "x", count: 1025) + "\n", 1),
    ])
    func `a bad line refuses the file, by its number`(text: String, line: Int) throws {
        let fault = try #require(#expect(throws: IssuerList.Fault.self) { try read(text) })
        #expect(fault.line == line)
        #expect(!fault.reason.contains("https://"))
    }

    @Test func `bytes that are not UTF-8 are refused`() {
        let fault = #expect(throws: IssuerList.Fault.self) {
            try IssuerList(reading: Array("https://a ".utf8) + [0xff, 0x0a]) { _ in nil }
        }
        #expect(fault == IssuerList.Fault(line: 1, reason: "it is not UTF-8"))
    }

    @Test func `a sample is spread over the list`() throws {
        let list = IssuerList(
            (0..<100).map { ("https://\($0)", IssuerList.Line(number: $0, audiences: nil, domains: [])) })
        #expect(list.sample(atMost: 4) == ["https://0", "https://25", "https://50", "https://75"])
        #expect(list.sample(atMost: 100).count == 100)
    }
}
