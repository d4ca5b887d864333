import AsyncHTTPClient
import IDToken
import JOSE
import JSON
import NIOCore
import NIOHTTP1
import Testing

@testable import DevProvider

/// A running development provider, and requests to it.
private struct Running {
    let issuer: DevProviderServer

    static func run(_ body: (Running) async throws -> Void) async throws {
        let issuer = try await DevProviderServer.start(port: 0)
        do {
            try await body(Running(issuer: issuer))
        } catch {
            await issuer.stop()
            throw error
        }
        await issuer.stop()
    }

    func ask(_ method: String, _ path: String, _ body: String = "") async throws -> (status: Int, json: JSONTree) {
        var request = HTTPClientRequest(url: "http://\(issuer.address)\(path)")
        request.method = .init(rawValue: method)
        if !body.isEmpty { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(20))
        let bytes = try await response.body.collect(upTo: 1 << 20)
        return (Int(response.status.code), try JSONTree(readingObject: Array(bytes.readableBytesView)))
    }

    func keySet(_ kind: DevProviderKind) async throws -> JSONTree {
        try await ask("GET", "/\(kind.rawValue)/keys").json
    }

    func keys(_ kind: DevProviderKind) async throws -> JWKSet { try JWKSet(Array(json(try await keySet(kind)).utf8)) }

    func token(_ kind: DevProviderKind, _ body: String = "") async throws -> (token: String, nonce: String) {
        let answer = try await ask("POST", "/\(kind.rawValue)/token", body).json.object
        return (try #require(answer?["id_token"]?.string), try #require(answer?["nonce"]?.string))
    }

    /// The policy of a relying party that uses the preset for this kind of provider.
    func policy(_ kind: DevProviderKind) throws -> ProviderPolicy {
        try #require(ProviderPreset.named(kind.rawValue)).policy(
            id: "dev", issuer: issuer.issuer(of: kind), audiences: [DevProviderServer.audience(of: kind)])
    }

    func verify(
        _ kind: DevProviderKind, _ token: String, nonce: String?, with keys: JWKSet? = nil
    ) async throws -> VerifiedIDToken {
        let verifier = try IDTokenVerifier()
        let read = try verifier.read(Array(token.utf8)[...])
        let issuedAt = try #require(try claims(of: token)["iat"]?.integer)
        var parameters = VerificationParameters()
        parameters.nonce = nonce
        let keySet = if let keys { keys } else { try await self.keys(kind) }
        return try verifier.verify(
            read, with: keySet, under: policy(kind), expecting: parameters, now: UnixTime(seconds: issuedAt + 1))
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
    @Test(arguments: DevProviderKind.allCases)
    func `its tokens verify with the keys it publishes, under the preset of its kind`(kind: DevProviderKind)
        async throws
    {
        try await Running.run { running async throws in
            let (token, nonce) = try await running.token(kind)
            let verified = try await running.verify(kind, token, nonce: nonce)
            #expect(verified.identity.issuer == "http://\(running.issuer.address)/\(kind.rawValue)")
            #expect(verified.audiences == [DevProviderServer.audience(of: kind)])
            #expect(verified.nonceMatch == (kind == .apple ? .sha256Hex : .plain))
            #expect(verified.identity.emailTrust == .authoritative)
            #expect(verified.identity.isPrivateEmail == (kind == .apple ? true : nil))
            #expect(verified.expiresAt.seconds - verified.issuedAt.seconds == (kind == .apple ? 86400 : 3600))
        }
    }

    @Test func `its Apple looks like Apple, and its Google like Google`() async throws {
        try await Running.run { running async throws in
            let apple = try await running.token(.apple).token
            #expect(try part(0, of: apple).keys.sorted() == ["alg", "kid"])
            #expect(try claims(of: apple)["email_verified"] == .string("true"))
            #expect(try claims(of: apple)["is_private_email"] == .string("true"))
            #expect(try claims(of: apple)["real_user_status"] == .integer(2))
            let google = try await running.token(.google).token
            #expect(try part(0, of: google)["typ"] == .string("JWT"))
            #expect(try claims(of: google)["email_verified"] == .bool(true))
            #expect(try claims(of: google)["azp"] == .string(DevProviderServer.audience(of: .google)))
        }
    }

    @Test(arguments: DevProviderKind.allCases)
    func `its discovery document is its own`(kind: DevProviderKind) async throws {
        try await Running.run { running async throws in
            let (status, json) = try await running.ask("GET", "/\(kind.rawValue)/.well-known/openid-configuration")
            let issuer = running.issuer.issuer(of: kind)
            #expect(status == 200)
            #expect(json.object?["issuer"] == .string(issuer))
            #expect(json.object?["jwks_uri"] == .string(issuer + "/keys"))
            #expect(json.object?["id_token_signing_alg_values_supported"] == .array([.string("RS256")]))
        }
    }

    @Test func `a nonce is the caller's, or a new one each time`() async throws {
        try await Running.run { running async throws in
            let own = try await running.token(.apple, #"{"nonce":"my raw nonce"}"#)
            #expect(own.nonce == "my raw nonce")
            _ = try await running.verify(.apple, own.token, nonce: "my raw nonce")
            let first = try await running.token(.google)
            let second = try await running.token(.google, "{}")
            #expect(first.nonce != second.nonce)
            #expect(first.nonce.utf8.count == 24)
            await #expect(throws: Rejection.nonceMismatch) {
                try await running.verify(.google, first.token, nonce: second.nonce)
            }
        }
    }

    // MARK: Claims

    @Test func `claims are set, replaced and taken out`() async throws {
        try await Running.run { running async throws in
            let body =
                #"{"nonce":"n","claims":{"sub":"someone","extra":{"a":[1,2.5,null,true]},"email":null,"nonce":null,"exp":5}}"#
            let token = try await running.token(.google, body).token
            let claims = try claims(of: token)
            #expect(claims["sub"] == .string("someone"))
            #expect(claims["extra"] == .object(["a": .array([.integer(1), .real(2.5), .null, .bool(true)])]))
            #expect(claims["email"] == nil)
            #expect(claims["nonce"] == nil)
            #expect(claims["exp"] == .integer(5))
            #expect(claims["iss"] == .string(running.issuer.issuer(of: .google)))
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
                let (token, nonce) = try await running.token(.apple, body)
                await #expect(throws: rejection) { try await running.verify(.apple, token, nonce: nonce) }
            }
        }
    }

