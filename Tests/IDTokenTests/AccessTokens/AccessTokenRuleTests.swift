import IDToken
import JOSE
import SignInFixtures
import Testing
import TestSupport

/// The rules for access tokens, each at a dialect that has it.
@Suite struct AccessTokenRuleTests {
    private static let indices = Array(SentAccessToken.all.indices)
    private let plain = SentAccessToken.rfc9068

    @Test(arguments: ["at+jwt", "AT+JWT", "application/at+jwt"])
    func `an access token of RFC 9068 declares its type`(type: String) {
        #expect(plain.header(#","typ":"\#(type)""#).rejection == nil)
    }

    @Test(arguments: ["", #","typ":"JWT""#, #","typ":"logout+jwt""#, #","typ":"at+jwt","crit":["exp"]"#])
    func `one that declares another type, or none, is refused`(members: String) {
        #expect(plain.header(members).rejection == .headerUnsupported)
    }

    @Test(arguments: indices)
    func `other types are refused in every dialect`(index: Int) {
        let sent = SentAccessToken.all[index]
        for type in ["logout+jwt", "secevent+jwt", "dpop+jwt", "it+jwt"] {
            #expect(sent.header(#","typ":"\#(type)""#).rejection == .headerUnsupported)
        }
        #expect(sent.header(#","typ":"at+jwt""#).rejection == nil)
    }

    @Test func `RFC 9068's claims are required`() {
        for claim in ["iss", "exp", "aud", "sub", "client_id", "iat", "jti"] {
            #expect(plain.without(claim).rejection == .missing(claim))
            #expect(plain.with(claim, "null").rejection != nil)
        }
        #expect(plain.with("client_id", "5").rejection == .invalid("client_id"))
        #expect(plain.with("client_id", #""""#).rejection == .missing("client_id"))
    }

    @Test(arguments: indices)
    func `the issuer is the provider, byte for byte`(index: Int) {
        let sent = SentAccessToken.all[index]
        #expect(sent.with("iss", #""https://evil.example""#).rejection == .issuerMismatch)
        #expect(sent.without("iss").rejection == .missing("iss"))
    }

    @Test func `one audience is the API, whoever else is named`() {
        #expect(plain.with("aud", #"["https://rs.example.com/","https://other.example"]"#).rejection == nil)
        #expect(plain.with("aud", #"["https://rs.example.com"]"#).rejection == .audienceMismatch)
        #expect(plain.with("aud", #""s6BhdRkqt3""#).rejection == .audienceMismatch)
        #expect(plain.with("aud", "[]").rejection == .missing("aud"))
        #expect(plain.with("aud", "5").rejection == .invalid("aud"))
    }

    @Test func `the request may narrow the audience`() {
        let two = plain.policy { $0.audiences.append("https://b.example") }
        #expect(two.expecting { $0.audience = "https://rs.example.com/" }.rejection == nil)
        #expect(two.expecting { $0.audience = "https://b.example" }.rejection == .audienceNotExpected)
    }

    @Test func `without audiences, the client decides, and an audience is refused`() {
        let sent = SentAccessToken.cognito
        #expect(sent.with("client_id", #""another""#).rejection == .authorizedPartyMismatch)
        #expect(sent.without("client_id").rejection == .missing("client_id"))
        #expect(sent.with("aud", #""djc98u3jiedmi283eu928""#).rejection == .audienceMismatch)
        #expect(sent.policy { $0.authorizedParties = [] }.rejection == .audienceMismatch)
    }

    @Test func `clients may be restricted beside audiences`() {
        let restricted = plain.policy { $0.authorizedParties = ["s6BhdRkqt3"] }
        #expect(restricted.rejection == nil)
        #expect(restricted.with("client_id", #""other""#).rejection == .authorizedPartyMismatch)
        #expect(
            SentAccessToken.kubernetes.policy { $0.authorizedParties = ["any"] }.rejection == .authorizedPartyMismatch)
    }

    @Test(arguments: indices)
    func `times are checked with the skew`(index: Int) {
        let sent = SentAccessToken.all[index].with("exp", "1700003600")
        #expect(sent.at(1_700_003_659).rejection == nil)
        #expect(sent.at(1_700_003_660).rejection == .tokenExpired)
        #expect(sent.at(1_699_999_939).rejection == .tokenNotYetValid)
        #expect(sent.with("nbf", "1700000161").rejection == .tokenNotYetValid)
        #expect(sent.policy { $0.maximumTokenAgeSeconds = 30 }.rejection == .tokenTooOld)
        #expect(sent.without("exp").rejection == .missing("exp"))
        #expect(sent.without("iat").rejection == .missing("iat"))
    }

    @Test(arguments: indices)
    func `a notification is refused in every dialect`(index: Int) {
        #expect(SentAccessToken.all[index].with("events", "{}").rejection == .invalid("events"))
    }

    @Test func `what only ID Tokens have is refused where typ declares nothing`() {
        for claim in ["nonce", "at_hash", "c_hash"] {
            #expect(SentAccessToken.microsoft.with(claim, #""x""#).rejection == .invalid(claim))
            #expect(SentAccessToken.microsoft.with(claim, "null").rejection == .invalid(claim))
        }
        #expect(SentAccessToken.keycloak.with("nonce", #""x""#).rejection == nil)
        #expect(SentAccessToken.zitadel.with("auth_time", "1700000000").rejection == .invalid("auth_time"))
    }

    @Test func `the claim that tells a provider's tokens apart must say access token`() {
        #expect(SentAccessToken.cognito.with("token_use", #""id""#).rejection == .invalid("token_use"))
        #expect(SentAccessToken.keycloak.with("typ", #""ID""#).rejection == .invalid("typ"))
        #expect(SentAccessToken.keycloak.with("typ", #""Refresh""#).rejection == .invalid("typ"))
        #expect(SentAccessToken.microsoft.without("azpacr").rejection == .missing("azpacr"))
        #expect(SentAccessToken.microsoft.with("ver", #""1.0""#).rejection == .invalid("ver"))
        #expect(SentAccessToken.microsoftVersion1.without("appidacr").rejection == .missing("appidacr"))
        #expect(SentAccessToken.azureB2C.without("scp").rejection == .missing("scp"))
        #expect(SentAccessToken.ory.without("scp").rejection == .missing("scp"))
        #expect(SentAccessToken.okta.without("cid").rejection == .missing("cid"))
        #expect(SentAccessToken.supabase.with("client_id", #""x""#).rejection == .invalid("client_id"))
    }

    @Test func `required claims and claim values of the settings hold`() {
        #expect(plain.policy { $0.requiredClaims += [ClaimName("acr")] }.rejection == .missing("acr"))
        let rule = ClaimRule(ClaimPath("client_id"), .oneOf, ["other"])
        #expect(plain.policy { $0.claimRules += [rule] }.rejection == .invalid("client_id"))
    }

    @Test func `every scope asked for must be granted, byte for byte`() {
        func needing(_ scopes: String...) -> Rejection? { plain.expecting { $0.scopes = scopes }.rejection }
        #expect(needing("openid", "reademail") == nil)
        #expect(needing("openid", "write") == .scopeMissing)
        #expect(needing("Openid") == .scopeMissing)
        #expect(needing("read") == .scopeMissing)
        #expect(plain.without("scope").rejection == nil)
        #expect(plain.without("scope").expecting { $0.scopes = ["openid"] }.rejection == .scopeMissing)
    }

    @Test func `a scope claim of another form is refused, and an empty one grants nothing`() throws {
        for json in ["5", "{}", "[5]", #"["a",null]"#] {
            #expect(plain.with("scope", json).rejection == .invalid("scope"))
        }
        for json in ["null", #""""#, #""  ""#, "[]"] {
            #expect(try plain.with("scope", json).verify().authorization.scopes == [])
        }
        #expect(try plain.with("scope", #""a  b a""#).verify().authorization.scopes == ["a", "b"])
        #expect(SentAccessToken.okta.with("scp", "5").rejection == .invalid("scp"))
    }

    @Test func `roles of another form grant nothing`() throws {
        for json in ["5", "null", "[5,{}]", #""""#] {
            #expect(try plain.with("roles", json).verify().authorization.roles == [])
        }
        #expect(try plain.with("roles", #""admin""#).verify().authorization.roles == ["admin"])
    }

    // MARK: Bound tokens

    @Test(arguments: [
        #"{"jkt":"0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}"#, #"{"x5t#S256":"x"}"#, "{}", #"{"x":1}"#,
    ])
    func `a token that is bound to a key is refused, unless the settings accept it`(confirmation: String) throws {
        for sent in [plain, SentAccessToken.microsoft, .kubernetes] {
            let bound = sent.with("cnf", confirmation)
            #expect(bound.rejection == .bindingRequired)
            #expect(bound.change { $0.dialect.acceptsUncheckedBindings = true }.rejection == nil)
        }
    }

    @Test(arguments: ["null", "[]", #""""#, #""jkt""#, "1", "true"])
    func `a confirmation that is no object is invalid, whatever the settings say`(confirmation: String) {
        let bound = plain.with("cnf", confirmation)
        #expect(bound.rejection == .invalid("cnf"))
        #expect(bound.change { $0.dialect.acceptsUncheckedBindings = true }.rejection == .invalid("cnf"))
    }

    @Test func `the binding is checked last, but before the scopes of the request`() {
        let bound = plain.with("cnf", "{}")
        #expect(bound.expecting { $0.scopes = ["write"] }.rejection == .bindingRequired)
        #expect(
            bound.expecting { $0.expectedSubject = ExpectedSubject(subject: "x") }.rejection == .subjectMismatch)
        #expect(bound.at(1_700_009_999).rejection == .tokenExpired)
    }

    // MARK: Groups that are too many to list

    @Test func `groups that are too many to list are not the same as none`() throws {
        let sent = SentAccessToken.microsoft.without("groups")
        #expect(try sent.verify().authorization.groups == [])
        for (claim, json) in [("_claim_names", #"{"groups":"src1"}"#), ("hasgroups", "true")] {
            #expect(try sent.with(claim, json).verify().authorization.groups == nil)
            let ruled = sent.policy { $0.claimRules.append(ClaimRule(ClaimPath("groups"), .oneOf, ["g1"])) }
            #expect(ruled.with(claim, json).rejection == .groupsOverage)
            // Groups from another claim are all there.
            let renamed = sent.with("staff", #"["g1"]"#).with(claim, json).change {
                $0.dialect.authorization.groups = ClaimPath("staff")
            }
            #expect(try renamed.verify().authorization.groups == ["g1"])
        }
    }

    @Test func `subject, issuer and revoked sessions are compared after everything else of the token`() {
        #expect(plain.expecting { $0.expectedSubject = ExpectedSubject(subject: "5ba552d67") }.rejection == nil)
        #expect(plain.expecting { $0.expectedSubject = ExpectedSubject(subject: "x") }.rejection == .subjectMismatch)
        let other = ExpectedSubject(subject: "5ba552d67", issuer: "https://other.example")
        #expect(plain.expecting { $0.expectedSubject = other }.rejection == .subjectMismatch)
        #expect(plain.expecting { $0.authenticatedAfter = UnixTime(seconds: 1_700_000_000) }.rejection == nil)
        #expect(
            plain.expecting { $0.authenticatedAfter = UnixTime(seconds: 1_700_000_001) }.rejection == .sessionRevoked)
    }

    @Test func `the tenant's own issuer is reported, and another tenant's is refused`() throws {
        let verified = try SentAccessToken.microsoft.verify()
        #expect(verified.identity.issuer == "https://login.microsoftonline.com/\(GoldenToken.tenant)/v2.0")
        #expect(SentAccessToken.microsoft.with("tid", #""other""#).rejection == .issuerMismatch)
    }

    @Test func `service accounts are refused where the settings say so`() {
        let strict = SentAccessToken.keycloak.policy { $0.serviceAccounts.refusesAzpEqualToSub = true }
        #expect(strict.rejection == nil)
        #expect(strict.with("sub", #""shop-app""#).rejection == .invalid("azp"))
    }

    @Test func `claims under another token's signature are refused`() {
        let parts = plain.token.split(separator: ".")
        let others = plain.with("sub", #""someone""#).token.split(separator: ".")
        let forged = [others[0], others[1], parts[2]].joined(separator: ".")
        #expect(Self.rejection(of: forged, plain) == .signatureInvalid)
    }

    @Test func `only a token whose issuer, audience, client and expiry would pass is worth a fetch`() throws {
        func wouldPass(_ sent: SentAccessToken) throws -> Bool {
            let token = try sent.unverified()
            let now = UnixTime(seconds: sent.now)
            return (try? token.checkClaims(ofAccessTokenUnder: sent.policy, sent.dialect, now: now)) != nil
        }
        #expect(try wouldPass(plain))
        #expect(try !wouldPass(plain.with("iss", #""https://evil.example""#)))
        #expect(try !wouldPass(plain.with("aud", #""x""#)))
        #expect(try !wouldPass(plain.without("client_id")))
        #expect(try !wouldPass(plain.at(1_700_009_999)))
        #expect(try !wouldPass(SentAccessToken.cognito.with("client_id", #""x""#)))
        #expect(try wouldPass(plain.without("sub")))
    }

    private static func rejection(of token: String, _ sent: SentAccessToken) -> Rejection? {
        do throws(Rejection) {
            let keys = try! JWKSet(jwkSet([TestKey.rsa.jwk(), TestKey.p256.jwk()]))
            _ = try IDTokenVerifier().jwsVerifier.verifyAccessToken(
                UnverifiedToken(token), with: keys, algorithms: .all, under: sent.policy, sent.dialect,
                expecting: sent.parameters, now: UnixTime(seconds: sent.now))
            return nil
        } catch {
            return error
        }
    }
}
