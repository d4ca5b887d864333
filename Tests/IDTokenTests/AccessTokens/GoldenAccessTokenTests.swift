import IDToken
import JOSE
import SignInFixtures
import Testing
import TestSupport

/// One token of each dialect: it passes, and its ID Token never does.
@Suite struct GoldenAccessTokenTests {
    @Test(arguments: SentAccessToken.all.indices)
    func `it is verified`(index: Int) throws {
        let sent = SentAccessToken.all[index]
        let verified = try sent.verify()
        #expect(verified.identity.provider == sent.preset.name)
        #expect(verified.issuedAt?.seconds == 1_700_000_000)
        #expect(verified.claimsText.elementsEqual(sent.claims.json.utf8))
    }

    @Test func `every preset has a golden access token, or says why it can have none`() {
        let golden = Set((SentAccessToken.all + [.loadBalancer]).map(\.preset.name))
        for preset in ProviderPreset.all {
            // Okta's own server issues access tokens whose keys are not published.
            let arguments: PresetArguments = preset.name == "okta" ? ["authorization_server": "default"] : [:]
            switch preset.facts(arguments).accessTokens {
            case .jwt, .assertions: #expect(golden.contains(preset.name), "\(preset.name)")
            case .unsupported(let reason):
                #expect(!golden.contains(preset.name), "\(preset.name)")
                #expect(!reason.isEmpty)
            }
        }
    }

    @Test func `the organization's server of Okta is refused`() {
        guard case .unsupported(let reason) = ProviderPreset.okta.facts(["domain": "a.okta.com"]).accessTokens else {
            Issue.record("it is accepted")
            return
        }
        #expect(reason.contains("authorization_server"))
    }

    /// The ID Token of the same provider, even with the API's own audience.
    @Test(arguments: GoldenToken.all.indices)
    func `an ID Token is no access token`(index: Int) throws {
        let golden = GoldenToken.all[index]
        guard let dialect = golden.preset.facts(golden.arguments).accessTokens.dialect, !dialect.isAlsoIDToken else {
            return
        }
        var signIn = golden.signIn
        // The worst case: a sign-in without a nonce, whose token is short of everything that is optional.
        for claim in ["nonce", "at_hash", "c_hash"] { signIn = signIn.without(claim) }
        var policy = golden.preset.facts(golden.arguments).ofAccessTokens(dialect).policy
        policy.id = "api"
        policy.audiences = signIn.policy.audiences
        policy.authorizedParties = signIn.policy.authorizedParties
        for token in [golden.signIn.token, signIn.token] {
            #expect(throws: Rejection.self, "\(golden.preset.name)") {
                try IDTokenVerifier().jwsVerifier.verifyAccessToken(
                    UnverifiedToken(token), with: signIn.keySet, algorithms: .all, under: policy, dialect,
                    expecting: AccessTokenParameters(), now: UnixTime(seconds: signIn.now))
            }
        }
    }

    /// Even where the API's identifier is also a client ID.
    @Test(arguments: SentAccessToken.all.indices)
    func `an access token is no ID Token`(index: Int) throws {
        let sent = SentAccessToken.all[index]
        // A gateway has no ID Tokens: its preset verifies none.
        guard case .jwt = sent.preset.facts([:]).accessTokens, !sent.dialect.isAlsoIDToken else { return }
        let arguments: PresetArguments = [
            "issuer": sent.policy.issuer, "domain": "example.eu.auth0.com", "subdomain": "example",
            "tenant": GoldenToken.tenant, "policy": "B2C_1_sign_in", "pool": "eu-west-1_AbCdEfGhI",
        ]
        var policy = sent.preset.facts(arguments).policy
        policy.id = "id"
        policy.issuer = sent.policy.issuer
        policy.audiences = try sent.unverified().claims.audiences()
        policy.authorizedParties = sent.policy.authorizedParties
        // Without what only a nonce or these rules would prevent, as for a sign-in that has no nonce.
        var signIn = SignIn(claims: sent.claims, policy: policy, now: sent.now, key: sent.key)
        signIn.header = #"{"alg":"\#(sent.key.algorithm)","kid":"\#(sent.key.keyID)"\#(sent.headerMembers)}"#
        let isOpen = ["auth0", "okta"].contains(sent.preset.name) && !sent.headerMembers.contains("at+jwt")
        if isOpen {
            // Their ID Tokens are for clients, and their access tokens for APIs: only the audience tells them apart.
            signIn.policy.audiences = ["client"]
        }
        #expect(signIn.rejection != nil, "\(sent.preset.name)")
    }

    @Test func `clients, scopes, roles, groups and entitlements are read in each dialect`() throws {
        func authorization(_ sent: SentAccessToken) throws -> Authorization { try sent.verify().authorization }
        let rfc9068 = try authorization(.rfc9068)
        #expect(rfc9068.clientID == "s6BhdRkqt3")
        #expect(rfc9068.scopes == ["openid", "profile", "reademail"])
        #expect(rfc9068.roles == ["reader"])
        #expect(rfc9068.groups == ["staff"])
        #expect(rfc9068.entitlements == ["archive", "print"])
        #expect(try authorization(.auth0).clientID == "my_client_id")
        #expect(try authorization(.auth0).entitlements == ["read:orders"])
        #expect(try authorization(.auth0OfRFC9068).clientID == "my_client_id")
        #expect(try authorization(.azureB2C).scopes == ["read", "write"])
        #expect(try authorization(.cognito).groups == ["admins"])
        #expect(try authorization(.keycloak).roles == ["offline_access", "clerk"])
        #expect(try authorization(.keycloak).clientID == "shop-app")
        #expect(try authorization(.kubernetes).clientID == nil)
        #expect(try authorization(.microsoft).scopes == ["Orders.Read", "Orders.Write"])
        #expect(try authorization(.microsoft).clientID == "app-guid")
        #expect(try authorization(.microsoftVersion1).clientID == "app-guid")
        #expect(try authorization(.microsoftVersion1).roles == ["Orders.Sync"])
        #expect(try authorization(.microsoftVersion1).scopes == [])
        #expect(try authorization(.okta).clientID == "0oabskvc6442nkvQO0h7")
        #expect(try authorization(.okta).scopes == ["openid", "orders"])
        #expect(try authorization(.ory).scopes == ["orders"])
        #expect(try authorization(.supabase).roles == ["authenticated"])
        #expect(try authorization(.zitadel).roles == ["clerk", "reader"])
    }

    @Test func `a user's address is read, and judged as in an ID Token`() throws {
        let identity = try SentAccessToken.keycloak.verify().identity
        #expect(identity.email == "jane@example.com")
        #expect(identity.emailTrust == .verified)
        #expect(identity.preferredUsername == "jane")
    }
}
