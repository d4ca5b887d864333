import IDToken
import SignInFixtures
import Testing

/// Issuers that differ by tenant.
@Suite struct IssuerTemplateTests {
    private static let signIn = SignIn.plain.policy {
        $0.issuer = "https://op.example/{tid}/v2.0"
        $0.issuerAliases = ["https://old.example/{tid}/"]
    }.with("iss", #""https://op.example/one/v2.0""#).with("tid", #""one""#)

    private func from(_ issuer: String, _ tenant: String = "one") -> SignIn {
        Self.signIn.with("iss", "\"\(issuer)\"").with("tid", "\"\(tenant)\"")
    }

    @Test func `any tenant's issuer passes where it is the one that the claim names, and is reported`() throws {
        #expect(try Self.signIn.verify().identity.issuer == "https://op.example/one/v2.0")
        #expect(try Self.signIn.verify().identity.tenant == "one")
        #expect(
            try from("https://op.example/two/v2.0", "two").verify().identity.issuer == "https://op.example/two/v2.0")
    }

    @Test func `an alias's tenant is reported under the canonical issuer`() throws {
        #expect(try from("https://old.example/one/").verify().identity.issuer == "https://op.example/one/v2.0")
        #expect(from("https://old.example/one").rejection == .issuerMismatch)
    }

    @Test(arguments: [
        "https://op.example/two/v2.0", "https://op.example/on/v2.0", "https://op.example/onee/v2.0",
        "https://op.example/ONE/v2.0",
        "https://op.example/one/v2.0/", "https://op.example/one/v2", "http://op.example/one/v2.0",
        "https://op.example//v2.0",
        "https://op.example/v2.0", "https://op.example/one", "https://op.example/{tid}/v2.0", "https://op.example/",
        "https://op.example/x/one/v2.0", "https://op.example/one/x/v2.0", "https://op.example/one?/v2.0",
        "https://op.example/%6fne/v2.0", "https://op.example/one\u{301}/v2.0", "", "one",
    ])
    func `what is not the template with the claim's own value is another issuer`(issuer: String) {
        #expect(from(issuer).rejection == .issuerMismatch)
    }

    @Test(arguments: ["{tid}", "one/v2.0/https://op.example/one", "", " one", "o/ne", "{tenantid}", "a b", "ö"])
    func `a claim can't name what is no tenant, though it fit the template`(tenant: String) {
        #expect(from("https://op.example/\(tenant)/v2.0", tenant).rejection == .issuerMismatch)
    }

    @Test func `a tenant has up to 128 characters`() {
        let name = String(repeating: "t", count: 128)
        #expect(from("https://op.example/\(name)/v2.0", name).rejection == nil)
        #expect(from("https://op.example/\(name)t/v2.0", name + "t").rejection == .issuerMismatch)
    }

    @Test func `the claim must be there, and a string`() {
        #expect(Self.signIn.without("tid").rejection == .missing("tid"))
        for json in ["null", "1", "true", "[]", #"["one"]"#, "{}"] {
            #expect(Self.signIn.with("tid", json).rejection == .invalid("tid"), "\(json)")
        }
        #expect(Self.signIn.with("tid", #""two""#).rejection == .issuerMismatch)
        #expect(Self.signIn.with("tid", #""ONE""#).rejection == .issuerMismatch)
        // Claim names are case-sensitive.
        #expect(Self.signIn.with("TID", #""two""#).rejection == nil)
        #expect(Self.signIn.without("tid").with("TID", #""one""#).rejection == .missing("tid"))
    }

