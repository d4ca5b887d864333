import IDToken
import SignInFixtures
import Testing
import TestSupport
import TokenDiagnostics

/// Tokens that service accounts request for themselves, for any audience.
@Suite struct ServiceAccountTests {
    /// As issued by Google's `generateIdToken` with `includeEmail`.
    private static let google = SignIn(
        claims: ClaimsText([
            "iss": #""https://accounts.google.com""#, "aud": #""123-web.apps.googleusercontent.com""#,
            "azp": #""112010400000000710080""#, "sub": #""112010400000000710080""#, "iat": "1700000000",
            "exp": "1700003600", "email": #""evil@project.iam.gserviceaccount.com""#, "email_verified": "true",
        ]),
        policy: SignIn.google.policy, key: .rsa)

    @Test func `Google's service accounts are refused`() {
        #expect(Self.google.rejection == .invalid("azp"))
        #expect(Self.google.without("email").without("email_verified").rejection == .invalid("azp"))
        #expect(Self.google.with("azp", #""123-web.apps.googleusercontent.com""#).rejection == .invalid("email"))
        #expect(Self.google.without("azp").rejection == .invalid("email"))
    }

    @Test(arguments: [
        "evil@project.iam.gserviceaccount.com", "e@iam.gserviceaccount.com", "e@GSERVICEACCOUNT.com",
        "1-compute@developer.gserviceaccount.com", "project@appspot.GServiceAccount.Com", "a@b@x.gserviceaccount.com",
    ])
    func `an address below their domain is theirs`(email: String) {
        #expect(SignIn.google.with("email", "\"\(email)\"").rejection == .invalid("email"))
    }

    @Test(arguments: [
        "a@gmail.com", "a@notgserviceaccount.com", "a@gserviceaccount.com.example", "gserviceaccount.com@gmail.com",
        "a.gserviceaccount.com@example.com", "gserviceaccount.com", "iam.gserviceaccount.comm",
        "a@gserviceaccount.co",
    ])
    func `an address elsewhere is not`(email: String) {
        #expect(SignIn.google.with("email", "\"\(email)\"").rejection == nil)
    }

    @Test func `azp is compared whole`() {
        let signIn = SignIn.google.without("email")
        for azp in ["11016948447438627633", "1101694844743862763340", "110169484474386276335", ""] {
            #expect(signIn.with("azp", "\"\(azp)\"").rejection == nil, "\(azp)")
        }
        #expect(signIn.with("azp", #""110169484474386276334""#).rejection == .invalid("azp"))
        // Escapes in JSON make no difference.
        #expect(signIn.with("azp", #""\u003110169484474386276334""#).rejection == .invalid("azp"))
        #expect(signIn.with("azp", "5").rejection == .invalid("azp"))
    }

    @Test func `the rule works for any provider, and is off by default`() {
        let signIn = SignIn.plain.with("azp", #""user""#).with("email", #""a@robots.example""#)
        #expect(signIn.rejection == nil)
        #expect(signIn.policy { $0.serviceAccounts.refusesAzpEqualToSub = true }.rejection == .invalid("azp"))
        #expect(signIn.policy { $0.serviceAccounts.emailDomains = ["robots.example"] }.rejection == .invalid("email"))
        let elsewhere = signIn.with("mail", #"["b@x.robots.example"]"#).policy {
            $0.serviceAccounts.emailDomains = ["x.robots.example"]
            $0.identityClaims = [.email: ClaimPath("mail")]
        }
        #expect(elsewhere.rejection == .invalid("mail"))
        #expect(elsewhere.with("mail", "{}").rejection == nil)
    }

    @Test func `no preset but Google's needs it, and it can be taken away`() {
        let asked = ProviderPreset.all.filter { $0.facts([:]).policy.serviceAccounts != ServiceAccountRule() }
        #expect(asked.map(\.name) == ["google"])
        #expect(Self.google.policy { $0.serviceAccounts = ServiceAccountRule() }.rejection == nil)
    }

    @Test func `an explanation says whose token it is`() {
        let check = Self.google.explanation[.serviceAccount]
        #expect(check.refusal?.code == "claim_invalid")
        #expect(check.explanation.contains("its azp equals its sub"))
        #expect(check.fix?.contains("service_accounts of the provider google") == true)
        let byAddress = Self.google.without("azp").explanation[.serviceAccount]
        #expect(byAddress.explanation.contains("its address is in gserviceaccount.com or below it"))
        #expect(SignIn.google.explanation[.serviceAccount].state == .passed)
        #expect(SignIn.plain.explanation[.serviceAccount].state == .notAsked)
    }
}
