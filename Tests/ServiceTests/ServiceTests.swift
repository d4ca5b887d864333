import HTTP
import JOSE
import NIOHTTP1
@testable import Service
import Testing
import TestSupport

@Suite struct ServiceTests {
    // MARK: Verifying

    @Test func `an answer has every member of the contract, and no other`() async throws {
        try await ServiceFixture.run { service async throws in
            try await service.fetchKeys()
            let response = try await service.verify(ServiceFixture.token())
            #expect(response.status == .ok)
            #expect(response.contentType?.description == "application/json")
            let json = try response.json
            #expect(json.keys.sorted() == ["identity", "keys", "token"])
            #expect(
                json["identity"]?.object?.keys.sorted() == [
                    "email", "email_trust", "email_verified", "family_name", "given_name", "hosted_domain",
                    "is_private_email",
                    "issuer", "locale", "name", "name_source", "picture", "preferred_username", "provider",
                    "real_user_status", "subject", "tenant", "transfer_subject",
                ])
            #expect(
                json["token"]?.object?.keys.sorted() == [
                    "acr", "algorithm", "amr", "audience", "auth_time", "authorized_party", "expires_at", "issued_at",
                    "key_id",
                    "nonce_match", "not_before", "session_id", "token_id",
                ])
            #expect(json["identity"]?.object?["subject"] == .string("subject"))
            #expect(json["token"]?.object?["amr"] == .array([]))
            #expect(json["token"]?.object?["key_id"] == .string("p256"))
            #expect(json["keys"]?.object?["source"] == .string("network"))
            #expect(json["keys"]?.object?["stale"] == .bool(false))
            #expect(json["keys"]?.object?["age_seconds"]?.integer.map { (0...60).contains($0) } == true)
            let withClaims = try await service.verify(ServiceFixture.token(), #","include_claims":true"#).json
            #expect(withClaims.keys.sorted() == ["claims", "identity", "keys", "token"])
        }
    }

    @Test func `claims come back as they were written`() async throws {
        try await ServiceFixture.run { service async throws in
            try await service.fetchKeys()
            let claims = ServiceFixture.claims.with(
                "x", #"[1e3,1.50,9007199254740993,12345678901234567890,"\u00e9\/"]"#)
            let response = try await service.verify(ServiceFixture.token(claims), #","include_claims":true"#)
            #expect(response.text.hasSuffix(",\"claims\":\(claims.json)}"))
        }
    }

    @Test(
        arguments: [
            (#","provider":"p""#, nil), (#","provider":"P""#, "provider_unknown"), (#","audience":"client""#, nil),
            (#","audience":"other-client""#, "audience_mismatch"),
            (#","audience":"third-client""#, "audience_not_configured"),
            (#","nonce":"n""#, "nonce_missing"), (#","access_token":"t""#, "at_hash_missing"),
            (#","code":"c""#, "c_hash_missing"),
            (#","nonse":"n""#, "request_invalid"), (#","max_age":600"#, nil),
        ] as [(String, String?)])
    func `what the request says beside the token counts`(more: String, code: String?) async throws {
        try await ServiceFixture.run { service async throws in
            try await service.fetchKeys()
            #expect(try await service.verify(ServiceFixture.token(), more).code == code)
        }
    }

    @Test func `no answer repeats what was sent`() async throws {
        try await ServiceFixture.run { service async throws in
            try await service.fetchKeys()
            let canary = "kanarienvogel"
            let bad = ServiceFixture.claims.with("aud", "\"\(canary)\"").with("email", "\"\(canary)@example.com\"")
            let tokens = [ServiceFixture.token(bad), ServiceFixture.token(bad, by: .otherP256), canary]
            for token in tokens {
                for more in [
                    #","nonce":"\#(canary)","code":"\#(canary)""#, #","unheard_of":"\#(canary)""#,
                    #","provider":"\#(canary)""#,
                ] {
                    let response = try await service.verify(token, more)
                    #expect(response.status != .ok)
                    #expect(!response.text.contains(canary))
                    #expect(!response.text.contains(token))
                    for part in token.split(separator: ".") { #expect(!response.text.contains(part)) }
                }
            }
        }
    }

    // MARK: Batches

    @Test func `a batch is answered in order, and one bad item fails no other`() async throws {
        try await ServiceFixture.run { service async throws in
            try await service.fetchKeys()
            await service.fetcher.answer(with: .success([.p256]))
            let good = #"{"id_token":"\#(ServiceFixture.token())"}"#
            let late = #"{"id_token":"\#(ServiceFixture.token(by: .otherP256))"}"#
            let response = try await service.send(
                "POST", "/v1/verify/batch", "{\"items\":[\(good),5,\(late),{},\(good)]}")
            #expect(response.status == .ok)
            let results = try #require(try response.json["results"]?.array)
            let codes = results.map { $0.object?["error"]?.object?["code"]?.string ?? "ok" }
            #expect(codes == ["ok", "request_invalid", "key_not_found", "request_invalid", "ok"])
            #expect(
                results.compactMap { $0.object?["error"]?.object?["request_id"]?.string }
                    == Array(repeating: response.requestID, count: 3))
            #expect(try await service.metrics().verifications[.init(provider: 0, code: "ok")] == 2)
        }
    }

    @Test(arguments: [(0, 400), (1, 200), (256, 200), (257, 400)] as [(Int, UInt)])
    func `a batch has 1 to 256 items`(count: Int, status: UInt) async throws {
        try await ServiceFixture.run { service async throws in
            let items = Array(repeating: #"{"id_token":"x"}"#, count: count).joined(separator: ",")
            #expect(try await service.send("POST", "/v1/verify/batch", "{\"items\":[\(items)]}").status.code == status)
        }
    }

    @Test(arguments: [
        "{}", #"{"items":{}}"#, #"{"items":null}"#, #"{"items":[{"id_token":"x"}],"more":1}"#, #"[{"id_token":"x"}]"#,
    ])
    func `a batch is nothing else`(body: String) async throws {
        try await ServiceFixture.run { service async throws in
            #expect(try await service.send("POST", "/v1/verify/batch", body).code == "request_invalid")
        }
    }
}
