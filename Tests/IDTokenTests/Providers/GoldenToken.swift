import IDToken
import JOSE
import JSON
import TestSupport
import Testing

/// A token as a provider really sends it, made up and signed by a key of the test's, and what is to come of it.
struct GoldenToken: Sendable, CustomTestStringConvertible {
    let preset: ProviderPreset
    var arguments: PresetArguments = [:]
    /// The relying party's client IDs; `nil`: those that the preset knows.
    var audiences: [String]?
    var authorizedParties: [String] = []
    /// Whose tokens the relying party takes, of a provider that gives one to anybody.
    var callers: ClaimRule?
    var key = TestKey.rsa
    /// What the header has besides `alg` and `kid`.
    var headerMembers = ""
    /// The payload. Issued at 1 700 000 000, but for tokens that live shorter than the tests' 100 seconds.
    let claims: String
    /// The raw nonce of the sign-in.
    var nonce: String?
    var now: Int64 = 1_700_000_100
    /// The members of the identity that are not null; `provider` is always the preset's name.
    let identity: [String: String]

    var testDescription: String { preset.name }

    var signIn: SignIn {
        var policy = preset.facts(arguments).policy
        policy.id = preset.name
        policy.audiences = audiences ?? policy.audiences
        policy.authorizedParties = authorizedParties
        if let callers { policy.claimRules = [callers] }
        var signIn = SignIn(claims: ClaimsText(json: claims), policy: policy, now: now, key: key)
        signIn.header = #"{"alg":"\#(key.algorithm)","kid":"\#(key.keyID)"\#(headerMembers)}"#
        signIn.expectations.nonce = nonce
        return signIn
    }
}

extension ClaimsText {
    /// The claims of a JSON text, written anew.
    init(json text: String) {
        let members = (try! JSONTree(readingObject: Array(text.utf8))).object ?? [:]
        self = members.sorted { $0.key < $1.key }.reduce(ClaimsText([:])) {
            $0.with($1.key, TestSupport.json($1.value))
        }
    }
}

extension Identity {
    /// The members that are not null, by the contract's names.
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

@Suite struct GoldenTokenTests {
    @Test(arguments: GoldenToken.all)
    func `a token as the provider sends it makes the identity that it should`(golden: GoldenToken) throws {
        let verified = try golden.signIn.verify()
        #expect(verified.identity.members == golden.identity)
        #expect(verified.identity.provider == golden.preset.name)
        #expect(verified.algorithm.rawValue == golden.key.algorithm)
    }

    @Test func `there is a token for every preset`() {
        #expect(Set(GoldenToken.all.map(\.preset.name)) == Set(ProviderPreset.all.map(\.name)))
    }

    /// Whoever is told by its issuer, the others are not to be told by the same one.
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
