import HTTP
import IDToken
import JOSE
import Keys
import NIOCore
import NIOEmbedded
import NIOHTTP1
import OAuth
import OpenSSL
import Service
import SignIns
import Verification

/// A request as it arrives.
struct Request {
    let bytes: [UInt8]

    init(_ method: String, _ path: String, _ members: [String: JSONTree]) throws {
        var json = JSONWriter()
        json.value(.object(members))
        let head = [
            "\(method) \(path) HTTP/1.1", "Host: localhost", "Content-Type: application/json",
            "Content-Length: \(json.bytes.count)", "", "",
        ]
        bytes = Array(head.joined(separator: "\r\n").utf8) + json.bytes
    }
}

/// The service listener's endpoints on an event loop that the benchmark turns, with two providers: `p` for ID Tokens and
/// notifications, `api` for access tokens. One key signs for both. If opaque tokens are known, a third provider issued
/// them: `legacy`.
final class Endpoints {
    private let loop = EmbeddedEventLoop()
    private lazy var executor = LoopExecutor(loop)
    private let responder: any HTTPResponder
    private let signer: JWSSigner

    private static let issuer = "https://issuer.example"
    private static let (issuedAt, expiresAt): (Int64, Int64) = (1_700_000_000, 4_102_444_800)

    /// - Parameters:
    ///   - takesProofs: whether DPoP proofs are checked; each passes once.
    ///   - known: opaque tokens, and what their issuer says of each.
    init(takesProofs: Bool = false, knowing known: [String: JSONTree] = [:]) throws {
        let key = try SigningKey(generating: .ellipticCurve(.p256))
        signer = JWSSigner(key)
        var members: [String: JSONTree] = [
            "kty": .string("EC"), "crv": .string("P-256"), "alg": .string("ES256"), "use": .string("sig"),
            "kid": .string("key"),
        ]
        for (name, octets) in try key.publicComponents() {
            members[name] = .string(String(decoding: Base64URL.encode(octets), as: UTF8.self))
        }
        let keys = text(.object(["keys": .array([.object(members)])]))
        let delivered = try deliveredKeys(keys)
        let store = unusedStore(on: loop)
        store.stop()
        var policy = ProviderPreset.oidc.policy(id: "p", issuer: Self.issuer, audiences: ["client"])
        policy.algorithms = [.es256]
        var apiPolicy = ProviderPreset.oidc.policy(id: "api", issuer: Self.issuer, audiences: ["https://api.example"])
        apiPolicy.algorithms = [.es256]
        // The logout token of each iteration is the same one.
        var notifications = NotificationRules(kinds: [.logout])
        notifications.maximumAgeSeconds = Self.expiresAt - Self.issuedAt
        var providers = [
            Provider(policy: policy, isOptional: false, notifications: notifications, keys: .store(store)),
            Provider(
                policy: apiPolicy, accessTokens: ProviderPreset.oidc.facts(PresetArguments()).accessTokens.dialect,
                isOptional: false, keys: .store(store)),
        ]
        if !known.isEmpty { providers.append(try opaqueProvider(knowing: known, store, on: loop)) }
        responder = try makeResponder(
            on: loop, providers.map { ($0, .one(delivered, store)) }, takesProofs: takesProofs)
    }

    /// With the provider of the fixtures alone, some of whose tokens are encrypted.
    init(opening encryption: TokenEncryption) throws {
        signer = JWSSigner(try SigningKey(generating: .ellipticCurve(.p256)))
        let store = unusedStore(on: loop)
        store.stop()
        let provider = Provider(policy: applePolicy(), isOptional: false, encryption: encryption, keys: .store(store))
        let keys = try deliveredKeys(try Fixtures().keySet(["RS256", "ES256"]))
        responder = try makeResponder(on: loop, [(provider, .one(keys, store))])
    }

    /// Reads a request, answers it, and turns the event loop until the response is there.
    func response(to request: Request) throws -> HTTPResponse {
        var reader = RequestReader(maximumHeader: 16 * 1024)
        let (step, taken) = try reader.next(request.bytes.span, bodyLimit: .max)
        guard case .head(let head) = step else { throw Mistake("the head is incomplete") }
        let routing = responder.route(head)
        let rest = try reader.next(request.bytes.span.extracting(taken...), bodyLimit: routing.bodyLimit)
        guard case .end(let body) = rest.step else { throw Mistake("the body is incomplete") }
        switch responder.respond(to: HTTPRequest(head: head, body: body, routing: routing)) {
        case .now(let response): return response
        case .later(_, let begin):
            let future = executor.future(of: begin)
            loop.run()
            return try future.wait()
        }
    }

