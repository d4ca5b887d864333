import Keys
import Testing

@Suite struct ProxyEnvironmentTests {
    @Test(arguments: [
        ("http://proxy.example:3129", "proxy.example", 3129),
        ("http://proxy.example:3129/", "proxy.example", 3129),
        ("proxy.example:8080", "proxy.example", 8080),
        ("http://proxy.example", "proxy.example", 3128),
        ("proxy.example", "proxy.example", 3128),
        ("http://10.0.0.1:3128", "10.0.0.1", 3128),
        ("http://[::1]:8080", "::1", 8080),
        ("http://[::1]", "::1", 3128),
    ])
    func `a proxy has a host and a port, curl's where none is given`(text: String, host: String, port: Int) throws {
        for name in ["HTTPS_PROXY", "https_proxy"] {
            let proxy = try #require(try ProxyEnvironment([name: text]))
            #expect(proxy.host == host)
            #expect(proxy.port == port)
            #expect(proxy.credentials == nil)
        }
    }

    @Test(arguments: [
        ("http://user:pass@proxy.example:1", "user", "pass"), ("user:pass@proxy.example:1", "user", "pass"),
        ("http://user@proxy.example:1", "user", ""), ("http://user:@proxy.example:1", "user", ""),
        ("http://u:p:q@proxy.example:1", "u", "p:q"), ("http://us%40er:p%3Aw%20d@proxy.example:1", "us@er", "p:w d"),
    ])
    func `credentials stand before the host`(text: String, user: String, password: String) throws {
        let proxy = try #require(try ProxyEnvironment(["HTTPS_PROXY": text]))
        #expect(proxy.host == "proxy.example")
        #expect(proxy.port == 1)
        #expect(proxy.credentials?.user == user)
        #expect(proxy.credentials?.password == password)
    }

    @Test(
        arguments: [
            [:], ["HTTPS_PROXY": ""], ["HTTP_PROXY": "http://a.example:1"], ["ALL_PROXY": "http://a.example:1"],
            ["NO_PROXY": "*"],
        ] as [[String: String]])
    func `no proxy is named by other variables, or by nothing`(environment: [String: String]) throws {
        #expect(try ProxyEnvironment(environment) == nil)
    }

    @Test func `capitals come first`() throws {
        let proxy = try ProxyEnvironment(["HTTPS_PROXY": "http://a.example", "https_proxy": "http://b.example"])
        #expect(proxy?.host == "a.example")
    }

    @Test(arguments: [
        "https://proxy.example:3128", "socks5://proxy.example:1080", "http://", "http://:3128", "http://user:secret@:1",
        "http://proxy.example:secret", "http://user:secret@", "ftp://user:secret@proxy.example",
    ])
    func `what is no http proxy is refused without being repeated`(text: String) {
        let error = #expect(throws: FetchFailure.self) { try ProxyEnvironment(["HTTPS_PROXY": text]) }
        #expect(error?.message == "HTTPS_PROXY is not of the form http://host:port")
    }

    @Test(
        arguments: [
            ("", ["example.com": true]),
            ("*", ["example.com": false, "localhost": false]),
            (
                "example.com",
                [
                    "example.com": false, "a.example.com": false, "notexample.com": true,
                    "example.com.evil.example": true,
                ]
            ),
            (".example.com", ["example.com": false, "a.b.example.com": false, "badexample.com": true]),
            ("Example.COM", ["example.com": false]),
            (
                "localhost,127.0.0.1 , internal",
                ["localhost": false, "127.0.0.1": false, "host.internal": false, "127.0.0.2": true]
            ),
            ("a.example b.example", ["a.example": false, "b.example": false, "c.example": true]),
            ("::1", ["::1": false]),
            (",,", ["example.com": true]),
            ("*.example.com", ["a.example.com": false, "example.com": false, "badexample.com": true]),
            ("a.example\tb.example\nc.example", ["b.example": false, "c.example": false]),
            ("example.com", ["example.com.": false, "a.example.com.": false]),
            ("example.com.", ["example.com": false, "example.com.": false, "badexample.com.": true]),
            ("10.0.0.0/8,.svc", ["10.96.0.1": false, "11.0.0.1": true, "a.svc": false, "10.example": true]),
            ("10.1.2.3/8", ["10.96.0.1": false, "11.1.2.3": true]),
            ("fd00::/8 ::1", ["fd12::1": false, "::1": false, "0:0:0:0:0:0:0:1": false, "fe80::1": true]),
            ("10.0.0.0/33", ["10.0.0.0": true]),
            ("example.com:443", ["example.com": false, "a.example.com": false]),
            ("example.com:8443,10.0.0.1:80,[::1]:80", ["example.com": true, "10.0.0.1": true, "::1": true]),
            ("*.example.com:443,10.0.0.1:443,[::1]:443", ["a.example.com": false, "10.0.0.1": false, "::1": false]),
            ("*:443", ["a.example": false]),
        ] as [(String, [String: Bool])])
    func `some hosts are reached without it`(exceptions: String, hosts: [String: Bool]) throws {
        for name in ["NO_PROXY", "no_proxy"] {
            let proxy = try #require(try ProxyEnvironment(["HTTPS_PROXY": "http://p.example", name: exceptions]))
            for (host, applies) in hosts { #expect(proxy.applies(to: host, port: 443) == applies, "\(host)") }
        }
    }
}
