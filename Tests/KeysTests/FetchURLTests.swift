import Keys
import Testing

@Suite struct FetchURLTests {
    private func address(_ text: String, allowingHTTP: Bool = false) throws -> FetchURL {
        try FetchURL(text, allowingHTTP: allowingHTTP)
    }

    @Test(arguments: [
        ("https://example.com", "example.com", 443),
        ("https://example.com/", "example.com", 443),
        ("https://example.com/a/b?c=d&e=%2f", "example.com", 443),
        ("https://example.com?a", "example.com", 443),
        ("https://example.com:8443/keys", "example.com", 8443),
        ("https://example.com:1/", "example.com", 1),
        ("https://example.com:65535/", "example.com", 65535),
        ("https://sub_domain.ex-ample.com./", "sub_domain.ex-ample.com.", 443),
        ("https://192.0.2.1/", "192.0.2.1", 443),
        ("https://[2001:db8::1]/", "2001:db8::1", 443),
        ("https://[::1]:8443/a", "::1", 8443),
        ("https://[::ffff:192.0.2.1]/", "::ffff:192.0.2.1", 443),
        ("https://xn--80ak6aa92e.com/", "xn--80ak6aa92e.com", 443),
    ])
    func `an https address has a host and a port`(text: String, host: String, port: Int) throws {
        let address = try address(text)
        #expect(address.text == text)
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.isSecure)
    }

    /// The vetted host must be the one connected to, and the HTTP client compares host names letter by letter.
    @Test(arguments: [
        ("https://EXAMPLE.Com/A?B", "https://example.com/A?B"),
        ("https://Example.com", "https://example.com"),
        ("https://Example.com?X", "https://example.com?X"),
        ("https://[2001:DB8::A]:444/A", "https://[2001:db8::a]:444/A"),
    ])
    func `the host is written in lower case, and nothing else is changed`(text: String, canonical: String) throws {
        #expect(try address(text).text == canonical)
        #expect(try canonical.contains(address(text).host))
    }

    @Test func `http is refused unless it is allowed`() throws {
        let error = #expect(throws: FetchFailure.self) { try address("http://example.com/") }
        #expect(error?.phase == .address)
        #expect(error?.message.contains("allow_http") == true)
        let allowed = try address("http://example.com/", allowingHTTP: true)
        #expect(!allowed.isSecure)
        #expect(allowed.port == 80)
        #expect(try address("https://example.com/", allowingHTTP: true).isSecure)
    }

    /// URLs that parsers interpret differently, and URLs that leave the web.
    @Test(arguments: [
        "", "example.com", "/keys", "//evil.example/keys", "keys", "?a", "#a", "https:", "https:/", "https://",
        "https:///keys",
        "https:example.com", "https:/example.com", "https://?a", "https://:443/", "https://:443",
        // Other schemes.
        "file:///etc/passwd", "ftp://example.com/", "data:application/json,{}", "gopher://example.com/", "javascript:1",
        "unix:///run/x.sock", "http+unix://%2frun%2fx.sock/", "https+unix://%2fx/", "ws://example.com/",
        "jar:https://a!/b",
        "HTTPS://example.com/", "Https://example.com/", "HTTP://example.com/", " https://example.com/",
        // Credentials.
        "https://user@example.com/", "https://user:password@example.com/", "https://@example.com/",
        "https://example.com@evil.example/",
        "https://example.com%40evil.example/", "https://evil.example:443@example.com/",
        // Ports.
        "https://example.com:0/", "https://example.com:65536/", "https://example.com:-1/", "https://example.com:+443/",
        "https://example.com:/", "https://example.com:x/", "https://example.com:443:443/", "https://example.com:0x1bb/",
        "https://example.com:99999999999999999999/", "https://example.com: 443/",
        // Characters that parsers interpret differently.
        "https://example.com\\@evil.example/", "https://example.com\\.evil.example/", "https:\\\\example.com/",
        "https://example.com/\\",
        "https://example.com/a b", "https://exa mple.com/", "https://example.com/\r\nX: y", "https://example.com/\n",
        "https://exam\tple.com/",
        "https://example.com/\u{0}", "https://example.com/\u{7f}", "https://ex\u{e4}mple.com/",
        "https://example.com/\u{e4}",
        "https://example\u{3002}com/", "https://\u{ff45}xample.com/", "https://example.com/\u{200b}",
        "https://example.com#@evil.example/",
        "https://example.com/keys#a", "https://ex%61mple.com/", "https://example.com%2f.evil.example/",
        "https://example.com;evil/",
        "https://example.com,evil/", "https://exa'mple.com/", "https://*.example.com/", "https://$(id)/",
        "https://a|b/",
        // IPv6.
        "https://[::1", "https://::1/", "https://[]/", "https://[::1]x/", "https://[::1]:", "https://[::1]:x/",
        "https://[fe80::1%25eth0]/",
        "https://[fe80::1%eth0]/", "https://[v1.x]/", "https://[example.com]/", "https://x[::1]/",
        "https://a..example/", "https://.example/", "https://example.com../",
        "https://[[::1]]/",
        "https://[abc]/", "https://[1.2.3.4]/", "https://[:::]/", "https://[1:2:3:4:5:6:7:8:9]/",
    ])
    func `nothing else is an address to fetch from`(text: String) {
        for allowingHTTP in [false, true] {
            let error = #expect(throws: FetchFailure.self) { try address(text, allowingHTTP: allowingHTTP) }
            #expect(error?.phase == .address)
            // The message is logged, and the URL may contain secrets.
            if text.utf8.count > 12 { #expect(error?.message.contains(text) == false) }
        }
    }

    @Test func `a host has labels and a length that names can have`() throws {
        let label = String(repeating: "a", count: 63)
        let longest = "\(label).\(label).\(label).\(label.dropLast(2))"
        #expect(longest.utf8.count == 253)
        for host in [longest, longest + ".", "a.", label] {
            _ = try FetchURL("https://\(host)/", allowingHTTP: false)
        }
        for host in [label + "a", "a\(longest)", longest + ".."] {
            #expect(throws: FetchFailure.self) { try FetchURL("https://\(host)/", allowingHTTP: false) }
        }
    }

    @Test func `an address has at most 2048 bytes`() throws {
        let start = "https://example.com/"
        let longest = start + String(repeating: "a", count: 2048 - start.utf8.count)
        #expect(try address(longest).text == longest)
        #expect(throws: FetchFailure.self) { try address(longest + "a") }
    }

    // MARK: Redirects

    private func redirect(
        from start: String = "https://example.com:8443/a/b?c", to location: String, allowingHTTP: Bool = false
    ) throws -> String {
        try address(start, allowingHTTP: allowingHTTP).redirected(to: location, allowingHTTP: allowingHTTP).text
    }

    @Test(arguments: [
        ("/", "https://example.com:8443/"),
        ("/x/y?z", "https://example.com:8443/x/y?z"),
        ("/../x", "https://example.com:8443/../x"),
        ("/@evil.example/", "https://example.com:8443/@evil.example/"),
        ("https://other.example/", "https://other.example/"),
        ("https://OTHER.example", "https://other.example"),
        ("https://example.com:8443/a/b?c", "https://example.com:8443/a/b?c"),
    ])
    func `a redirect leads to a path of the same origin or to another https address`(
        location: String, target: String
    ) throws {
        #expect(try redirect(to: location) == target)
    }

    @Test(arguments: [
        ("https://example.com", "/x", "https://example.com/x"),
        ("https://example.com?a=/b", "/x", "https://example.com/x"),
        ("https://[::1]:444/a", "/x", "https://[::1]:444/x"),
    ])
    func `a path is that of the origin it came from`(start: String, location: String, target: String) throws {
        #expect(try redirect(from: start, to: location) == target)
    }

    @Test(arguments: [
        "", "x", "./x", "../x", "?x", "#x", "//evil.example/", "///evil.example", "/\\evil.example",
        "\\\\evil.example\\", "http://example.com/",
        "HTTP://example.com/", "file:///etc/passwd", "data:,{}", "ftp://example.com/", "https://user@example.com/",
        "https://example.com:0/",
        "/x y", "/x\r\nSet-Cookie: a", "/x#y", "javascript:alert(1)", " /x", "https:/x", "mailto:a@b",
    ])
    func `a redirect elsewhere is not followed`(location: String) {
        #expect(throws: FetchFailure.self) { try redirect(to: location) }
    }

    @Test func `a redirect goes from http to https and never back`() throws {
        #expect(
            try redirect(from: "http://a.example/", to: "https://a.example/", allowingHTTP: true)
                == "https://a.example/")
        #expect(try redirect(from: "http://a.example/x", to: "/y", allowingHTTP: true) == "http://a.example/y")
        #expect(
            try redirect(from: "http://a.example/x", to: "http://b.example/", allowingHTTP: true) == "http://b.example/"
        )
        let error = #expect(throws: FetchFailure.self) {
            try redirect(from: "https://a.example/", to: "http://a.example/", allowingHTTP: true)
        }
        #expect(error?.phase == .http)
    }
}
