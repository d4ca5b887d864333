import Testing
import Verification

@Suite struct IdentityHeaderTests {
    @Test(arguments: ["X-Auth-Subject", "x-user", "Remote-User", "Tailscale-User", "X-9", "X-Pomerium-Claim-Email"])
    func `a header of one's own may have any name`(name: String) {
        #expect(IdentityHeader.refusal(ofName: name) == nil)
    }

    @Test(arguments: [
        "Host", "connection", "Content-Length", "Content-Type", "Authorization", "Set-Cookie", "Cookie", "x-envoy-auth",
        "X-Forwarded-For", "X-Forwarded", "Forwarded", "Transfer-Encoding", "TE", "Trailer", "Upgrade",
        "X-Original-URL",
        "X-Accel-Redirect", "X-Assay-Key", "Proxy-Authorization", "Expect", "X-Request-Id", "traceparent",
        "Sec-Fetch-Site",
        "DPoP", "DPoP-Nonce", "WWW-Authenticate", "Accept", "If-Match", "Origin", "X-Real-IP", "X-HTTP-Method-Override",
        "grpc-status",
    ])
    func `no header may frame, route or authenticate a request`(name: String) {
        #expect(IdentityHeader.refusal(ofName: name)?.contains("choose another name") == true)
    }

    @Test(arguments: ["", "X_Auth", "X Auth", "X-Auth:", "X-Äuth", "X-Auth\r\n", "(X)", "X.Auth"])
    func `a name is letters, digits and hyphens`(name: String) {
        #expect(IdentityHeader.refusal(ofName: name)?.contains("letters, digits and hyphens") == true)
    }

    @Test func `names that differ only in case are twins`() throws {
        #expect(IdentityHeader.twins(in: IdentityHeader.usual) == nil)
        let twins = IdentityHeader.twins(in: [
            IdentityHeader("X-A", .subject), IdentityHeader("X-B", .email), IdentityHeader("x-a", .issuer),
        ])
        let (one, other) = try #require(twins)
        #expect((one, other) == ("X-A", "x-a"))
    }
}
