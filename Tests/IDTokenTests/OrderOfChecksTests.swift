import IDToken
import JOSE
import SignInFixtures
import Testing
import TestSupport

/// A token with several faults is rejected for the first, in the contract's order.
@Suite struct OrderOfChecksTests {
    /// Faults in the order of the checks. Each is fixed to reveal the next.
    private static let faults: [(Rejection, @Sendable (inout SignIn) -> Void)] = [
        (.headerUnsupported, { $0.header = $0.header!.replacing("\"typ\":\"at+jwt\",", with: "") }),
        (.headerUnsupported, { $0.header = $0.header!.replacing("\"crit\":[\"x\"],", with: "") }),
        (.algorithmNotAllowed, { $0.header = $0.header!.replacing("none", with: "ES256") }),
        (.keyNotFound, { $0.header = $0.header!.replacing("unknown", with: "p256") }),
        (.signatureInvalid, { $0.key = .p256 }),
        (.issuerMismatch, { $0 = $0.with("iss", #""https://op.example""#) }),
        (.issuerMismatch, { $0.keyMembers["issuer"] = .string("https://op.example/t") }),
        (.audienceMismatch, { $0 = $0.with("aud", #""client""#) }),
        (.authorizedPartyMismatch, { $0 = $0.with("azp", #""client""#) }),
        (.tokenExpired, { $0 = $0.with("exp", "1700003600") }),
        (.tokenNotYetValid, { $0 = $0.with("nbf", "1700000000") }),
        (.tokenNotYetValid, { $0 = $0.with("iat", "1600000000") }),
        (.tokenTooOld, { $0 = $0.with("iat", "1700000000") }),
        (.authTimeTooOld, { $0 = $0.without("auth_time") }),
        (.missing("sub"), { $0 = $0.with("sub", #""client""#) }),
        (.invalid("events"), { $0 = $0.without("events") }),
        (.missing("tid"), { $0 = $0.with("tid", "1") }),
        (.invalid("use"), { $0 = $0.with("use", #""id""#) }),
        (.invalid("azp"), { $0 = $0.with("sub", #""user""#) }),
        (.invalid("email"), { $0 = $0.with("email", #""a@b""#) }),
        (.invalid("email_verified"), { $0 = $0.with("email_verified", "true") }),
        (
            .nonceMismatch,
            {
                $0 = $0.without("nonce")
                $0.parameters.nonce = nil
            }
        ),
        (.invalid("scope"), { $0 = $0.with("at_hash", #""x""#) }),
        (.atHashMismatch, { $0 = $0.with("at_hash", #""sqOO4d8-j4fA2XFTQcfEtQ""#) }),
        (.cHashMissing, { $0 = $0.with("c_hash", #""sqOO4d8-j4fA2XFTQcfEtQ""#) }),
    ]

    private static let worst: SignIn = {
        var signIn = SignIn.plain
        signIn.header = #"{"typ":"at+jwt","crit":["x"],"alg":"none","kid":"unknown"}"#
        signIn.key = .otherP256
        signIn.claims = ClaimsText([
            "iss": #""https://evil.example""#, "aud": #""other""#, "azp": #""other""#, "exp": "0", "nbf": "1e12",
            "iat": "1e12",
            "auth_time": "0", "events": "{}", "email": "5", "email_verified": #""yes""#, "nonce": #""other""#,
            "tenant": #""t""#, "use": #""access""#, "scope": #""openid""#,
        ])
        signIn.keyMembers["issuer"] = .string("https://evil.example/t")
        signIn.policy.keyIssuers = [IssuerTemplate("https://op.example/{tenant}")!]
        signIn.policy.authorizedParties = ["client"]
        signIn.policy.maximumTokenAgeSeconds = 3600
        signIn.policy.requiredClaims = [ClaimName("tid")]
        signIn.policy.claimRules = [ClaimRule(ClaimPath("use"), .oneOf, ["id"])]
        signIn.policy.serviceAccounts.refusesAzpEqualToSub = true
        signIn.parameters.maximumAuthenticationAgeSeconds = 600
        signIn.parameters.nonce = "nonce"
        signIn.parameters.accessToken = "ya29.access"
        signIn.parameters.code = "ya29.access"
        return signIn
    }()

    @Test func `every fault hides those that come after it`() {
        var signIn = Self.worst
        for (expected, repair) in Self.faults {
            #expect(signIn.rejection == expected)
            repair(&signIn)
        }
        #expect(signIn.rejection == nil)
    }

    private final class NameRecorder: CheckObserver {
        var names: [CheckName] = []

        func check<Input, Value>(
            _ name: CheckName, isEnabled: Bool, input: () -> Input?, rule: (Input) throws(Rejection) -> Value
        ) throws(Rejection) -> Value? {
            names.append(name)
            return nil
        }
    }

    @Test func `the names have the order of the list`() throws {
        let recorder = NameRecorder()
        _ = try IDTokenVerifier().runChecks(
            on: UnverifiedToken("e30.e30."), with: .empty, algorithms: .all, under: SignIn.plain.policy,
            expecting: VerificationParameters(), now: UnixTime(seconds: 0), watchedBy: recorder)
        let onlyExplained: [CheckName] = [.tokenForm, .provider, .key]
        #expect(recorder.names == CheckName.ofIDTokens.filter { !onlyExplained.contains($0) })
    }

    @Test func `a fault of form comes before all others`() {
        var signIn = Self.worst
        signIn.header = #"{"alg":"none","alg":"none"}"#
        #expect(signIn.rejection == .tokenMalformed(.header))
        signIn.header = #"{"crit":["x"]}"#
        #expect(signIn.with("a", "1,").rejection == .tokenMalformed(.payload))
    }

    @Test func `nothing in the payload is told before the signature holds`() {
        for key in [TestKey.otherP256, .p256] {
            var signIn = SignIn.plain.with("iss", "5").without("exp")
            signIn.header = #"{"alg":"ES256","kid":"p256"}"#
            signIn.key = key
            #expect(signIn.rejection == (key === TestKey.p256 ? .invalid("iss") : .signatureInvalid))
        }
    }
}
