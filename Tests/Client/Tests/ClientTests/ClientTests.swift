import Foundation
import IDToken
import JOSE
import Testing
import TokenDiagnostics

/// The public face of the libraries for access tokens, notifications and Apple's client secret.
@Suite struct ClientTests {
    let tokens: Tokens
    let keys: JWKSet
    /// A minute after the tokens were issued.
    let now = UnixTime(seconds: 1_700_000_060)

    struct Tokens: Decodable {
        let keys: [[String: String]]
        let access: String
        let bound: String
        let proof: String
        let logout: String
        let teamKey: String
        let teamKeys: [[String: String]]
    }

    init() throws {
        tokens = try JSONDecoder().decode(Tokens.self, from: Data(contentsOf: Self.file("tokens.json")))
        keys = try Self.keySet(tokens.keys)
    }

    static func file(_ path: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: path)
    }

    static func keySet(_ keys: [[String: String]]) throws -> JWKSet {
        try JWKSet(Array(JSONEncoder().encode(["keys": keys])))
    }

    func policy() throws -> AccessTokenPolicy {
        try #require(
            ProviderPreset.oidc.accessTokenPolicy(
                id: "sso", issuer: "https://sso.example", audiences: ["https://api.example.com"]))
    }

    @Test func `an access token says whose it is and what it grants`() throws {
        let verifier = try AccessTokenVerifier(policy())
        let verified = try verifier.verify(
            tokens.access, with: keys, expecting: AccessTokenParameters(scopes: ["orders:read"]), now: now)
        #expect(verified.identity.subject == "user" && verified.binding == nil)
        #expect(verified.authorization.clientID == "app")
        #expect(verified.authorization.scopes == ["orders:read", "orders:write"])
        #expect(try verified.claim("tenant", as: String.self) == "t1")
    }

    @Test func `a missing scope refuses it, and the explanation says so`() throws {
        let verifier = try AccessTokenVerifier(policy())
        let parameters = AccessTokenParameters(scopes: ["admin"])
        #expect(throws: Rejection.scopeMissing) {
            try verifier.verify(tokens.access, with: keys, expecting: parameters, now: now)
        }
        let explanation = try verifier.explain(tokens.access, with: keys, expecting: parameters, now: now)
        #expect(explanation.checks.filter { $0.refusal != nil }.map(\.name) == [.scopes])
        #expect(try verifier.explain("junk", with: keys, now: now).summary != "")
    }

    @Test func `a bound token needs the proof of its key`() throws {
        let verifier = try AccessTokenVerifier(policy())
        #expect(throws: Rejection.bindingRequired) { try verifier.verify(tokens.bound, with: keys, now: now) }
        func verify(_ token: String, _ method: String, at now: UnixTime) throws -> TokenBinding? {
            let proof = PresentedProof(
                tokens.proof, method: method, url: "https://api.example.com/orders?page=2", scheme: "DPoP")
            let parameters = AccessTokenParameters(evidence: BindingEvidence(proof: proof))
            return try verifier.verify(token, with: keys, expecting: parameters, now: now).binding
        }
        let binding = try #require(try verify(tokens.bound, "GET", at: now))
        #expect(binding.method == .dpop && binding.proof?.identifier == "p1")
        #expect(binding.proof?.expiresAt == UnixTime(seconds: 1_700_000_010 + 60 + 60))
        #expect(throws: Rejection.proofInvalid(.method)) { try verify(tokens.bound, "POST", at: now) }
        #expect(throws: Rejection.proofInvalid(.time)) {
            try verify(tokens.bound, "GET", at: now.advanced(bySeconds: 120))
        }
        #expect(throws: Rejection.bindingMissing) { try verify(tokens.access, "GET", at: now) }
    }

    @Test func `an API can demand bound tokens`() throws {
        var policy = try policy()
        policy.requiredBinding = .any
        let verifier = try AccessTokenVerifier(policy)
        #expect(throws: Rejection.bindingMissing) { try verifier.verify(tokens.access, with: keys, now: now) }
    }

    @Test func `some providers' access tokens can't be verified`() {
        #expect(ProviderPreset.google.accessTokenPolicy(id: "google", audiences: ["a"]) == nil)
    }

    @Test func `a logout token names the session that has ended`() throws {
        let policy = ProviderPreset.oidc.policy(id: "sso", issuer: "https://sso.example", audiences: ["client"])
        let verifier = try NotificationVerifier(policy, ProviderPreset.oidc.notifications([.logout]))
        let notification = try verifier.verify(tokens.logout, with: keys, now: now)
        #expect(notification.id == "1" && notification.issuer == "https://sso.example")
        let event = try #require(notification.events.first)
        #expect(event.type == .loggedOut && event.subject == "user" && event.sessionID == "s1")
        let others = try NotificationVerifier(policy, ProviderPreset.oidc.notifications([.securityEvent]))
        #expect(throws: Rejection.self) { try others.verify(tokens.logout, with: keys, now: now) }
        #expect(try others.explain(tokens.logout, with: keys, now: now).summary != "")
    }

    @Test func `a real notification of Apple's`() throws {
        struct Vectors: Decodable {
            struct Token: Decodable {
                let jwt: String
                let verify_at: Int64
            }

            let audience: String
            let tokens: [Token]
        }
        let folder = "../../../Conformance/Vectors/real/apple/"
        let vectors = try JSONDecoder().decode(
            Vectors.self, from: Data(contentsOf: Self.file(folder + "tokens_2021.json")))
        let keys = try JWKSet(Array(Data(contentsOf: Self.file(folder + "jwks_2021.json"))))
        let policy = ProviderPreset.apple.policy(id: "apple", audiences: [vectors.audience])
        let verifier = try NotificationVerifier(policy, ProviderPreset.apple.notifications([.apple]))
        let (payload, now) = (vectors.tokens[2].jwt, UnixTime(seconds: vectors.tokens[2].verify_at))
        let event = try #require(try verifier.verify(payload, with: keys, now: now).events.first)
        #expect(event.type == .emailRelayDisabled && event.isPrivateEmail == true)
        #expect(event.subject == "001026.16112b36378440d995af22b268f00984.1744")
    }

    @Test func `a client secret is signed with the team's key`() throws {
        let key = try AppleClientKey(pem: tokens.teamKey, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        let secret = try key.clientSecret(for: "com.example.app", now: now)
        let jws = try CompactJWS(secret)
        let verified = try JWSVerifier().verify(jws, with: Self.keySet(tokens.teamKeys), allowing: [.es256])
        struct Claims: Decodable, Equatable {
            let iss, sub, aud: String
            let iat, exp: Int64
        }
        let claims = try JSONDecoder().decode(Claims.self, from: Data(verified.payload))
        #expect(
            claims
                == Claims(
                    iss: "DEF123GHIJ", sub: "com.example.app", aud: "https://appleid.apple.com",
                    iat: now.seconds - 30, exp: now.seconds + 900))
    }

    @Test func `what makes no client secret is refused with its reason`() throws {
        for (pem, keyID, teamID, reason) in [
            ("", "ABC123DEFG", "DEF123GHIJ", "it holds no private key"),
            (tokens.teamKey, "short", "DEF123GHIJ", "keyID"),
            (tokens.teamKey, "ABC123DEFG", "lowercase1", "teamID"),
        ] {
            let error = #expect(throws: AppleClientKeyError.self) {
                try AppleClientKey(pem: pem, keyID: keyID, teamID: teamID)
            }
            #expect(error?.description.contains(reason) == true)
        }
        let key = try AppleClientKey(pem: tokens.teamKey, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        #expect(throws: AppleClientKeyError.self) {
            try key.clientSecret(for: "a", now: now, lifetimeSeconds: AppleClientKey.maximumLifetimeSeconds + 1)
        }
    }
}
