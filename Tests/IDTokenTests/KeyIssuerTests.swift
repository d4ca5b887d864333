import IDToken
import JOSE
import SignInFixtures
import Testing
import TestSupport

/// Keys that name the issuer for which they may sign.
@Suite struct KeyIssuerTests {
    private static let signIn = SignIn.plain.policy {
        $0.issuer = "https://op.example/{tid}"
        $0.keyIssuers = ["https://op.example/{tid}", "https://old.example/{tid}/"].compactMap { IssuerTemplate($0) }
    }.with("iss", #""https://op.example/one""#).with("tid", #""one""#)

    private func rejection(_ keyIssuer: JSONTree) -> Rejection? {
        Self.signIn.keys(with: "issuer", keyIssuer).rejection
    }

    @Test func `a key that says nothing is for every issuer`() {
        #expect(Self.signIn.rejection == nil)
    }

    @Test(arguments: [
        "https://op.example/one", "https://op.example/{tid}", "https://op.example/{tenantid}",
        "https://op.example/{TenantId}", "https://old.example/one/", "https://old.example/{tenantid}/",
    ])
    func `a key for this tenant, or for any, may sign`(keyIssuer: String) {
        #expect(rejection(.string(keyIssuer)) == nil)
    }

    @Test(arguments: [
        "https://op.example/two", "https://op.example/ONE", "https://op.example/one/", "https://op.example/{tenantid}/",
        "https://op.example", "", "{tenantid}", "https://op.example/{}", "https://evil.example/{tenantid}",
    ])
    func `a key for another tenant, or another issuer, may not`(keyIssuer: String) {
        #expect(rejection(.string(keyIssuer)) == .issuerMismatch)
    }

    @Test func `a key whose issuer is no text is nobody's`() {
        for value in [JSONTree.null, .integer(1), .array([.string("https://op.example/one")]), .object([:])] {
            #expect(rejection(value) == .issuerMismatch)
        }
    }

    @Test func `the signature is looked at first`() {
        var signIn = Self.signIn.keys(with: "issuer", .string("https://op.example/two"))
        signIn.key = .otherP256
        signIn.header = #"{"alg":"ES256","kid":"p256"}"#
        #expect(signIn.rejection == .signatureInvalid)
    }

    @Test func `other providers' keys may carry whatever they like`() {
        #expect(SignIn.plain.keys(with: "issuer", .string("https://elsewhere.example")).rejection == nil)
    }

    @Test func `an issuer that is no template asks for the claim all the same`() {
        let signIn = Self.signIn.policy { $0.issuer = "https://op.example/one" }
            .keys(with: "issuer", .string("https://op.example/one"))
        #expect(signIn.rejection == nil)
        #expect(signIn.without("tid").rejection == .missing("tid"))
        #expect(signIn.with("tid", "1").rejection == .invalid("tid"))
        #expect(signIn.with("tid", #""two""#).rejection == .issuerMismatch)
    }
}
