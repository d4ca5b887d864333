import HTTP
@testable import Service
import Testing

@Suite struct HTTPFieldsBrowserTests {
    @Test(arguments: [
        "localhost", "LOCALHOST:9090", "127.0.0.1", "127.0.0.1:9090", "10.1.2.3:80", "[::1]", "[::1]:9090",
        "[fe80::1]:1", "",
        ":9090",
    ])
    func `an address and localhost are nobody else's`(host: String) {
        #expect(!HTTPFields([("Host", host)]).isForForeignHost(besides: []))
    }

    @Test(arguments: [
        "evil.example", "evil.example:9090", "localhost.evil.example", "localhost.", "127.0.0.1.evil.example",
        "[::1].evil",
        "[::1", "1.2", "127.1", "0x7f000001", "127.0.0.1:80:evil", "127.0.0.1:x", "evil:127.0.0.1", "127.0.0.1 ",
        "[localhost.a]",
    ])
    func `any other name may be`(host: String) {
        #expect(HTTPFields([("Host", host)]).isForForeignHost(besides: ["assay.internal"]))
    }

    @Test(arguments: ["assay.internal", "Assay.Internal:9090", "[::1]", "localhost"])
    func `a name that was listed is not foreign`(host: String) {
        #expect(!HTTPFields([("Host", host)]).isForForeignHost(besides: ["other", "assay.internal"]))
    }

    @Test func `no host is no name`() { #expect(!HTTPFields([]).isForForeignHost(besides: [])) }

    private func isCrossSite(_ fields: (String, String)...) -> Bool {
        HTTPFields([("Host", "Admin.example:9090")] + fields.map { (name: $0.0, value: $0.1) }).isCrossSite
    }

    @Test func `what comes from no page is from no other site's`() { #expect(!isCrossSite()) }

    @Test(arguments: ["http://admin.example:9090", "https://admin.example:9090", "HTTP://ADMIN.example:9090"])
    func `a page of this host may ask`(origin: String) { #expect(!isCrossSite(("Origin", origin))) }

    @Test(arguments: [
        "null", "", "http://admin.example", "http://admin.example:9091", "http://evil.example:9090",
        "admin.example:9090",
        "ftp://admin.example:9090", "http://admin.example:9090/", "http://admin.example:9090.evil",
        " http://admin.example:9090",
    ])
    func `a page of another origin may not`(origin: String) { #expect(isCrossSite(("Origin", origin))) }

    @Test func `what the browser says of the site goes before the origin`() {
        #expect(!isCrossSite(("Sec-Fetch-Site", "same-origin"), ("Origin", "https://proxied.example")))
        #expect(!isCrossSite(("Sec-Fetch-Site", "none")))
        for site in ["cross-site", "same-site", "", "Same-Origin", "same-origin, cross-site"] {
            #expect(isCrossSite(("Sec-Fetch-Site", site), ("Origin", "http://admin.example:9090")))
        }
    }

    @Test func `who says two things of it is not believed`() {
        #expect(isCrossSite(("Origin", "http://admin.example:9090"), ("Origin", "http://admin.example:9090")))
        #expect(isCrossSite(("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Site", "cross-site")))
        #expect(isCrossSite(("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Site", "same-origin")))
    }

    @Test func `an origin without a host to hold it against is another`() {
        #expect(HTTPFields([("Origin", "http://admin.example")]).isCrossSite)
    }
}
