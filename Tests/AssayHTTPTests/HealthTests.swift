import HTTPListener
import JSON
import KeySource
import NIOHTTP1
import TestSupport
import Testing

@testable import AssayHTTP

@Suite struct HealthTests {
    @Test func `it is ready once keys are there, and not any more when it stops`() async throws {
        try await ServiceFixture.run { service async throws in
            let provider = { (state: String) in
                JSONTree.array([.object(["id": .string("p"), "state": .string(state)])])
            }
            let before = try await service.send("GET", "/readyz")
            #expect(before.status == .serviceUnavailable)
            #expect(try before.json == ["status": .string("unready"), "providers": provider("unavailable")])
            try await service.fetchKeys()
            let ready = try await service.send("GET", "/readyz")
            #expect(ready.status == .ok)
            #expect(try ready.json == ["status": .string("ready"), "providers": provider("ready")])
            #expect(!ready.closesConnection)
            try await service.stopAnswering()
            for toAdmin in [false, true] {
                let stopping = try await service.send("GET", "/readyz", toAdmin: toAdmin)
                #expect(stopping.status == .serviceUnavailable)
                #expect(try stopping.json["status"] == .string("shutting_down"))
                #expect(stopping.closesConnection)
                #expect(try await service.send("GET", "/livez", toAdmin: toAdmin).status == .ok)
            }
            let refused = try await service.verify(ServiceFixture.token())
            #expect(try refused.code == "shutting_down")
            #expect(refused.closesConnection)
        }
    }

    // MARK: Operators

    @Test func `operators see the keys and the last error, and can have them fetched`() async throws {
        try await ServiceFixture.run { service async throws in
            await service.fetcher.answer(with: .failure(FetchFailure(.tls, "the certificate is not for this host")))
            let failed = try await service.send("POST", "/v1/providers/p/refresh", toAdmin: true)
            #expect(try failed.code == "keys_unavailable")
            let unavailable = try await service.send("GET", "/v1/providers", toAdmin: true).json["providers"]?.array?
                .first?.object
            #expect(unavailable?["state"] == .string("unavailable"))
            #expect(unavailable?["last_error"]?.object?["phase"] == .string("tls"))
            #expect(unavailable?["last_error"]?.object?["message"] == .string("the certificate is not for this host"))
            #expect(unavailable?["fetched_at"] == .null)

            await service.fetcher.answer(with: .success([.p256, .rsa]))
            let refreshed = try await service.send("POST", "/v1/providers/p/refresh", toAdmin: true)
            #expect(refreshed.status == .ok)
            let provider = try refreshed.json
            #expect(
                provider.keys.sorted() == [
                    "fetched_at", "id", "issuer", "keys", "last_error", "next_fetch_at", "optional", "source", "state",
                ])
            #expect(provider["state"] == .string("ready"))
            #expect(provider["last_error"] == .null)
            let keys = try #require(provider["keys"]?.array)
            #expect(keys.compactMap { $0.object?["kid"]?.string } == ["p256", "rsa"])
            #expect(keys.allSatisfy { $0.object?.keys.sorted() == ["alg", "crv", "kid", "kty", "usable", "use"] })
            #expect(
                try await service.send("GET", "/v1/providers", toAdmin: true).json["providers"]
                    == .array([.object(provider)]))
            #expect(try await service.send("POST", "/v1/providers/q/refresh", toAdmin: true).code == "provider_unknown")
            #expect(try await service.send("GET", "/metrics", toAdmin: true).text == "metrics\n")
        }
    }
}