    @Test func `only tenants that are allowed may sign in`() {
        let some = Self.signIn.policy { $0.tenants = .only(["one", "three"]) }
        #expect(some.rejection == nil)
        let two = some.with("iss", #""https://op.example/two/v2.0""#).with("tid", #""two""#)
        #expect(two.rejection == .issuerMismatch)
        #expect(some.policy { $0.tenants = .only([]) }.rejection == .issuerMismatch)
        let others = Self.signIn.policy { $0.tenants = .any(except: ["one"]) }
        #expect(others.rejection == .issuerMismatch)
        #expect(two.policy { $0.tenants = .any(except: ["one"]) }.rejection == nil)
    }

    @Test func `an alias that is no template of the same claim is none`() {
        let signIn = Self.signIn.policy { $0.issuerAliases = ["https://op.example", "https://x.example/{org}"] }
        #expect(signIn.rejection == nil)
        #expect(signIn.with("iss", #""https://op.example""#).rejection == .issuerMismatch)
        let other = signIn.with("iss", #""https://x.example/one""#).with("org", #""one""#)
        #expect(other.rejection == .issuerMismatch)
    }

    @Test(arguments: [
        "https://op.example", "", "{}", "https://op.example/{}/", "https://op.example/{tid", "https://op.example/tid}",
        "https://op.example/{a}/{b}", "https://op.example/{{a}}", "}{", "https://{a}.example/{a}",
    ])
    func `a text without just one name in braces is no template`(text: String) {
        #expect(IssuerTemplate(text) == nil)
    }

    // MARK: Choosing the provider

    private func policy(_ issuer: String, _ tenants: TenantRule = .any(except: [])) -> ProviderPolicy {
        var policy = ProviderPolicy(id: "p", issuer: issuer, audiences: ["client"])
        policy.tenants = tenants
        return policy
    }

    @Test func `a provider knows its tenants' issuers`() {
        #expect(policy("https://a.example").allIssuers == ["https://a.example"])
        #expect(policy("https://a.example/{t}").allIssuers == nil)
        let some = policy("https://a.example/{t}", .only(["x", "y"]))
        #expect(some.allIssuers == ["https://a.example/x", "https://a.example/y"])
        #expect(some.isIssuer("https://a.example/x"))
        #expect(!some.isIssuer("https://a.example/z"))
        #expect(!some.isIssuer("https://a.example/{t}"))
        #expect(policy("https://a.example/{t}").isIssuer("https://a.example/z"))
    }

    @Test(
        arguments: [
            ("https://a.example", "https://a.example", true), ("https://a.example", "https://b.example", false),
            ("https://a.example/{t}", "https://a.example/x", true),
            ("https://a.example/{t}", "https://a.example", false),
            ("https://a.example/{t}/v2", "https://a.example/{t}/v1", false),
            ("https://a.example/{t}", "https://a.example/{t}", true),
            ("https://a.example/{t}", "https://a.example/{t}/v1", true),
            ("https://a.example/{t}", "https://b.example/{t}", false),
        ])
    func `two providers that one token could name are told`(one: String, other: String, share: Bool) {
        #expect(policy(one).sharesIssuer(with: policy(other)) == share)
        #expect(policy(other).sharesIssuer(with: policy(one)) == share)
    }

    @Test func `providers for different tenants share nothing`() {
        let template = "https://a.example/{t}"
        #expect(!policy(template, .only(["x"])).sharesIssuer(with: policy(template, .only(["y"]))))
        #expect(policy(template, .only(["x"])).sharesIssuer(with: policy(template, .only(["y", "x"]))))
        #expect(!policy(template, .only(["x"])).sharesIssuer(with: policy(template, .any(except: ["x"]))))
        #expect(policy(template, .any(except: ["x"])).sharesIssuer(with: policy(template, .only(["x", "y"]))))
    }

    @Test func `keys are fetched only for a token whose tenant would pass`() throws {
        func wouldPass(_ signIn: SignIn) throws -> Bool {
            try UnverifiedToken(signIn.token).wouldPassClaims(of: signIn.policy, now: UnixTime(seconds: signIn.now))
        }
        #expect(try wouldPass(Self.signIn))
        #expect(try !wouldPass(Self.signIn.with("tid", #""two""#)))
        #expect(try !wouldPass(Self.signIn.policy { $0.tenants = .only(["two"]) }))
    }
}
