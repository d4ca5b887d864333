// The blocks of code in the libraries' documentation, so that each of them compiles. A test compares them.

import Foundation
import Hummingbird
import IDToken
import JOSE
import Logging
import RemoteKeys
import SignInMiddleware
import TokenDiagnostics

struct Refused: Error {}
struct Unsupported: Error {}
struct Used: Error {}

struct Store {
    func claim(_ text: String, until time: UnixTime) -> Bool { true }
}

let (token, rawNonce, payload, pem) = ("", "", "", "")
let now = UnixTime(seconds: Int64(Date().timeIntervalSince1970))

func idToken(keys: JWKSet) throws {
    let policy = ProviderPreset.apple.policy(id: "apple", audiences: ["com.example.app"])
    let verifier = try ProviderVerifier(policy)
    let verified = try verifier.verify(
        token, with: keys, expecting: VerificationParameters(nonce: rawNonce), now: now)
    print(verified.identity.subject)

    struct Employee: Decodable {
        let department: String
        let roles: [String]
    }
    let employee = try verified.claims(as: Employee.self)
    let profile = try verified.claims(as: ProfileClaims.self)
    print(employee, profile)

    let explanation = try verifier.explain(token, with: keys, now: now)
    print(explanation.summary)
}

func onOneThread(text: ArraySlice<UInt8>, jsonText: Data) throws {
    let keys = try JWKSet(Array(jsonText))
    let policy = ProviderPreset.apple.policy(id: "apple", audiences: ["com.example.app"])
    let verifier = try IDTokenVerifier()
    let token = try verifier.read(text)
    var signIn = VerificationParameters()
    signIn.nonce = rawNonce
    let verified = try verifier.verify(token, with: keys, under: policy, expecting: signIn, now: now)
    print(verified.identity.subject)
}

func accessToken(keys: JWKSet, dpopField: String, store: Store) throws {
    guard
        let policy = ProviderPreset.oidc.accessTokenPolicy(
            id: "sso", issuer: "https://sso.example", audiences: ["https://api.example.com"])
    else { throw Unsupported() }
    let verifier = try AccessTokenVerifier(policy)
    let verified = try verifier.verify(
        token, with: keys, expecting: AccessTokenParameters(scopes: ["orders:read"]), now: now)
    print(verified.identity.subject, verified.authorization.scopes)
    try bound(verifier, keys: keys, dpopField: dpopField, store: store)
}

func bound(_ verifier: AccessTokenVerifier, keys: JWKSet, dpopField: String, store: Store) throws {
    let proof = PresentedProof(
        dpopField, method: "GET", url: "https://api.example.com/orders", scheme: "DPoP")
    let verified = try verifier.verify(
        token, with: keys, expecting: AccessTokenParameters(evidence: BindingEvidence(proof: proof)), now: now)
    if let proof = verified.binding?.proof {
        guard store.claim(proof.keyThumbprint + proof.identifier, until: proof.expiresAt) else { throw Used() }
    }
}

func notification(keys: JWKSet, deleteUser: (String, String?) throws -> Void) throws {
    let policy = ProviderPreset.apple.policy(id: "apple", audiences: ["com.example.app"])
    let verifier = try NotificationVerifier(policy, ProviderPreset.apple.notifications([.apple]))
    let notification = try verifier.verify(payload, with: keys, now: now)
    for event in notification.events {
        switch event.type {
        case .accountDeleted, .consentRevoked: try deleteUser(notification.issuer, event.subject)
        default: break
        }
    }
}

func clientSecret() throws {
    let key = try AppleClientKey(pem: pem, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
    let secret = try key.clientSecret(for: "com.example.app", now: now)
    print(secret.count)
}

func remoteKeys(policy: ProviderPolicy) async throws {
    let keys = try RemoteKeySet(of: .apple)
    let verifier = try ProviderVerifier(policy)
    let verified = try await verifier.verify(token, with: keys)
    print(verified.identity.subject)
}

func remoteKeys(verifier: ProviderVerifier) async throws {
    let keys = try RemoteKeySet(of: .apple)
    let verified = try await verifier.verify(token, with: keys)
    print(verified.identity.subject)
}

/// A provider whose users may sign in.
struct Provider {
    let verifier: ProviderVerifier
    let keys: RemoteKeySet
}

func severalProviders(_ providers: [Provider]) async throws {
    let issuer = try UnverifiedToken(token).unverifiedIssuer ?? ""
    guard let provider = providers.first(where: { $0.verifier.policy.isIssuer(issuer) }) else { throw Refused() }
    let verified = try await provider.verifier.verify(token, with: provider.keys)
    print(verified.identity.provider)
}

func withoutServices(keys: RemoteKeySet) async {
    let refreshing = Task { try await keys.run() }
    // When the server stops:
    refreshing.cancel()
}

func atDevelopmentProvider() throws {
    let issuer = "http://127.0.0.1:9400/apple"
    var options = RemoteKeySet.Options()
    options.allowsHTTP = true
    options.allowedAddresses = ["127.0.0.1"]
    options.acceptsDevelopmentKeys = true
    let policy = ProviderPreset.apple.policy(id: "apple", issuer: issuer, audiences: ["com.example.app"])
    let keys = try RemoteKeySet(issuer: issuer, options: options)
    print(policy.id, keys.state)
}

func comparedWithOthers() async throws {
    let verifier = try ProviderVerifier(
        ProviderPreset.apple.policy(id: "apple", audiences: ["com.example.app"]))
    let keys = try RemoteKeySet(of: .apple)
    let verified = try await verifier.verify(
        token, with: keys, expecting: VerificationParameters(nonce: rawNonce))
    print(verified.identity.subject)
}

func server(logger: Logger) async throws {
    var options = RemoteKeySet.Options()
    options.cacheDirectory = "/var/lib/my-server"
    let keys = try RemoteKeySet(of: .apple, options: options) { event in logger.info("\(event)") }
    let policy = ProviderPreset.apple.policy(id: "apple", audiences: ["com.example.app"])
    let router = Router(context: SignedInContext.self)
    router.add(middleware: SignInMiddleware(try ProviderVerifier(policy), keys))
    router.get("me") { _, context in context.identity?.subject ?? "" }
    var app = Application(router: router)
    app.addServices(keys)
    try await app.runService()
}
