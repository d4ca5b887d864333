import HTTP
import IDToken
import JOSE
import Keys
import NIOHTTP1
@testable import Service
import Testing
import TestSupport
import TokenDiagnostics

/// `POST /v1/explain` on the admin listener.
@Suite struct ExplainTests {
    private static let members: Set<String> = [
        "valid", "provider", "code", "summary", "time", "checks", "keys",
        "likely_cause", "token",
    ]
    private static let checkMembers: Set<String> = [
        "name", "state", "code", "expected", "found", "explanation", "fix",
    ]

    private func explain(
        _ service: ServiceFixture, _ token: String, _ more: String = ""
    ) async throws -> [String: JSONTree] {
        let response = try await service.send(
            "POST", "/v1/explain", #"{"id_token":"\#(token)"\#(more)}"#, toAdmin: true)
        #expect(response.status == .ok, "\(response.text)")
        let answer = try response.json
        #expect(Set(answer.keys) == Self.members)
        let checks = (answer["checks"]?.array ?? []).compactMap(\.object)
        #expect(checks.map { $0["name"]?.string } == CheckName.ofIDTokens.map(\.rawValue))
        #expect(checks.allSatisfy { Set($0.keys) == Self.checkMembers })
        #expect(checks.allSatisfy { ($0["state"] == .string("failed")) == ($0["code"] != .null) })
        return answer
    }

    private func check(_ answer: [String: JSONTree], _ name: Check.Name) -> [String: JSONTree] {
        let checks = (answer["checks"]?.array ?? []).compactMap(\.object)
        return checks.first { $0["name"]?.string == name.rawValue } ?? [:]
    }

    @Test func `a valid token is reported as valid`() async throws {
        try await ServiceFixture.run { service in
            try await service.fetchKeys()
            let answer = try await explain(service, ServiceFixture.token())
            #expect(answer["valid"] == .bool(true))
            #expect(answer["code"] == .null)
            #expect(answer["provider"] == .string("p"))
            let keys = try #require(answer["keys"]?.object)
            #expect(keys["state"] == .string("ready"))
            #expect(keys["source"] == .string("network"))
            #expect(keys["last_error"] == .null)
            #expect(
                Set(keys.keys) == [
                    "state", "source", "fetched_at", "next_fetch_at", "clock_offset_seconds", "last_error",
                ])
        }
    }

