import IDToken
import JOSE
import SignInFixtures
import Testing
import TestSupport

@Suite struct GoldenTokenTests {
    @Test(arguments: GoldenToken.all)
    func `a token as the provider sends it makes the identity that it should`(golden: GoldenToken) throws {
        let verified = try golden.signIn.verify()
        #expect(verified.identity.members == golden.identity)
        #expect(verified.identity.provider == golden.preset.name)
        #expect(verified.algorithm.rawValue == golden.key.algorithm)
    }

    @Test func `there is a token for every preset but those of gateways`() {
        let ofIDTokens = ProviderPreset.all.filter { preset in
            if case .assertions = preset.facts([:]).accessTokens { false } else { true }
        }
        #expect(Set(GoldenToken.all.map(\.preset.name)) == Set(ofIDTokens.map(\.name)))
    }

    @Test func `these presets' tokens follow no sign-in of an app`() {
        let others = GoldenToken.all.filter { !$0.signIn.policy.issuesTokensOfSignIns }.map(\.preset.name)
        #expect(Set(others) == ["firebase", "firebase-session-cookie", "github-actions", "kubernetes", "supabase"])
    }

    /// The policy of every other preset must reject the token.
    @Test(arguments: GoldenToken.all)
    func `a token is of no other preset's provider`(golden: GoldenToken) throws {
        for other in GoldenToken.all where other.preset.name != golden.preset.name {
            var signIn = golden.signIn
            signIn.policy = other.signIn.policy
            signIn.policy.algorithms = nil
            #expect(signIn.rejection == .issuerMismatch, "\(other.preset.name)")
        }
    }

    @Test(arguments: GoldenToken.all)
    func `it is for nobody else, and for a while only`(golden: GoldenToken) throws {
        var stranger = golden.signIn
        stranger.policy.audiences = golden.signIn.policy.audiences.isEmpty ? [] : ["stranger"]
        stranger.policy.authorizedParties = golden.authorizedParties.isEmpty ? [] : ["https://stranger.example"]
        let isByParty = golden.signIn.policy.audiences.isEmpty
        #expect(stranger.rejection == (isByParty ? .authorizedPartyMismatch : .audienceMismatch))
        #expect(golden.signIn.at(1_800_000_000).rejection == .tokenExpired)
        var forged = golden.signIn
        forged.key = golden.key.algorithm == "ES256" ? .otherP256 : .otherRSA
        #expect(forged.rejection == .signatureInvalid)
    }
}

extension Identity {
    /// The members that are not null, under the contract's names.
    var members: [String: String] {
        let all: [String: String?] = [
            "issuer": issuer, "subject": subject, "email": email, "email_verified": isEmailVerified.map { "\($0)" },
            "email_trust": emailTrust?.rawValue, "is_private_email": isPrivateEmail.map { "\($0)" }, "name": name,
            "given_name": givenName, "family_name": familyName, "name_source": nameSource?.rawValue,
            "preferred_username": preferredUsername, "picture": picture, "locale": locale,
            "real_user_status": realUserStatus?.rawValue, "transfer_subject": transferSubject, "tenant": tenant,
            "hosted_domain": hostedDomain,
        ]
        return all.compactMapValues(\.self)
    }
}