    // MARK: Keys

    @Test(arguments: DevProviderKind.allCases)
    func `after a rotation the key before stays published, and the one before that does not`(kind: DevProviderKind)
        async throws
    {
        try await Running.run { running async throws in
            var tokens = [try await running.token(kind)]
            let keysBefore = try await running.keys(kind)
            #expect(keysBefore.keys.count == 1)
            let rotated = try await running.ask("POST", "/rotate")
            #expect(rotated.status == 200)
            #expect(rotated.json == .object(["rotated": .bool(true)]))
            tokens.append(try await running.token(kind))
            for (token, nonce) in tokens { _ = try await running.verify(kind, token, nonce: nonce) }
            // With only the old set, the new token's key is not found.
            await #expect(throws: Rejection.keyNotFound) {
                try await running.verify(kind, tokens[1].token, nonce: tokens[1].nonce, with: keysBefore)
            }
            _ = try await running.ask("POST", "/rotate")
            tokens.append(try await running.token(kind))
            #expect(try await running.keys(kind).keys.count == 2)
            for (token, nonce) in tokens.dropFirst() { _ = try await running.verify(kind, token, nonce: nonce) }
            await #expect(throws: Rejection.keyNotFound) {
                try await running.verify(kind, tokens[0].token, nonce: tokens[0].nonce)
            }
        }
    }

    @Test func `its keys are new at each start, differ between its providers, and are public only`() async throws {
        var moduli: Set<String> = []
        for _ in 0..<2 {
            try await Running.run { running async throws in
                for kind in DevProviderKind.allCases {
                    for key in try await running.keySet(kind).object?["keys"]?.array ?? [] {
                        let members = try #require(key.object)
                        #expect(members.keys.sorted() == ["alg", "e", "kid", "kty", "n", "use"])
                        moduli.insert(try #require(members["n"]?.string))
                    }
                }
            }
        }
        #expect(moduli.count == 4)
    }

    @Test func `one provider's token is not the other's`() async throws {
        try await Running.run { running async throws in
            let (token, nonce) = try await running.token(.google)
            await #expect(throws: Rejection.keyNotFound) { try await running.verify(.apple, token, nonce: nonce) }
        }
    }

    // MARK: Requests

    @Test func `what it does not know it says so`() async throws {
        let requests: [(method: String, path: String, body: String, status: Int)] = [
            ("GET", "/", "", 404), ("GET", "/apple", "", 404), ("GET", "/apple/", "", 404),
            ("GET", "/microsoft/keys", "", 404),
            ("POST", "/apple/keys", "", 404), ("GET", "/apple/token", "", 404), ("GET", "/rotate", "", 405),
            ("GET", "/applex/keys", "", 404), ("POST", "/apple/token", "nonsense", 400),
            ("POST", "/apple/token", "[]", 400),
            ("POST", "/apple/token", #"{"nonce":"a","nonce":"b"}"#, 400),
        ]
        try await Running.run { running async throws in
            for (method, path, body, status) in requests {
                let answer = try await running.ask(method, path, body)
                #expect(answer.status == status, "\(method) \(path)")
                #expect(answer.json.object?["error"]?.string?.isEmpty == false)
            }
        }
    }

    @Test func `it listens on loopback only, at the port that was asked for`() async throws {
        try await Running.run { running async throws in
            let port = try #require(Int(running.issuer.address.split(separator: ":").last ?? ""))
            #expect(running.issuer.address == "127.0.0.1:\(port)")
            await #expect(throws: (any Error).self) { try await DevProviderServer.start(port: port) }
        }
    }
}

private func json(_ tree: JSONTree) -> String {
    var writer = JSONWriter()
    writer.value(tree)
    return String(decoding: writer.bytes, as: UTF8.self)
}
