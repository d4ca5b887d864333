import IDToken
import JOSE
import SignInFixtures
import Testing
import TestSupport

/// Peculiarities of providers that verifiers get wrong.
@Suite struct TrapTests {
    // MARK: Issuers

    @Test(
        arguments: [
            (
                GoldenToken.facebook,
                ["https://www.facebook.com/", "https://m.facebook.com", "http://www.facebook.com", "facebook.com"]
            ),
            (.linkedIn, ["https://www.linkedin.com", "https://www.linkedin.com/oauth/"]),
            (.yahooJapan, ["https://auth.login.yahoo.co.jp/yconnect/v1", "https://auth.login.yahoo.co.jp"]),
            (.auth0, ["https://example.eu.auth0.com", "https://example.us.auth0.com/"]),
            (
                .azureB2C,
                [
                    "https://example.b2clogin.com/\(GoldenToken.tenant)/v2.0",
                    "https://example.b2clogin.com/tfp/\(GoldenToken.tenant)/B2C_1_sign_in/v2.0/",
                    "https://login.microsoftonline.com/\(GoldenToken.tenant)/v2.0/",
                ]
            ),
            (.entraExternal, ["https://example.ciamlogin.com/\(GoldenToken.tenant)/v2.0"]),
            (.okta, ["https://example.okta.com", "https://example.okta.com/oauth2/other"]),
            (.keycloak, ["https://sso.example.com/auth/realms/example", "http://localhost:8080/realms/example"]),
            (.microsoft, ["https://sts.windows.net/\(GoldenToken.tenant)/"]),
            (.microsoftVersion1, ["https://login.microsoftonline.com/\(GoldenToken.tenant)/v2.0"]),
            (.firebase, ["https://session.firebase.google.com/example-1234", "https://securetoken.google.com/other"]),
            (.loginGov, ["https://secure.login.gov", "https://idp.int.identitysandbox.gov/"]),
        ] as [(GoldenToken, [String])])
    func `a provider's other names are others' names`(golden: GoldenToken, issuers: [String]) {
        for issuer in issuers {
            #expect(golden.signIn.with("iss", "\"\(issuer)\"").rejection == .issuerMismatch, "\(issuer)")
        }
    }

    @Test(
        arguments: [
            (GoldenToken.facebook, "https://limited.facebook.com"), (.facebook, "https://facebook.com"),
            (.yahooJapan, "https://auth.login.yahoo.co.jp/yconnect/v2/"), (.google, "https://accounts.google.com"),
        ])
    func `a name that the provider is known to use is reported as its one name`(
        golden: GoldenToken, issuer: String
    ) throws {
        let identity = try golden.signIn.with("iss", "\"\(issuer)\"").verify().identity
        #expect(identity.issuer == golden.identity["issuer"])
    }

    // MARK: Tokens that look like ID Tokens