    /// Lets the pause pass in which no decryption may follow another one.
    func pause() { loop.advanceTime(by: .microseconds(50)) }

    /// The members of a response's body that are strings.
    func object(in response: HTTPResponse) throws -> [String: JSONTree] {
        guard let object = try JSONTree(readingObject: response.body).object else { throw Mistake("no JSON object") }
        return object
    }

    func idToken(nonce: JSONTree? = nil, keyID: String = "key") throws -> String {
        try token(
            [
                "aud": .string("client"), "nonce": nonce, "email": .string("user@example.com"),
                "email_verified": .bool(true),
            ],
            keyID: keyID)
    }

    /// - Parameter confirmation: the members of `cnf`; `nil` for a token that is bound to no key.
    func accessToken(boundTo confirmation: [String: JSONTree]? = nil) throws -> String {
        try token(
            [
                "aud": .string("https://api.example"), "client_id": .string("client"), "scope": .string("read write"),
                "jti": .string("token-1"), "cnf": confirmation.map(JSONTree.object),
            ], type: "at+jwt")
    }

    func logoutToken() throws -> String {
        try token(
            [
                "aud": .string("client"), "jti": .string("logout-1"),
                "events": .object(["http://schemas.openid.net/event/backchannel-logout": .object([:])]),
            ], type: "logout+jwt")
    }

    private func token(_ claims: [String: JSONTree?], type: String = "JWT", keyID: String = "key") throws -> String {
        var payload = claims.compactMapValues(\.self)
        payload["iss"] = .string(Self.issuer)
        payload["sub"] = .string("001234.5a1c6e0f9d3b47c2a8e1f0d2b3c4a596.0917")
        payload["iat"] = .integer(Self.issuedAt)
        payload["exp"] = .integer(Self.expiresAt)
        let header: [String: JSONTree] = ["alg": .string("ES256"), "kid": .string(keyID), "typ": .string(type)]
        let octets = try signer.compactJWS(header: text(.object(header)), payload: text(.object(payload)))
        return String(decoding: octets, as: UTF8.self)
    }
}

/// - Parameter takesProofs: whether DPoP proofs are checked; each passes once.
private func makeResponder(
    on loop: EmbeddedEventLoop, _ providers: [(Provider, LoopKeys)], takesProofs: Bool = false
) throws -> any HTTPResponder {
    var settings = ServiceSettings(openAPI: [])
    settings.proofs = takesProofs ? ProofRules() : nil
    settings.remembersProofs = takesProofs
    settings.loggedRequests = LoggedRequests(.none)
    settings.signatureCacheCapacity = 0
    let responder = try AssayService.responder(
        on: loop, settings, ProviderRegistry(providers, on: loop), LogSink(isDiscarding: true),
        store: StoreSetup(.memory(ClaimMemory(capacity: 100_000))),
        proofStore: StoreSetup(.memory(ClaimMemory(capacity: 1_000_000))), signInKeys: try HandleKeys.made())
    loop.run()
    return responder
}

/// A provider that is never asked, because its answers are known.
private func opaqueProvider(
    knowing known: [String: JSONTree], _ store: KeyStore, on loop: EmbeddedEventLoop
) throws -> Provider {
    let policy = ProviderPreset.oidc.policy(
        id: "legacy", issuer: "https://legacy.example", audiences: ["https://api.example"])
    var rules = IntrospectionRules()
    rules.cachePeriod = .seconds(3600)
    rules.endpoint = "https://legacy.example/introspect"
    let introspector = try Introspector(
        rules, by: OAuthClient(id: "api"), of: policy, allowingHTTP: false,
        calls: ProviderCalls(
            rules: NetworkRules(), proxy: nil, credentials: [:], quirks: [], keptConnections: 0, on: loop,
            onReport: { _ in }),
        slots: CallSlots(limit: 1), keys: ResponseKeys(store, KeyDemand(), on: loop),
        SharedIntrospectionMemory(entries: known.count, on: loop))
    for (token, answer) in known {
        guard let token = AccessToken(token) else { throw Mistake("no access token") }
        try introspector.remember(text(answer), about: token)
    }
    return Provider(
        policy: policy, accessTokens: ProviderPreset.oidc.facts(PresetArguments()).accessTokens.dialect,
        introspector: introspector, isOptional: false, keys: .store(store))
}

private func text(_ value: JSONTree) -> [UInt8] {
    var json = JSONWriter()
    json.value(value)
    return json.bytes
}
