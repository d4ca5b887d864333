import HTTP
import IDToken
import JOSE
import Keys
import NIOHTTP1
@testable import Service
import Testing
import TestSupport

@Suite struct NotificationTests {
    private static let path: String = "/v1/notifications/verify"
    private static let logout = NotificationRules(kinds: [.logout], issuers: ["https://spelled.example"])

    private static var claims: ClaimsText {
        ServiceFixture.claims.with("jti", #""j1""#)
            .with("events", #"{"http://schemas.openid.net/event/backchannel-logout":{}}"#)
    }

    private func send(
        _ claims: ClaimsText = Self.claims, by key: TestKey = .p256, _ more: String = "", to service: ServiceFixture
    ) async throws -> HTTPResponse {
        let token = ServiceFixture.token(claims, by: key)
        return try await service.send("POST", Self.path, #"{"token":"\#(token)"\#(more)}"#)
    }

    @Test func `the path is there only where a provider lists kinds`() async throws {
        try await ServiceFixture.run { service async throws in
            #expect(try await send(to: service).code == "not_found")
            #expect(try await service.send("GET", Self.path).code == "not_found")
        }
        try await ServiceFixture.run(notifications: Self.logout) { service async throws in
            #expect(try await service.send("GET", Self.path).code == "method_not_allowed")
        }
    }

    @Test func `a notification is answered with its events`() async throws {
        try await ServiceFixture.run(notifications: Self.logout) { service async throws in
            try await service.fetchKeys()
            let response = try await send(to: service)
            #expect(response.status == .ok)
            let issuedAt = try #require(try response.json["notification"]?.object?["issued_at"])
            #expect(
                response.text.hasPrefix(
                    #"{"notification":{"provider":"p","issuer":"https://issuer.example","kind":"logout","id":"j1","issued_at":\#(json(issuedAt))},"#
                        + #""events":[{"type":"logged_out","subject":"subject","session_id":null,"email":null,"is_private_email":null,"occurred_at":null,"reason":null,"data":{}}],"#
                        + #""keys":{"source":"network","age_seconds":"#))
            #expect(
                try await service.metricLines("assay_notifications_total") == [
                    #"assay_notifications_total{provider="p",kind="logout",code="ok"} 1"#
                ])
            // It is no verification of an ID Token.
            #expect(try await service.metricLines("assay_verifications_total").isEmpty)
        }
    }

    @Test func `the metric is there only where a provider lists kinds`() async throws {
        try await ServiceFixture.run { service async throws in
            #expect(try await service.metricLines("# TYPE assay_notifications_total").isEmpty)
        }
        try await ServiceFixture.run(notifications: Self.logout) { service async throws in
            #expect(try await service.metricLines("# TYPE assay_notifications_total").count == 1)
        }
    }

    @Test func `refusals are counted by their code`() async throws {
        try await ServiceFixture.run(notifications: Self.logout) { service async throws in
            try await service.fetchKeys()
            #expect(try await send(Self.claims.without("jti"), to: service).code == "claim_missing")
            #expect(try await send(Self.claims.with("iss", #""x""#), to: service).code == "provider_unknown")
            #expect(
                try await service.metricLines("assay_notifications_total") == [
                    #"assay_notifications_total{provider="",kind="",code="provider_unknown"} 1"#,
                    #"assay_notifications_total{provider="p",kind="",code="claim_missing"} 1"#,
                ])
        }
    }

    @Test func `the provider is named, or found by a spelling of its issuer`() async throws {
        try await ServiceFixture.run(notifications: Self.logout) { service async throws in
            try await service.fetchKeys()
            let spelled = Self.claims.with("iss", #""https://spelled.example""#)
            let response = try await send(spelled, to: service)
            #expect(try response.json["notification"]?.object?["issuer"] == .string(ServiceFixture.issuer))
            #expect(try await send(spelled, #","provider":"p""#, to: service).status == .ok)
            #expect(try await send(spelled, #","provider":"q""#, to: service).code == "provider_unknown")
            let strange = Self.claims.with("iss", #""https://spelled.example/""#)
            #expect(try await send(strange, to: service).code == "provider_unknown")
            #expect(try await send(strange, #","provider":"p""#, to: service).code == "issuer_mismatch")
            // The spelling is that of notifications only.
            #expect(try await service.verify(ServiceFixture.token(spelled)).code == "provider_unknown")
        }
    }

    @Test func `notifications wait for keys, and share a fetch with ID Tokens`() async throws {
        try await ServiceFixture.run(notifications: Self.logout) { service async throws in
            async let first = send(to: service)
            async let second = service.verify(ServiceFixture.token())
            try await service.fetcher.called(1)
            await service.fetcher.answer(with: .success([.p256]))
            #expect(try await first.status == .ok)
            #expect(try await second.status == .ok)
            #expect(await service.fetcher.calls == 1)
        }
    }

    @Test func `a new key is found by the notification that first needs it`() async throws {
        try await ServiceFixture.run(notifications: Self.logout) { service async throws in
            try await service.fetchKeys()
            await service.fetcher.answer(with: .success([.p256, .otherP256]))
            #expect(try await send(by: .otherP256, to: service).status == .ok)
            #expect(await service.fetcher.calls == 2)
        }
    }

    @Test func `a notification that can't pass causes no fetch`() async throws {
        try await ServiceFixture.run(notifications: Self.logout) { service async throws in
            try await service.fetchKeys()
            await service.fetcher.answer(with: .success([.p256, .otherP256]))
            for claims in [Self.claims.with("aud", #""x""#), Self.claims.with("iat", "1000000000")] {
                #expect(try await send(claims, by: .otherP256, to: service).code == "key_not_found")
            }
            #expect(await service.fetcher.calls == 1)
        }
    }

    @Test func `keys that can't be had are worth another try`() async throws {
        try await ServiceFixture.run(notifications: Self.logout) { service async throws in
            await service.fetcher.answer(with: .failure(FetchFailure(.dns, "no")))
            let response = try await send(to: service)
            #expect(try response.code == "keys_unavailable")
            #expect(try #require(response.retryAfter) >= 1)
            // A header that no key could save is refused at once.
            let token = compactJWS(
                header: #"{"alg":"ES256","typ":"at+jwt"}"#, payload: Self.claims.json, signedBy: .p256)
            let refused = try await service.send("POST", Self.path, #"{"token":"\#(token)"}"#)
            #expect(try refused.code == "header_unsupported")
        }
    }
}