    /// The explanation's first failed check has the same code as the answer of verify.
    @Test func `it agrees with what verify answers`() async throws {
        try await ServiceFixture.run { service in
            try await service.fetchKeys()
            let claims = ServiceFixture.claims
            let cases: [(String, String)] = [
                (ServiceFixture.token(), ""), (ServiceFixture.token(), #","nonce":"n""#),
                (ServiceFixture.token(claims.with("nonce", #""n""#)), ""),
                (ServiceFixture.token(claims.with("exp", "1")), ""),
                (ServiceFixture.token(claims.with("aud", #""x""#)), ""),
                (ServiceFixture.token(claims.with("aud", #""x""#)), #","provider":"p""#),
                (ServiceFixture.token(claims.with("iss", #""x""#)), ""),
                (ServiceFixture.token(claims.with("iss", #""x""#)), #","provider":"p""#),
                (ServiceFixture.token(claims.without("iss")), ""),
                (ServiceFixture.token(claims.without("sub")), ""),
                (ServiceFixture.token(by: .otherP256), ""), (ServiceFixture.token(by: .rsa), ""),
                (ServiceFixture.token(), #","audience":"other-client""#),
                (ServiceFixture.token(), #","access_token":"a""#), (ServiceFixture.token(), #","code":"a""#),
                (ServiceFixture.token(), #","max_age":0"#), ("x", ""), ("", ""), ("x", #","provider":"p""#),
                ("a.b.c.d.e", ""),
            ]
            await service.fetcher.answer(with: .success([.p256]))
            for (token, more) in cases {
                let verified = try await service.verify(token, more)
                let answer = try await explain(service, token, more)
                #expect(answer["code"]?.string == (try verified.code), "\(more)")
                #expect((answer["valid"] == .bool(true)) == (verified.status == .ok))
            }
        }
    }

    @Test func `what is wrong with the request is its own problem`() async throws {
        try await ServiceFixture.run { service in
            try await service.fetchKeys()
            let token = ServiceFixture.token()
            for (body, code) in [
                ("", "request_invalid"), ("{}", "request_invalid"), (#"{"id_token":5}"#, "request_invalid"),
                (#"{"id_token":"x","nonse":"n"}"#, "request_invalid"),
                (#"{"id_token":"x","nonce":""}"#, "request_invalid"),
                (#"{"id_token":"x","provider":"q"}"#, "provider_unknown"),
                (#"{"id_token":"\#(token)","provider":"q"}"#, "provider_unknown"),
                (#"{"id_token":"\#(token)","audience":"q"}"#, "audience_not_configured"),
            ] {
                let response = try await service.send("POST", "/v1/explain", body, toAdmin: true)
                #expect(try response.code == code, "\(body)")
                let verified = try await service.send("POST", "/v1/verify", body)
                #expect(try verified.code == code && verified.status == response.status)
            }
            let text = try await service.send(
                "POST", "/v1/explain", "{}", headers: ["Content-Type": "text/plain"], toAdmin: true)
            #expect(try text.code == "content_type_unsupported")
            #expect(try await service.send("GET", "/v1/explain", toAdmin: true).code == "method_not_allowed")
        }
    }

    @Test func `it is for operators, on their listener`() async throws {
        let digest: [UInt8] = octets(hex: "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b")
        try await ServiceFixture.run {
            $0.operatorKeys = CallerKeys(digests: [digest])
        } _: { service in
            let body = #"{"id_token":"x"}"#
            #expect(try await service.send("POST", "/v1/explain", body).code == "not_found")
            #expect(try await service.send("POST", "/v1/explain", body, toAdmin: true).code == "caller_unauthenticated")
            let admitted = try await service.send(
                "POST", "/v1/explain", body,
                headers: ["Content-Type": "application/json", "Authorization": "Bearer secret"], toAdmin: true)
            #expect(admitted.status == .ok)
        }
    }

    @Test func `keys are fetched where a verification would have them fetched`() async throws {
        try await ServiceFixture.run { service in
            await service.fetcher.answer(with: .success([.p256]))
            let junk = try await explain(service, ServiceFixture.token(ServiceFixture.claims.with("exp", "1")))
            #expect(await service.fetcher.calls == 0)
            #expect(junk["code"] == .string("keys_unavailable"))
            #expect(check(junk, .signature)["state"] == .string("not_reached"))
            #expect(check(junk, .expiry)["code"] == .string("token_expired"))
            #expect(junk["keys"]?.object?["state"] == .string("unavailable"))

            #expect(try await explain(service, ServiceFixture.token())["valid"] == .bool(true))
            #expect(await service.fetcher.calls == 1)
        }
    }

    @Test func `unavailable keys are reported with the reason`() async throws {
        try await ServiceFixture.run { service in
            await service.fetcher.answer(with: .failure(FetchFailure(.dns, "the host name does not exist")))
            let answer = try await explain(service, ServiceFixture.token())
            #expect(answer["code"] == .string("keys_unavailable"))
            #expect(check(answer, .audience)["state"] == .string("passed"))
            let error = try #require(answer["keys"]?.object?["last_error"]?.object)
            #expect(error["message"] == .string("the host name does not exist"))
        }
    }

    @Test func `the cause comes first, and personal claims are masked`() async throws {
        try await ServiceFixture.run { service in
            try await service.fetchKeys()
            let good = try await explain(service, ServiceFixture.token())
            #expect(good["likely_cause"] == .null)
            let token = try #require(good["token"]?.object)
            let header = (token["header"]?.array ?? []).compactMap(\.object)
            #expect(header.contains(["name": .string("alg"), "value": .string("ES256"), "masked": .bool(false)]))
            let claims = (token["claims"]?.array ?? []).compactMap(\.object)
            #expect(claims.first { $0["name"] == .string("sub") }?["masked"] == .bool(true))

            let expired = try await explain(service, ServiceFixture.token(ServiceFixture.claims.with("exp", "1")))
            let cause = try #require(expired["likely_cause"]?.object)
            #expect(cause["check"] == .string("expiry"))
            #expect(cause["explanation"] == check(expired, .expiry)["explanation"])
            #expect(cause["fix"] == check(expired, .expiry)["fix"])
            #expect(try await explain(service, "x")["token"] == .null)
        }
    }

    @Test func `a key that could not be fetched is reported as by verify, with the reason`() async throws {
        try await ServiceFixture.run { service in
            try await service.fetchKeys()
            await service.fetcher.answer(with: .failure(FetchFailure(.dns, "the host name does not exist")))
            let token = ServiceFixture.token(by: .otherP256)
            let answer = try await explain(service, token)
            #expect(answer["code"] == .string("keys_unavailable"))
            #expect(check(answer, .key)["code"] == .string("keys_unavailable"))
            let explanation = try #require(check(answer, .key)["explanation"]?.string)
            #expect(explanation.contains("could not be fetched: the host name does not exist;"), "\(explanation)")
            #expect(try await service.verify(token).code == "keys_unavailable")
            // No key is fetched for a token that could not pass.
            let junk = ServiceFixture.token(ServiceFixture.claims.with("exp", "1"), by: .otherP256)
            #expect(try await explain(service, junk)["code"] == .string("key_not_found"))
        }
    }

    @Test func `a key fetch that takes too long is reported`() async throws {
        try await ServiceFixture.run({ $0.keysTimeout = Interval(milliseconds: 50) }) { service in
            try await service.fetchKeys()
            let answer = try await explain(service, ServiceFixture.token(by: .otherP256))
            #expect(answer["code"] == .string("keys_unavailable"))
            #expect(check(answer, .key)["explanation"]?.string?.contains("the fetch took too long") == true)
        }
    }

    @Test func `an explanation counts as a request, not as a verification`() async throws {
        try await ServiceFixture.run { service in
            try await service.fetchKeys()
            _ = try await explain(service, ServiceFixture.token())
            _ = try await explain(service, "x")
            #expect(try await service.metricLines("assay_verifications_total").isEmpty)
            let lines = try await service.metricLines("assay_http_requests_total")
            #expect(lines.contains { $0.contains(#"route="/v1/explain""#) && $0.hasSuffix(" 2") }, "\(lines)")
        }
    }

    @Test func `an explanation of an expired token compares the clock with the provider's`() async throws {
        try await ServiceFixture.run { service in
            await service.fetcher.set(clockOffset: 42)
            try await service.fetchKeys()
            let expired = ServiceFixture.claims.with("exp", "\(SystemClocks.unixSeconds() - 100)")
            let answer = try await explain(service, ServiceFixture.token(expired))
            #expect(answer["keys"]?.object?["clock_offset_seconds"] == .integer(42))
            let explanation = check(answer, .expiry)["explanation"]?.string
            #expect(explanation?.contains("this machine's clock, which is 42 s behind the provider's") == true)
        }
    }
}
