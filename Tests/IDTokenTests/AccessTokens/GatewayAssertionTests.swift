import IDToken
import SignInFixtures
import Testing
import TestSupport

/// What is particular to the assertions of Google IAP, Cloudflare Access and Pomerium.
@Suite struct GatewayAssertionTests {
    @Test func `Google IAP's audience is a path, and its subject has a prefix`() throws {
        let verified = try SentAccessToken.googleIAP.verify()
        #expect(verified.identity.issuer == "https://cloud.google.com/iap")
        #expect(verified.identity.subject == "accounts.google.com:118133858486581853996")
        #expect(verified.identity.hostedDomain == "example.com")
        #expect(verified.identity.email == "jane@example.com")
        #expect(verified.identity.emailTrust == .unverified)
        #expect(verified.authorization == (try SentAccessToken.googleIAP.without("google").verify().authorization))
        let other = #""/projects/1234567890123/global/backendServices/43""#
        #expect(SentAccessToken.googleIAP.with("aud", other).rejection == .audienceMismatch)
        #expect(SentAccessToken.googleIAP.without("aud").rejection == .missing("aud"))
        #expect(SentAccessToken.googleIAP.change { $0.key = .rsa }.rejection == .algorithmNotAllowed)
    }

    @Test func `Cloudflare's token of the whole session is refused`() {
        let sent = SentAccessToken.cloudflareAccess
        #expect(sent.with("type", #""org""#).rejection == .invalid("type"))
        #expect(sent.without("type").rejection == .missing("type"))
        #expect(sent.with("aud", #"["other"]"#).rejection == .audienceMismatch)
        #expect(sent.change { $0.key = .p256 }.rejection == .algorithmNotAllowed)
    }

    @Test func `Cloudflare's service tokens are refused unless the settings accept them`() throws {
        let machine = SentAccessToken.cloudflareService
        let verified = try machine.verify()
        #expect(verified.identity.subject == "common_name:e367826f93b8d71185e03fe518aff3b4.access")
        #expect(verified.authorization.clientID == "e367826f93b8d71185e03fe518aff3b4.access")
        #expect(machine.change { $0.dialect.acceptsServiceTokens = false }.rejection == .missing("sub"))
    }

    @Test func `a machine has a name, and nobody with a subject is a machine`() throws {
        let machine = SentAccessToken.cloudflareService
        #expect(machine.without("common_name").rejection == .missing("common_name"))
        #expect(machine.with("common_name", #""""#).rejection == .missing("common_name"))
        #expect(machine.with("common_name", "5").rejection == .invalid("common_name"))
        #expect(machine.with("common_name", #""a b""#).rejection == .invalid("common_name"))
        #expect(
            machine.with("common_name", "\"\(String(repeating: "a", count: 244))\"").rejection
                == .invalid("common_name"))
        #expect(machine.with("common_name", "\"\(String(repeating: "a", count: 243))\"").rejection == nil)
        #expect(machine.without("sub").rejection == .missing("sub"))
        #expect(machine.with("sub", "null").rejection == .invalid("sub"))
        #expect(machine.with("type", #""org""#).rejection == .invalid("type"))
        #expect(try machine.with("sub", #""jane""#).verify().identity.subject == "jane")
        let user = SentAccessToken.cloudflareAccess.change { $0.dialect.acceptsServiceTokens = true }
        #expect(try user.verify().identity.subject == "7335d417-61da-459d-899c-0a01c76a2f94")
        #expect(try user.verify().authorization.clientID == nil)
    }

    @Test func `parties restrict which machines may call, and then no user may`() {
        let parties = ["e367826f93b8d71185e03fe518aff3b4.access"]
        #expect(SentAccessToken.cloudflareService.policy { $0.authorizedParties = parties }.rejection == nil)
        #expect(
            SentAccessToken.cloudflareService.policy { $0.authorizedParties = ["other"] }.rejection
                == .authorizedPartyMismatch)
        #expect(
            SentAccessToken.cloudflareAccess.policy { $0.authorizedParties = parties }.rejection
                == .authorizedPartyMismatch)
    }

    @Test func `Pomerium's issuer is the route's host, or a URL, and is reported as the host`() throws {
        let sent = SentAccessToken.pomerium
        #expect(try sent.verify().identity.issuer == "app.example.com")
        #expect(try sent.with("iss", #""https://app.example.com/""#).verify().identity.issuer == "app.example.com")
        for issuer in ["https://app.example.com", "http://app.example.com/", "other.example.com", "App.example.com"] {
            #expect(sent.with("iss", "\"\(issuer)\"").rejection == .issuerMismatch)
        }
        #expect(try sent.verify().authorization.groups == ["g1", "admins@example.com"])
        #expect(try sent.verify().identity.name == "Jane Doe")
        #expect(sent.with("aud", #""other.example.com""#).rejection == .audienceMismatch)
        #expect(sent.change { $0.key = .rsa }.rejection == .algorithmNotAllowed)
    }

    /// An ID Token has a nonce or hashes; a gateway's keys sign none.
    @Test(arguments: [SentAccessToken.googleIAP, .cloudflareAccess, .pomerium, .loadBalancer])
    func `what an ID Token has is refused`(sent: SentAccessToken) {
        for claim in ["nonce", "at_hash", "c_hash"] {
            #expect(sent.with(claim, #""x""#).rejection == .invalid(claim))
        }
    }
}
