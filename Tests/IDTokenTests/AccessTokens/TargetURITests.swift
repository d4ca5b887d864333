import IDToken
import Testing

/// URLs as DPoP proofs compare them.
@Suite struct TargetURITests {
    @Test(arguments: [
        // RFC 3986, 6.2.2.1: case. 6.2.3: default port, empty path.
        ("https://api.example/a", "https://api.example/a"), ("HTTPS://API.Example/A", "https://api.example/A"),
        ("https://api.example", "https://api.example/"), ("https://api.example:443/", "https://api.example/"),
        ("https://api.example:/", "https://api.example/"), ("https://api.example:80/", "https://api.example:80/"),
        ("https://api.example:08443/", "https://api.example:8443/"),
        ("https://192.0.2.1:8443/a", "https://192.0.2.1:8443/a"),
        ("https://[2001:DB8::1]:8443/", "https://[2001:db8::1]:8443/"), ("https://[::1]/", "https://[::1]/"),
        // Query and fragment are no part of it.
        ("https://api.example?a=b", "https://api.example/"), ("https://api.example/a?b#c", "https://api.example/a"),
        ("https://api.example#/a", "https://api.example/"), ("https://api.example/a?", "https://api.example/a"),
        ("https://api.example/a?b=é", "https://api.example/a"),
        // 6.2.2.2: percent-encoding.
        ("https://api.example/%7euser/%41%2d%2E%5f", "https://api.example/~user/A-._"),
        ("https://api.example/a%2fb%3f%c3%a9", "https://api.example/a%2Fb%3F%C3%A9"),
        ("https://api.example/a;b=c,d:e@f!$&'()*+", "https://api.example/a;b=c,d:e@f!$&'()*+"),
        // 6.2.2.3: dot segments, also encoded ones.
        ("https://api.example/a/./b/../c", "https://api.example/a/c"),
        ("https://api.example/a/b/..", "https://api.example/a/"),
        ("https://api.example/a/.", "https://api.example/a/"), ("https://api.example/../../a", "https://api.example/a"),
        ("https://api.example/..", "https://api.example/"), ("https://api.example/a/%2e%2E/b", "https://api.example/b"),
        ("https://api.example//a//..//b", "https://api.example//a//b"),
        ("https://api.example/a/", "https://api.example/a/"),
        ("https://api.example/.../..a", "https://api.example/.../..a"),
        // Plain HTTP reaches this machine only.
        ("http://localhost/", "http://localhost/"), ("http://LOCALHOST:80/", "http://localhost/"),
        ("http://127.0.0.1:8080/a", "http://127.0.0.1:8080/a"), ("http://127.9.9.9/", "http://127.9.9.9/"),
        ("http://[::1]:443/", "http://[::1]:443/"),
    ])
    func `a URL has one normal form`(url: String, normal: String) {
        #expect(TargetURI(url)?.text == normal)
        #expect(TargetURI(normal)?.text == normal)
    }

    @Test(arguments: [
        "", "/a", "api.example/a", "https:/api.example/", "https:api.example", "https://", "https:///a",
        "https://:443/",
        "ftp://api.example/", "http://api.example/", "http://128.0.0.1/", "http://127.0.0.1.example/",
        "http://127.0.0/",
        "http://localhost.example/", "http://localhost@api.example/", "https://user@api.example/",
        "https://a:b@api.example/",
        "https://api.example:x/", "https://api.example:0/", "https://api.example:65536/", "https://api.example:123456/",
        "https://api.example:1:2/", "https://api.example:-1/", "https://[::1/", "https://[]/", "https://[::1]a/",
        "https://[::g]/", "https://api%2eexample/", "https://bücher.example/", "https://api .example/",
        "https://api.example/a b", "https://api.example/%", "https://api.example/%2", "https://api.example/%zz",
        "https://api.example/é", "https://api.example/\u{0}", "https://api.example/a\\b", "https://api.example/\"",
        " https://api.example/", "https://api.example/\n", "https\u{0}://api.example/",
    ])
    func `anything else is none`(url: String) { #expect(TargetURI(url) == nil) }
}
