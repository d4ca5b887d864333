import HTTP
import JOSE
import NIOHTTP1
import OpenSSL
@testable import Service
import Testing
import TestSupport

@Suite struct ServiceRequestTests {
    @Test(
        arguments: [
            ("application/json", 422), ("application/json; charset=utf-8", 422),
            ("Application/JSON;Charset=\"UTF-8\"", 422),
            ("application/json;charset=latin1", 415), ("application/json; x=y", 415), ("text/json", 415),
            ("application/jsonx", 415),
            ("application/x-www-form-urlencoded", 415), ("", 415), ("application/json, text/html", 415),
        ] as [(String, UInt)])
    func `a body is JSON in UTF-8 and says so`(contentType: String, status: UInt) async throws {
        try await ServiceFixture.run { service async throws in
            let response = try await service.send(
                "POST", "/v1/verify", #"{"id_token":"x"}"#, headers: ["Content-Type": contentType])
            #expect(response.status.code == status)
        }
    }

    @Test func `a body without a type, or packed, is refused`() async throws {
        try await ServiceFixture.run { service async throws in
            #expect(try await service.send("POST", "/v1/verify", "{}", headers: [:]).code == "content_type_unsupported")
            let packed: KeyValuePairs<String, String> = [
                "Content-Type": "application/json", "Content-Encoding": "gzip",
            ]
            #expect(
                try await service.send("POST", "/v1/verify", "{}", headers: packed).code == "content_type_unsupported")
        }
    }

    private static let bodies: [[UInt8]] =
        [
            "", " ", "null", "[]", "\"x\"", "{", #"{"id_token":"x"}}"#, #"{"id_token":"x"}{}"#,
            #"{"id_token":"x","id_token":"y"}"#,
            #"{"id_token":"x","id_t\u006fken":"y"}"#, #"{"id_token":"\ud800"}"#, #"{'id_token':'x'}"#,
            #"{"id_token":"x",}"#,
        ].map { Array($0.utf8) } + [
            [0xef, 0xbb, 0xbf] + Array(#"{"id_token":"x"}"#.utf8),
            Array("{\"id_token\":\"".utf8) + [0x80] + Array("\"}".utf8),
            Array("{\"id_token\":\"x\"}".utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }),
            Array(#"{"id_token":"x"}"#.utf8) + [0],
        ]

    @Test(arguments: bodies)
    func `a body that is not a strict JSON object is rejected`(body: [UInt8]) async throws {
        try await ServiceFixture.run { service async throws in
            #expect(try await service.send("POST", "/v1/verify", body).code == "request_invalid")
            #expect(try await service.send("POST", "/v1/verify/batch", body).code == "request_invalid")
        }
    }

    @Test func `an API key is required only if one is configured`() async throws {
        let digest = try DigestContext().digest(Array("secret".utf8).span, with: .sha256)
        try await ServiceFixture.run({ $0.callerKeys = CallerKeys(digests: [digest]) }) { service async throws in
            let refused = try await service.verify("x")
            #expect(try refused.code == "caller_unauthenticated")
            #expect(refused.headers.contains { "\($0.name)" == "WWW-Authenticate" })
            let headers: KeyValuePairs<String, String> = [
                "Content-Type": "application/json", "Authorization": "Bearer secret",
            ]
            #expect(
                try await service.send("POST", "/v1/verify", #"{"id_token":"x"}"#, headers: headers).code
                    == "token_malformed")
            #expect(
                try await service.send("POST", "/v1/verify/batch", #"{"items":[]}"#).code == "caller_unauthenticated")
            #expect(try await service.send("GET", "/livez").status == .ok)
            #expect(try await service.send("GET", "/openapi.yaml").status == .ok)
        }
    }

    @Test(arguments: ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
    func `a path answers its own method only`(method: String) async throws {
        try await ServiceFixture.run { service async throws in
            let headers: KeyValuePairs<String, String> = [
                "Content-Type": "application/json", "X-HTTP-Method-Override": "POST",
            ]
            let response = try await service.send(method, "/v1/verify", "{}", headers: headers)
            #expect(try response.code == "method_not_allowed")
            #expect(response.headers.first { "\($0.name)" == "Allow" }?.value == "POST")
        }
    }

    @Test func `request ids go through, and what goes on is counted`() async throws {
        try await ServiceFixture.run { service async throws in
            let headers: KeyValuePairs<String, String> = ["X-Request-Id": "mine"]
            let response = try await service.send("GET", "/nowhere", headers: headers)
            #expect(response.requestID == "mine")
            #expect(try response.json["request_id"] == .string("mine"))
            _ = try await service.send("GET", "/another")
            let metrics = try await service.metrics()
            #expect(metrics.requests[.init(route: .unknown, status: 404)] == 2)
            #expect(metrics.verifyDurations.count == 0)
        }
    }
}
