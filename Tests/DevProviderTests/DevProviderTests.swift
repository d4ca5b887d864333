import AsyncHTTPClient
@testable import DevProvider
import HTTP
import IDToken
import JOSE
import NIOCore
import NIOHTTP1
import Testing

/// Running development providers, and requests to them.
private struct Running {
    let issuer: DevProviderServer
    private let providers: [DevProviderSettings]

    static let presets = [ProviderPreset.apple, .google]

    static func run(_ body: (Running) async throws -> Void) async throws {
        let service: @Sendable (String, [UInt8]) async -> DevCalls.Answer? = { path, body in
            path == "/v1/verify" ? DevCalls.Answer(status: 422, body: Array(#"{"code":"token_expired"}"#.utf8)) : nil
        }
        let explanation = #"""
            {"likely_cause":{"check":"expiry","explanation":"The token expired.","fix":"Get another."},"checks":[
            {"name":"expiry","expected":"after now","found":"before now"}]}
            """#
        let calls = DevCalls(deliversAnywhere: false, service: service) { _ in
            DevCalls.Answer(status: 200, body: Array(explanation.utf8))
        } deliver: { url, type, body in
            let status = url == "http://localhost/hook" && type == "application/json" && !body.isEmpty ? 204 : 500
            return DevCalls.Answer(status: status, body: [])
        }
        let issuer = try await DevProviderServer.start(.network(host: "127.0.0.1", port: 0), calls: calls)
        let providers = presets.map { preset in
            var policy = preset.policy(id: preset.name, audiences: ["client"])
            policy.issuer = issuer.issuer(of: policy)
            return DevProviderSettings(
                policy: policy, preset: preset.name, clients: [], quirks: preset.facts([:]).quirks)
        }
        do {
            try await issuer.serve(providers)
            try await body(Running(issuer: issuer, providers: providers))
        } catch {
            await issuer.stop()
            throw error
        }
        await issuer.stop()
    }

    func ask(
        _ method: String, _ path: String, _ body: String = "", _ fields: HTTPHeaders = [:]
    ) async throws -> (status: Int, json: JSONTree) {
        let (status, bytes) = try await page(method, path, body, fields)
        return (status, try JSONTree(readingObject: bytes))
    }

    func page(
        _ method: String, _ path: String, _ body: String = "", _ fields: HTTPHeaders = [:]
    ) async throws -> (status: Int, bytes: [UInt8]) {
        var request = HTTPClientRequest(url: "http://\(issuer.address)\(path)")
        request.method = .init(rawValue: method)
        request.headers = fields
        if !body.isEmpty { request.body = .bytes(ByteBuffer(string: body)) }
        // All tests generate RSA keys at once, which takes long without optimization on a busy machine.
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(180))
        let bytes = try await response.body.collect(upTo: 1 << 20)
        return (Int(response.status.code), Array(bytes.readableBytesView))
    }

    func keySet(_ id: String) async throws -> JSONTree { try await ask("GET", "/\(id)/keys").json }

    func keys(_ id: String) async throws -> JWKSet {
        try JWKSet(try await keySet(id).json, acceptingDevelopmentKeys: true)
    }

    func token(_ id: String, _ body: String = "") async throws -> (token: String, nonce: String) {
        let answer = try await ask("POST", "/\(id)/token", body).json.object
        return (try #require(answer?["id_token"]?.string), try #require(answer?["nonce"]?.string))
    }

    func verify(
        _ id: String, _ token: String, nonce: String?, with keys: JWKSet? = nil
    ) async throws -> VerifiedIDToken {
        let verifier = try IDTokenVerifier()
        let read = try verifier.read(Array(token.utf8)[...])
        let issuedAt = try #require(try claims(of: token)["iat"]?.integer)
        var parameters = VerificationParameters()
        parameters.nonce = nonce
        let policy = try #require(providers.first { $0.policy.id == id }).policy
        let keySet = if let keys { keys } else { try await self.keys(id) }
        return try verifier.verify(
            read, with: keySet, under: policy, expecting: parameters, now: UnixTime(seconds: issuedAt + 1))
    }
}

private func part(_ index: Int, of token: String) throws -> [String: JSONTree] {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    let encoded = Array(parts[index].utf8)
    let decoded = Base64URL.decode(encoded.span)
    let octets = try #require(decoded)
    return try #require(try JSONTree(readingObject: octets).object)
}

private func claims(of token: String) throws -> [String: JSONTree] { try part(1, of: token) }

@Suite struct DevProviderTests {
    private static let ids = Running.presets.map(\.name)

    @Test(arguments: ids)
    func `its tokens verify with the keys it publishes, under the rules of the settings`(id: String) async throws {
        try await Running.run { running async throws in
            let (token, nonce) = try await running.token(id)
            let verified = try await running.verify(id, token, nonce: nonce)
            #expect(verified.identity.issuer == "http://\(running.issuer.address)/\(id)")
            #expect(verified.audiences == ["client"])
            #expect(verified.nonceMatch == (id == "apple" ? .sha256Hex : .plain))
            #expect(verified.identity.emailTrust == .authoritative)
            #expect(verified.identity.isPrivateEmail == (id == "apple" ? true : nil))
            let header = try part(0, of: token)
            #expect(header.keys.sorted() == (id == "apple" ? ["alg", "kid"] : ["alg", "kid", "typ"]))
        }
    }

    @Test(arguments: ids)
    func `its discovery document is its own`(id: String) async throws {
        try await Running.run { running async throws in
            let (status, json) = try await running.ask("GET", "/\(id)/.well-known/openid-configuration")
            let issuer = "\(running.issuer.origin)/\(id)"
            #expect(status == 200)
            #expect(json.object?["issuer"] == .string(issuer))
            #expect(json.object?["jwks_uri"] == .string(issuer + "/keys"))
            #expect(json.object?["id_token_signing_alg_values_supported"] == .array([.string("RS256")]))
        }
    }

    @Test func `a nonce is the caller's, or a new one each time`() async throws {
        try await Running.run { running async throws in
            let own = try await running.token("apple", #"{"nonce":"my raw nonce"}"#)
            #expect(own.nonce == "my raw nonce")
            _ = try await running.verify("apple", own.token, nonce: "my raw nonce")
            let first = try await running.token("google")
            let second = try await running.token("google", "{}")
            #expect(first.nonce != second.nonce)
            #expect(first.nonce.utf8.count == 24)
            await #expect(throws: Rejection.nonceMismatch) {
                try await running.verify("google", first.token, nonce: second.nonce)
            }
        }
    }

    // MARK: Claims and people

    @Test func `claims are set, replaced and taken out`() async throws {
        try await Running.run { running async throws in
            let body =
                #"{"nonce":"n","claims":{"sub":"someone","extra":{"a":[1,2.5,null,true]},"email":null,"nonce":null,"exp":5}}"#
            let token = try await running.token("google", body).token
            let claims = try claims(of: token)
            #expect(claims["sub"] == .string("someone"))
            #expect(claims["extra"] == .object(["a": .array([.integer(1), .real(2.5), .null, .bool(true)])]))
            #expect(claims["email"] == nil)
            #expect(claims["nonce"] == nil)
            #expect(claims["exp"] == .integer(5))
            #expect(claims["iss"] == .string(running.issuer.origin + "/google"))
        }
    }

    @Test func `what tokens are rejected for can be tried out`() async throws {
        let rejections: [(body: String, rejection: Rejection)] = [
            (#"{"claims":{"exp":1000000000}}"#, .tokenExpired),
            (#"{"claims":{"aud":"someone else"}}"#, .audienceMismatch),
            (#"{"claims":{"iss":"https://appleid.apple.com"}}"#, .issuerMismatch),
            (#"{"claims":{"sub":null}}"#, .claimMissing(ClaimName("sub"))),
            (#"{"claims":{"nonce":null}}"#, .nonceMissing),
            (#"{"claims":{"email_verified":"maybe"}}"#, .claimInvalid(ClaimName("email_verified"))),
        ]
        try await Running.run { running async throws in
            for (body, rejection) in rejections {
                let (token, nonce) = try await running.token("apple", body)
                await #expect(throws: rejection) { try await running.verify("apple", token, nonce: nonce) }
            }
        }
    }

    @Test func `anyone can sign in: by name, by address, or described`() async throws {
        try await Running.run { running async throws in
            let people = [#""robin""#, #""robin@example.org""#]
            for person in people {
                let token = try await running.token("google", #"{"person":\#(person)}"#).token
                #expect(try claims(of: token)["email_verified"] == .bool(false))
            }
            let described = #"{"person":{"name":"Ada <b>","email":"ada@example.net","groups":["x"]}}"#
            let claims = try claims(of: try await running.token("google", described).token)
            #expect(claims["name"] == .string("Ada <b>"))
            #expect(claims["hd"] == .string("example.net"))
            #expect(claims["groups"] == .array([.string("x")]))
        }
    }

    // MARK: Keys and faults

    @Test(arguments: ids)
    func `after a rotation the key before stays published, and the one before that does not`(id: String) async throws {
        try await Running.run { running async throws in
            var tokens = [try await running.token(id)]
            let keysBefore = try await running.keys(id)
            #expect(keysBefore.keys.count == 1)
            let rotated = try await running.ask("POST", "/rotate")
            #expect(rotated.status == 200)
            #expect(rotated.json == .object(["rotated": .bool(true)]))
            tokens.append(try await running.token(id))
            for (token, nonce) in tokens { _ = try await running.verify(id, token, nonce: nonce) }
            // With only the old set, the new token's key is not found.
            await #expect(throws: Rejection.keyNotFound) {
                try await running.verify(id, tokens[1].token, nonce: tokens[1].nonce, with: keysBefore)
            }
            _ = try await running.ask("POST", "/rotate")
            tokens.append(try await running.token(id))
            #expect(try await running.keys(id).keys.count == 2)
            for (token, nonce) in tokens.dropFirst() { _ = try await running.verify(id, token, nonce: nonce) }
            await #expect(throws: Rejection.keyNotFound) {
                try await running.verify(id, tokens[0].token, nonce: tokens[0].nonce)
            }
        }
    }

    @Test func `a rotation in place keeps the kid, and is one provider's`() async throws {
        try await Running.run { running async throws in
            let (before, other) = (try await running.keys("apple"), try await running.keySet("google"))
            _ = try await running.ask("POST", "/rotate", #"{"provider":"apple","in_place":true}"#)
            let after = try await running.keys("apple")
            #expect(after.keys.map(\.keyID) == before.keys.map(\.keyID))
            #expect(after.keys.map(\.thumbprint) != before.keys.map(\.thumbprint))
            #expect(try await running.keySet("google") == other)
            let (token, nonce) = try await running.token("apple")
            await #expect(throws: Rejection.signatureInvalid) {
                try await running.verify("apple", token, nonce: nonce, with: before)
            }
        }
    }

    @Test func `key sets can be thin or empty, until a reset`() async throws {
        try await Running.run { running async throws in
            _ = try await running.ask("POST", "/rotate")
            let all = try await running.keySet("apple").object?["keys"]?.array ?? []
            _ = try await running.page("POST", "/faults", #"{"fault":"thin_keys"}"#)
            #expect(try await running.keySet("apple").object?["keys"] == .array([all[1]]))
            _ = try await running.page("POST", "/faults", #"{"fault":"no_keys","provider":"apple"}"#)
            #expect(try await running.keySet("apple").object?["keys"] == .array([]))
            #expect(try await running.keySet("google").object?["keys"]?.array?.count == 1)
            _ = try await running.ask("POST", "/reset")
            #expect(try await running.keySet("apple").object?["keys"]?.array == all)
        }
    }

    @Test func `what is down answers 503, but tokens by one call`() async throws {
        try await Running.run { running async throws in
            _ = try await running.page("POST", "/faults", #"{"fault":"down","provider":"google"}"#)
            #expect(try await running.ask("GET", "/google/keys").status == 503)
            #expect(try await running.ask("GET", "/apple/keys").status == 200)
            _ = try await running.token("google")
            _ = try await running.page("POST", "/faults", #"{"fault":"down","on":false}"#)
            #expect(try await running.ask("GET", "/google/keys").status == 200)
        }
    }

    @Test func `clocks and issuers can be wrong`() async throws {
        try await Running.run { running async throws in
            let now = try #require(try claims(of: try await running.token("apple").token)["iat"]?.integer)
            let faults: [(body: String, check: ([String: JSONTree]) -> Bool)] = [
                (#"{"fault":"clock_ahead","seconds":5000}"#, { ($0["iat"]?.integer ?? 0) >= now + 5000 }),
                (#"{"fault":"clock_behind","seconds":5000}"#, { ($0["iat"]?.integer ?? now) < now - 4000 }),
                (#"{"fault":"expired_tokens"}"#, { ($0["exp"]?.integer ?? now) < now }),
                (#"{"fault":"wrong_issuer"}"#, { $0["iss"] == .string(running.issuer.origin + "/apple/another") }),
            ]
            for (body, check) in faults {
                _ = try await running.page("POST", "/faults", body)
                #expect(check(try claims(of: try await running.token("apple").token)), "\(body)")
                _ = try await running.ask("POST", "/reset")
            }
        }
    }

    @Test func `its keys are new at each start, differ between its providers, are public only, and marked`()
        async throws
    {
        var moduli: Set<String> = []
        for _ in 0..<2 {
            try await Running.run { running async throws in
                for id in Self.ids {
                    for key in try await running.keySet(id).object?["keys"]?.array ?? [] {
                        let members = try #require(key.object)
                        #expect(members.keys.sorted() == ["alg", "e", "kid", "kty", "n", "use"])
                        #expect(members["kid"]?.string?.hasPrefix("assay-dev-") == true)
                        moduli.insert(try #require(members["n"]?.string))
                    }
                }
            }
        }
        #expect(moduli.count == 4)
    }

    @Test func `one provider's token is not the other's`() async throws {
        try await Running.run { running async throws in
            let (token, nonce) = try await running.token("google")
            await #expect(throws: Rejection.keyNotFound) { try await running.verify("apple", token, nonce: nonce) }
        }
    }

    // MARK: Notifications

    @Test(arguments: [
        ("apple", "consent-revoked", NotifiedEvent.EventType.consentRevoked),
        ("apple", "email-disabled", .emailRelayDisabled), ("google", "logout", .loggedOut),
        ("google", "account-disabled", .accountDisabled), ("google", "made-up", .other),
    ])
    func `notifications are as the provider sends them`(
        id: String, type: String, expected: NotifiedEvent.EventType
    ) async throws {
        try await Running.run { running async throws in
            let answer = try await running.ask("POST", "/\(id)/notification", #"{"type":"\#(type)"}"#).json.object
            let sent = try #require((answer?["payload"] ?? answer?["token"])?.string)
            let claimed = try #require(try claims(of: sent)["iat"]?.integer)
            let policy = try #require(ProviderPreset.named(id)).policy(
                id: id, issuer: running.issuer.origin + "/\(id)", audiences: ["client"])
            let verified = try IDTokenVerifier().jwsVerifier.verifyNotification(
                UnverifiedToken(sent), with: try await running.keys(id), algorithms: .all, under: policy,
                NotificationRules(kinds: NotificationKind.allCases), now: UnixTime(seconds: claimed))
            #expect(verified.events.map(\.type) == [expected])
            let token = try await running.token(id).token
            #expect(verified.events.first?.subject == (try claims(of: token)["sub"]?.string))
        }
    }

    @Test func `a notification is delivered on this machine only`() async throws {
        try await Running.run { running async throws in
            func deliver(_ url: String) async throws -> (status: Int, json: JSONTree) {
                try await running.ask("POST", "/apple/notification", #"{"type":"account-deleted","to":"\#(url)"}"#)
            }
            #expect(try await deliver("http://localhost/hook").json.object?["delivered"] == .integer(204))
            #expect(try await deliver("http://evil.example/hook").status == 400)
        }
    }

    // MARK: Requests

    @Test func `what it does not know it says so`() async throws {
        let requests: [(method: String, path: String, body: String, status: Int)] = [
            ("GET", "/nothing", "", 404), ("GET", "/apple", "", 404), ("GET", "/apple/", "", 404),
            ("GET", "/microsoft/keys", "", 404),
            ("POST", "/apple/keys", "", 404), ("GET", "/apple/token", "", 404), ("GET", "/rotate", "", 405),
            ("GET", "/applex/keys", "", 404), ("POST", "/apple/token", "nonsense", 400),
            ("POST", "/apple/token", "[]", 400), ("POST", "/apple/token", #"{"nonse":"a"}"#, 400),
            ("POST", "/apple/token", #"{"nonce":"a","nonce":"b"}"#, 400),
            ("POST", "/apple/token", #"{"person":"nobody"}"#, 400),
            ("POST", "/apple/token", #"{"person":{"mail":"x"}}"#, 400),
            ("POST", "/apple/token", #"{"audience":"other"}"#, 400), ("POST", "/apple/token", #"{"claims":1}"#, 400),
            ("POST", "/faults", "{}", 400), ("POST", "/faults", #"{"fault":"rain"}"#, 400),
            ("POST", "/faults", #"{"fault":"down","provider":"x"}"#, 400),
            ("POST", "/faults", #"{"fault":"down","seconds":1}"#, 400),
            ("POST", "/faults", #"{"fault":"slow","seconds":-1}"#, 400), ("POST", "/reset", #"{"all":true}"#, 400),
        ]
        try await Running.run { running async throws in
            for (method, path, body, status) in requests {
                let answer = try await running.ask(method, path, body)
                #expect(answer.status == status, "\(method) \(path) \(body)")
                #expect(answer.json.object?["error"]?.string?.isEmpty == false)
            }
        }
    }

    @Test(arguments: ["evil.example", "127.0.0.1.evil.example:9400", "192.0.2.1", "10.0.0.1:9400"])
    func `a request for another host is refused`(host: String) async throws {
        try await Running.run { running async throws in
            #expect(try await running.ask("POST", "/apple/token", "{}", ["Host": host]).status == 421)
            #expect(try await running.page("GET", "/", "", ["Host": host]).status == 421)
            #expect(try await running.page("GET", "/", "", ["Host": "idp.test:9400"]).status == 200)
        }
    }

    @Test func `a page of another site can't sign anything`() async throws {
        try await Running.run { running async throws in
            for site in ["cross-site", "same-site"] {
                let answer = try await running.ask("POST", "/apple/token", "{}", ["Sec-Fetch-Site": site])
                #expect(answer.status == 403)
            }
            for origin in ["http://evil.example", "null", "https://127.0.0.1"] {
                #expect(try await running.ask("POST", "/apple/token", "{}", ["Origin": origin]).status == 403)
            }
            let own = "http://\(running.issuer.address)"
            #expect(try await running.ask("POST", "/apple/token", "{}", ["Origin": own]).status == 200)
            #expect(
                try await running.ask("POST", "/apple/token", "{}", ["Sec-Fetch-Site": "same-origin"]).status == 200)
        }
    }

    @Test func `a token is shown beside what the service says of it`() async throws {
        try await Running.run { running async throws in
            let form: HTTPHeaders = ["Content-Type": "application/x-www-form-urlencoded"]
            let (status, bytes) = try await running.page("POST", "/apple/native", "person=robin", form)
            let page = String(decoding: bytes, as: UTF8.self)
            #expect(status == 200)
            #expect(page.contains("token_expired") && page.contains("&quot;email&quot;: &quot;robin@example.org&quot;"))
            for why in ["The token expired.", "Get another.", "after now", "before now"] { #expect(page.contains(why)) }
            let bad = try await running.ask("POST", "/apple/native", "claims=nonsense", form)
            #expect(bad.status == 400)
        }
    }

    @Test func `it listens at the port that was asked for`() async throws {
        try await Running.run { running async throws in
            let port = try #require(Int(running.issuer.address.split(separator: ":").last ?? ""))
            #expect(running.issuer.address == "127.0.0.1:\(port)")
            let calls = DevCalls(deliversAnywhere: false) { _, _ in
                nil
            } explain: { _ in
                nil
            } deliver: { _, _, _ in
                nil
            }
            await #expect(throws: (any Error).self) {
                try await DevProviderServer.start(.network(host: "127.0.0.1", port: port), calls: calls)
            }
        }
    }
}