    @Test(
        arguments: [
            (GoldenToken.cognito, "token_use", [#""access""#, #""ID""#, "null"]),
            (.keycloak, "typ", [#""Bearer""#, #""Logout""#, #""Refresh""#, #""id""#]),
            (.azureB2C, "tfp", [#""B2C_1_reset_password""#, #""b2c_1_sign_in""#]),
            (.microsoft, "ver", [#""1.0""#, "2.0", "2"]), (.microsoftVersion1, "ver", [#""2.0""#, "1"]),
            (.clerkSession, "sts", [#""pending""#]),
        ])
    func `a claim tells it from another token by the same keys`(golden: GoldenToken, claim: String, values: [String]) {
        for value in values {
            let expected: Rejection = value == "null" ? .missing(claim) : .invalid(claim)
            #expect(golden.signIn.with(claim, value).rejection == expected, "\(value)")
        }
        let absent: Rejection? = claim == "sts" ? nil : .missing(claim)
        #expect(golden.signIn.without(claim).rejection == absent)
    }

    @Test(
        arguments: [
            (GoldenToken.microsoft, "azpacr", [#""0""#, #""1""#, #""2""#]),
            (.microsoftConsumer, "azpacr", [#""1""#]), (.microsoftVersion1, "appidacr", [#""0""#, #""1""#, #""2""#]),
            (.entraExternal, "azpacr", [#""1""#]), (.gitLab, "ref_protected", [#""true""#, #""false""#]),
        ])
    func `a claim gives away another token by the same keys`(golden: GoldenToken, claim: String, values: [String]) {
        for value in values { #expect(golden.signIn.with(claim, value).rejection == .invalid(claim), "\(value)") }
    }

    @Test func `Azure AD B2C's access tokens have scp, and Supabase's for other apps name the app`() {
        #expect(GoldenToken.azureB2C.signIn.with("scp", #""read""#).rejection == .invalid("scp"))
        #expect(GoldenToken.supabase.signIn.with("client_id", #""9a8b7c6d""#).rejection == .invalid("client_id"))
        #expect(GoldenToken.supabase.signIn.with("client_id", "null").rejection == nil)
    }

    @Test func `a workflow of any repository gets a token for our audience, and passes by a rule alone`() {
        let stranger = GoldenToken.gitHubActions.signIn.with("repository_owner_id", #""66""#)
        #expect(stranger.rejection == .invalid("repository_owner_id"))
        #expect(stranger.without("repository_owner_id").rejection == .missing("repository_owner_id"))
        let pod = GoldenToken.kubernetes.signIn.with("kubernetes.io", #"{"namespace":"other"}"#)
        #expect(pod.rejection == .invalid("/kubernetes.io/namespace"))
        #expect(pod.without("kubernetes.io").rejection == .missing("/kubernetes.io/namespace"))
    }

    @Test(arguments: [GoldenToken.gitHubActions, .kubernetes])
    func `a preset that demands a rule lets nobody in without one`(golden: GoldenToken) {
        var signIn = golden.signIn
        signIn.policy.claimRules = golden.preset.facts(golden.arguments).policy.claimRules
        let claim = golden.preset.name == "kubernetes" ? "sub" : "repository_owner_id"
        #expect(signIn.rejection == .invalid(claim))
    }

    @Test func `Zitadel's access tokens say nothing of when the user came`() {
        #expect(GoldenToken.zitadel.signIn.without("auth_time").rejection == .missing("auth_time"))
    }

    @Test func `Cognito's access tokens have no audience`() {
        let access = GoldenToken.cognito.signIn.without("aud").with("client_id", #""2b7c5f0example""#)
            .with("token_use", #""access""#)
        #expect(access.rejection == .missing("aud"))
        #expect(access.with("aud", #""2b7c5f0example""#).rejection == .invalid("token_use"))
    }

    @Test(arguments: GoldenToken.all)
    func `whatever has events is no ID Token`(golden: GoldenToken) {
        #expect(golden.signIn.with("events", "{}").rejection == .invalid("events"))
    }

    @Test(arguments: GoldenToken.all)
    func `an access token that says so in its header is refused`(golden: GoldenToken) {
        var signIn = golden.signIn
        signIn.header = #"{"alg":"\#(golden.key.algorithm)","kid":"\#(golden.key.keyID)","typ":"at+jwt"}"#
        #expect(signIn.rejection == .headerUnsupported)
    }

    @Test func `Firebase's custom tokens are not from Firebase`() {
        let custom = GoldenToken.firebase.signIn
            .with(
                "aud",
                #""https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit""#
            ).with("uid", #""u""#)
        #expect(custom.rejection == .audienceMismatch)
        let byServiceAccount = custom.with("iss", #""sa@example-1234.iam.gserviceaccount.com""#)
        #expect(byServiceAccount.rejection == .issuerMismatch)
    }

    @Test func `Microsoft's tokens for Graph are for nobody else`() {
        let graph = #""00000003-0000-0000-c000-000000000000""#
        #expect(GoldenToken.microsoft.signIn.with("aud", graph).rejection == .audienceMismatch)
    }

    @Test func `Ory's access tokens are told by their audience`() {
        let access = GoldenToken.ory.signIn.with("aud", #"["https://api.example.com"]"#)
            .with("client_id", #""4f0c6e1a-0000-4000-8000-000000000000""#).with("scp", #"["openid"]"#)
        #expect(access.rejection == .audienceMismatch)
    }

    // MARK: Algorithms and keys

    @Test(
        arguments: [
            (GoldenToken.line, "HS256"), (.line, "RS256"), (.supabase, "HS256"), (.auth0, "HS256"), (.google, "ES256"),
            (.apple, "ES256"), (.microsoft, "PS256"), (.firebase, "RS512"), (.cognito, "none"),
        ])
    func `an algorithm that is not the provider's is refused before any key is tried`(
        golden: GoldenToken, algorithm: String
    ) {
        var signIn = golden.signIn
        signIn.header = #"{"alg":"\#(algorithm)","kid":"\#(golden.key.keyID)"}"#
        #expect(signIn.rejection == .algorithmNotAllowed)
        // Tokens of LINE's web channels have no kid.
        signIn.header = #"{"alg":"\#(algorithm)"}"#
        #expect(signIn.rejection == .algorithmNotAllowed)
    }

    @Test func `Dex may sign with whatever its discovery document lists`() {
        var signIn = GoldenToken.dex.signIn
        signIn.key = .p256
        signIn.header = nil
        #expect(signIn.rejection == nil)
    }

    @Test func `a kid may hold any character, as Cognito's do`() {
        var signIn = GoldenToken.cognito.signIn.keys(with: "kid", .string("a+b/c="))
        signIn.keys = [.rsa]
        signIn.header = #"{"alg":"RS256","kid":"a+b/c="}"#
        #expect(signIn.rejection == nil)
        signIn.header = #"{"alg":"RS256","kid":"a-b_c"}"#
        #expect(signIn.rejection == .keyNotFound)
    }

    @Test func `Keycloak's key for encryption signs nothing`() {
        #expect(GoldenToken.keycloak.signIn.keys(with: "use", .string("enc")).rejection == .keyNotFound)
        #expect(GoldenToken.keycloak.signIn.keys(with: "alg", .string("RSA-OAEP")).rejection == .keyNotFound)
    }

    @Test func `Supabase's keys have key_ops, and no use`() {
        let signIn = GoldenToken.supabase.signIn
        #expect(signIn.keys(with: "key_ops", .array([.string("verify")])).rejection == nil)
        #expect(signIn.keys(with: "key_ops", .array([.string("encrypt")])).rejection == .keyNotFound)
    }

    // MARK: Microsoft

    private static let consumers = "9188040d-6c67-4c5b-b112-36a304b66dad"
    private static let ofAnyTenant = "https://login.microsoftonline.com/{tenantid}/v2.0"

    private func microsoft(_ tenant: String, from claimed: String) -> SignIn {
        var golden = GoldenToken.microsoft
        golden.arguments = ["tenant": tenant]
        return golden.signIn.with("tid", "\"\(claimed)\"")
            .with("iss", "\"https://login.microsoftonline.com/\(claimed)/v2.0\"")
    }

    @Test(
        arguments: [
            ("common", GoldenToken.tenant, true), ("common", consumers, true),
            ("organizations", GoldenToken.tenant, true), ("organizations", consumers, false),
            ("consumers", GoldenToken.tenant, false), ("consumers", consumers, true),
            (GoldenToken.tenant, GoldenToken.tenant, true), (GoldenToken.tenant, consumers, false),
            (GoldenToken.tenant, "22222222-2222-3333-4444-55555555aaaa", false),
        ])
    func `who may sign in at Microsoft depends on the tenant`(setting: String, claimed: String, passes: Bool) {
        #expect(microsoft(setting, from: claimed).rejection == (passes ? nil : .issuerMismatch))
    }

    @Test(arguments: ["common", GoldenToken.tenant])
    func `the tenant of the issuer is the one of tid`(setting: String) {
        let signIn = microsoft(setting, from: GoldenToken.tenant)
        #expect(signIn.with("tid", "\"\(Self.consumers)\"").rejection == .issuerMismatch)
        #expect(signIn.with("tid", "\"\(GoldenToken.tenant.uppercased())\"").rejection == .issuerMismatch)
        #expect(signIn.without("tid").rejection == .missing("tid"))
        // Claim names are case-sensitive.
        #expect(signIn.with("TID", "\"\(Self.consumers)\"").rejection == nil)
    }

    @Test(
        arguments: [
            (GoldenToken.tenant, ofAnyTenant, true), (consumers, ofAnyTenant, true),
            (consumers, "https://login.microsoftonline.com/\(consumers)/v2.0", true),
            (GoldenToken.tenant, "https://login.microsoftonline.com/\(consumers)/v2.0", false),
            (GoldenToken.tenant, "https://sts.windows.net/{tenantid}/", false),
            (GoldenToken.tenant, "https://login.microsoftonline.us/{tenantid}/v2.0", false),
        ])
    func `a key of one kind of tenant can't sign for another`(claimed: String, keyIssuer: String, passes: Bool) {
        let signIn = microsoft("common", from: claimed).keys(with: "issuer", .string(keyIssuer))
        #expect(signIn.rejection == (passes ? nil : .issuerMismatch))
    }

    @Test func `keys may name themselves by version 2.0 where they sign tokens of version 1.0`() {
        let signIn = GoldenToken.microsoftVersion1.signIn
        #expect(signIn.keys(with: "issuer", .string(Self.ofAnyTenant)).rejection == nil)
        #expect(signIn.keys(with: "issuer", .string("https://sts.windows.net/{tenantid}/")).rejection == nil)
        let ofConsumers = "https://login.microsoftonline.com/\(Self.consumers)/v2.0"
        #expect(signIn.keys(with: "issuer", .string(ofConsumers)).rejection == .issuerMismatch)
    }

    /// A tenant's administrator can write any address into a profile.
    @Test func `an address that only a tenant vouches for is nobody's`() throws {
        let signIn = GoldenToken.microsoft.signIn.with("email", #""victim@gmail.com""#)
        for without in [signIn.without("xms_edov"), signIn.without("xms_edov").with("email_verified", "true")] {
            let identity = try without.verify().identity
            #expect(identity.emailTrust == .unverified)
            #expect(identity.isEmailVerified == nil)
        }
        for value in ["false", "0", #""false""#, #""0""#, "null", "[]"] {
            #expect(try signIn.with("xms_edov", value).verify().identity.isEmailVerified == false, "\(value)")
        }
        for value in ["true", "1", #""true""#, #""1""#] {
            #expect(try signIn.with("xms_edov", value).verify().identity.emailTrust == .verified, "\(value)")
        }
    }

    // MARK: Addresses

    @Test(arguments: GoldenToken.all)
    func `an address is authoritative only where the provider runs its mailbox`(golden: GoldenToken) throws {
        guard golden.identity["email"] != nil else { return }
        let claim = golden.preset.name == "azure-b2c" ? "emails" : "email"
        let foreign = golden.signIn.with(claim, #""victim@elsewhere.example""#).with("email_verified", "true")
            .with("xms_edov", "true")
        #expect(try foreign.verify().identity.emailTrust != .authoritative)
    }

    @Test func `LinkedIn says true in words, and keeps its locale in an object`() throws {
        let signIn = GoldenToken.linkedIn.signIn
        #expect(try signIn.with("email_verified", #""false""#).verify().identity.isEmailVerified == false)
        #expect(signIn.with("email_verified", #""yes""#).rejection == .invalid("email_verified"))
        #expect(try signIn.verify().identity.locale == nil)
    }

    // MARK: Nonces

    @Test func `LinkedIn echoes no nonce, and what it may send one day is not looked at`() throws {
        let signIn = GoldenToken.linkedIn.signIn
        #expect(try signIn.verify().nonceMatch == nil)
        #expect(signIn.expecting { $0.nonce = nil }.rejection == nil)
        #expect(signIn.with("nonce", #""other""#).rejection == nil)
    }

    @Test func `Firebase's tokens are of no one sign-in, so one can't be asked for`() {
        #expect(GoldenToken.firebase.signIn.expecting { $0.nonce = "n" }.rejection == .nonceMissing)
    }

    @Test func `Login.gov always has a nonce`() {
        let signIn = GoldenToken.loginGov.signIn
        #expect(signIn.without("nonce").expecting { $0.nonce = nil }.rejection == .nonceRequired)
        #expect(signIn.without("nonce").rejection == .nonceMissing)
        #expect(signIn.expecting { $0.nonce = "other" }.rejection == .nonceMismatch)
    }

    // MARK: Times

    @Test func `Keycloak's zeros are times, long ago`() throws {
        let verified = try GoldenToken.keycloak.signIn.verify()
        #expect((verified.authTime?.seconds, verified.notBefore?.seconds) == (0, 0))
        let recent = GoldenToken.keycloak.signIn.expecting { $0.maximumAuthenticationAgeSeconds = 3600 }
        #expect(recent.rejection == .authTimeTooOld)
    }

    // MARK: Audiences and parties

    @Test func `one Kakao app is several audiences`() throws {
        for audience in ["rest-api-key", "native-app-key"] {
            #expect(GoldenToken.kakao.signIn.with("aud", "\"\(audience)\"").rejection == nil)
        }
    }

    @Test func `Zitadel's audiences are a whole project, and azp is the client that asked`() {
        let signIn = GoldenToken.zitadel.signIn
        #expect(signIn.with("azp", #""69234237810729234@app""#).rejection == .authorizedPartyMismatch)
        #expect(signIn.without("azp").rejection == .audienceMismatch)
        let trusting = signIn.policy { $0.trustedAudiences = ["69234237810729234@app", "69234230193872955"] }
        #expect(trusting.without("azp").rejection == nil)
        #expect(signIn.with("jti", "null").rejection == nil)
    }

    @Test func `Dex's tokens for another client name ours in azp`() {
        let crossClient = GoldenToken.dex.signIn.with("aud", #"["api","example-app"]"#)
        #expect(crossClient.with("azp", #""example-app""#).rejection == nil)
        #expect(crossClient.with("azp", #""api""#).rejection == .authorizedPartyMismatch)
        #expect(crossClient.rejection == .audienceMismatch)
    }

    @Test func `Clerk's session tokens come from an origin of ours, and say which`() {
        let signIn = GoldenToken.clerkSession.signIn
        #expect(signIn.with("azp", #""https://evil.example""#).rejection == .authorizedPartyMismatch)
        #expect(signIn.without("azp").rejection == .missing("azp"))
        #expect(signIn.with("aud", #""d8g7kQ""#).rejection == .audienceMismatch)
        #expect(GoldenToken.clerkIDToken.signIn.without("aud").rejection == .missing("aud"))
        #expect(signIn.at(1_700_000_121).rejection == .tokenExpired)
    }

    // MARK: Identity

    @Test func `Firebase's anonymous users are somebody, and can be refused`() throws {
        let anonymous = GoldenToken.firebase.signIn.without("email").without("email_verified").without("name")
            .with("firebase", #"{"identities":{},"sign_in_provider":"anonymous"}"#)
        let identity = try anonymous.verify().identity
        #expect((identity.email, identity.emailTrust, identity.name, identity.tenant) == (nil, nil, nil, nil))
        let rule = ClaimRule(ClaimPath("/firebase/sign_in_provider"), .noneOf, ["anonymous"])
        #expect(anonymous.policy { $0.claimRules = [rule] }.rejection == .invalid("/firebase/sign_in_provider"))
        #expect(GoldenToken.firebase.signIn.policy { $0.claimRules = [rule] }.rejection == nil)
    }

    @Test func `GitHub's subjects have an old form and a new one, and a repository one number`() throws {
        let rule = ClaimRule(ClaimPath("repository_id"), .oneOf, ["74"])
        for subject in [
            "repo:octo-org/octo-repo:ref:refs/heads/main", "repo:octo-org@65/octo-repo@74:ref:refs/heads/main",
            "repo:octo-org@65/octo-repo@74:environment:a%3Ab",
        ] {
            let signIn = GoldenToken.gitHubActions.signIn.with("sub", "\"\(subject)\"")
                .policy { $0.claimRules = [rule] }
            #expect(try signIn.verify().identity.subject == subject)
            #expect(signIn.with("repository_id", #""75""#).rejection == .invalid("repository_id"))
        }
    }

    @Test func `what a provider adds of its own fills no member of the identity`() throws {
        for golden in [GoldenToken.clerkSession, .gitHubActions, .kubernetes, .supabase, .microsoft] {
            let signIn = golden.signIn.with("real_user_status", "2").with("private_metadata", #"{"name":"x"}"#)
            #expect(try signIn.verify().identity.members == golden.identity, "\(golden.preset.name)")
        }
    }
}
