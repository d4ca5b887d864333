@testable import DevProvider
import Testing

@Suite struct HostNameTests {
    @Test(arguments: [
        "localhost", "LOCALHOST:80", "127.0.0.1", "127.1.2.3:9400", "[::1]", "[::1]:9400", "app.test", "a.b.test:1",
        "app.localhost",
    ])
    func `this machine and names for tests are development's`(authority: String) {
        #expect(HostName(authority)?.isOfDevelopment == true)
    }

    @Test(arguments: [
        "", ":80", "example.com", "localhost.example.com", "127.0.0.1.example.com", "127.0.0", "127.0.0.1.1", "0.0.0.0",
        "192.0.2.1", "test", "contest", "evil-test", "a.test.", "localhost:80:80", "localhost:x", "user@localhost",
        "[::2]", "[::1", "127.0.0.256", "local host", "localhost\u{212A}",
    ])
    func `nothing else is`(authority: String) {
        #expect(HostName(authority)?.isOfDevelopment != true)
    }

    @Test(arguments: [
        ("http://127.0.0.1:1/x", true), ("https://app.test", true), ("http://localhost?x", true),
        ("ftp://localhost", false), ("http://localhost@evil.example/", false),
        ("http://evil.example/?localhost", false),
        ("http://evil.example\\.test/", false),
    ])
    func `a URL's host is what stands before the path`(url: String, expected: Bool) {
        #expect((HostName(ofURL: url)?.isOfDevelopment == true) == expected)
    }

    @Test(arguments: [
        ("http://127.0.0.1:9400", true), ("http://idp.test", true), ("http://idp.test:80", true),
        ("https://idp.test", false), ("http://localhost:9400", false), ("http://accounts.google.com", false),
        ("http://idp.test/", false), ("http://127.0.0.2", false),
    ])
    func `an issuer can't be taken for a real one`(origin: String, expected: Bool) {
        #expect(DevProviderServer.isOrigin(origin) == expected)
    }
}

@Suite struct HTMLTests {
    @Test func `what is interpolated is escaped, once`() {
        let name = "<script>alert('1')</script> & \"Co\""
        let part: HTML = "<b>\(name)</b>"
        let page: HTML = "<p>\(part)\([part, part])</p>"
        let escaped = "<b>&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;Co&quot;</b>"
        #expect(page.text == "<p>\(escaped)\(escaped)\(escaped)</p>")
    }
}
