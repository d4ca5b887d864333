import HTTP
import JOSE
import Keys
import NIOHTTP1
@testable import Service
import Testing
import TestSupport

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
                    "audiences", "fetched_at", "id", "issuer", "keys", "keys_hash", "last_error", "next_fetch_at",
                    "optional",
                    "source", "state",
                ])
            #expect(provider["state"] == .string("ready"))
            #expect(provider["last_error"] == .null)
            let keys = try #require(provider["keys"]?.array)
            #expect(keys.compactMap { $0.object?["kid"]?.string } == ["p256", "rsa"])
            #expect(
                keys.allSatisfy {
                    $0.object?.keys.sorted() == ["alg", "crv", "kid", "kty", "omitted", "usable", "use"]
                })
            #expect(keys.allSatisfy { $0.object?["omitted"] == .bool(false) })
            // The time of the next fetch is in whole seconds of a running clock, so it may change between two requests.
            func withoutNextFetch(_ members: [String: JSONTree]?) -> [String: JSONTree]? {
                members?.filter { $0.key != "next_fetch_at" }
            }
            let listed = try await service.send("GET", "/v1/providers", toAdmin: true).json["providers"]?.array
            #expect(listed?.count == 1)
            #expect(withoutNextFetch(listed?.first?.object) == withoutNextFetch(provider))
            #expect(try await service.send("POST", "/v1/providers/q/refresh", toAdmin: true).code == "provider_unknown")
            #expect(try await service.send("GET", "/metrics", toAdmin: true).text == "metrics\n")
        }
    }

    @Test func `operators see which keys the last answer left out, and drop them by a refresh`() async throws {
        try await ServiceFixture.run { service async throws in
            func keys(_ response: HTTPResponse) throws -> [[String: JSONTree]] {
                try #require(response.json["keys"]?.array).compactMap(\.object)
            }
            func provider() async throws -> [String: JSONTree] {
                let all = try await service.send("GET", "/v1/providers", toAdmin: true).json["providers"]?.array
                return try #require(all?.first?.object)
            }
            try await service.fetchKeys([.p256, .otherP256])
            let hash = try await provider()["keys_hash"]
            #expect(hash?.integer != nil)

            // A lagging node of the provider answers the fetch for an unknown kid.
            await service.fetcher.answer(with: .success([.p256]))
            #expect(try await service.verify(ServiceFixture.token(by: .rsa)).code == "key_not_found")
            let omitting = try await provider()
            let seen = omitting["keys"]?.array?.compactMap(\.object)
            #expect(seen?.compactMap { $0["kid"]?.string } == ["p256", "other-p256"])
            #expect(seen?.compactMap { $0["omitted"]?.bool } == [false, true])
            #expect(seen?.compactMap { $0["usable"]?.bool } == [true, true])
            #expect(omitting["keys_hash"] == hash)
            #expect(try await service.verify(ServiceFixture.token(by: .otherP256)).status == .ok)

            let refreshed = try await service.send(
                "POST", "/v1/providers/p/refresh?drop_omitted=true", toAdmin: true)
            #expect(try keys(refreshed).compactMap { $0["kid"]?.string } == ["p256"])
            #expect(try keys(refreshed).compactMap { $0["omitted"]?.bool } == [false])
            #expect(try refreshed.json["keys_hash"] != hash)
            #expect(try await service.verify(ServiceFixture.token(by: .otherP256)).code == "key_not_found")
        }
    }

    @Test func `a provider without keys has no keys hash`() async throws {
        try await ServiceFixture.run { service async throws in
            let all = try await service.send("GET", "/v1/providers", toAdmin: true).json["providers"]?.array
            #expect(all?.first?.object?["keys_hash"] == .null)
            #expect(all?.first?.object?["keys"] == .array([]))
        }
    }
}
