import Clocks
import HTTPListener
import JSON
import KeySource
import NIOHTTP1
import TestSupport
import Testing

@testable import AssayHTTP

@Suite struct WaitingForKeysTests {
    @Test func `the first requests wait for the first keys, and share one fetch`() async throws {
        try await ServiceFixture.run { service async throws in
            let token = ServiceFixture.token()
            try await withThrowingTaskGroup(of: UInt.self) { group in
                for _ in 0..<20 { group.addTask { try await service.verify(token).status.code } }
                try await service.fetcher.called(1)
                await service.fetcher.answer(with: .success([.p256]))
                for try await status in group { #expect(status == 200) }
            }
            #expect(await service.fetcher.calls == 1)
        }
    }

    @Test func `keys that can't be had are our trouble, and worth another try`() async throws {
        try await ServiceFixture.run { service async throws in
            await service.fetcher.answer(with: .failure(FetchFailure(.dns, "no")))
            let response = try await service.verify(ServiceFixture.token())
            #expect(response.status == .serviceUnavailable)
            #expect(try response.code == "keys_unavailable")
            let retryAfter = response.headers.first { "\($0.name)" == "Retry-After" }
            #expect(try #require(Int(retryAfter?.value ?? "")) >= 1)
        }
    }

    @Test func `keys that do not come in time are given up`() async throws {
        try await ServiceFixture.run({ $0.keysTimeout = Interval(milliseconds: 50) }) { service async throws in
            #expect(try await service.verify(ServiceFixture.token()).code == "keys_unavailable")
            #expect(await service.fetcher.calls == 1)
        }
    }

    @Test func `a new key is found by the token that first needs it`() async throws {
        try await ServiceFixture.run { service async throws in
            try await service.fetchKeys()
            await service.fetcher.answer(with: .success([.p256, .otherP256]))
            #expect(try await service.verify(ServiceFixture.token(by: .otherP256)).status == .ok)
            #expect(await service.fetcher.calls == 2)
        }
    }

    @Test func `a kid that is nowhere is looked for once`() async throws {
        try await ServiceFixture.run { service async throws in
            try await service.fetchKeys()
            await service.fetcher.answer(with: .success([.p256]))
            for _ in 0..<5 {
                #expect(try await service.verify(ServiceFixture.token(by: .otherP256)).code == "key_not_found")
            }
            #expect(await service.fetcher.calls == 2)
        }
    }

    @Test func `a failed look for a kid leaves the verdict as it was`() async throws {
        try await ServiceFixture.run { service async throws in
            try await service.fetchKeys()
            await service.fetcher.answer(with: .failure(FetchFailure(.connect, "no")))
            #expect(try await service.verify(ServiceFixture.token(by: .otherP256)).code == "key_not_found")
            #expect(try await service.verify(ServiceFixture.token()).status == .ok)
        }
    }

    /// Junk must not cause traffic to a provider.
    @Test(arguments: [
        ("iss", "\"https://evil.example\""), ("aud", "\"someone else\""), ("aud", "[]"), ("exp", "1000000000"),
        ("exp", "\"x\""),
    ])
    func `a token that could not pass anyway has no keys fetched`(claim: String, value: String) async throws {
        try await ServiceFixture.run { service async throws in
            try await service.fetchKeys()
            let token = ServiceFixture.token(ServiceFixture.claims.with(claim, value), by: .otherP256)
            #expect(try await service.verify(token, #","provider":"p""#).code == "key_not_found")
            #expect(await service.fetcher.calls == 1)
        }
    }

    @Test func `a token that could not pass anyway has none fetched where there are none either`() async throws {
        try await ServiceFixture.run { service async throws in
            let token = ServiceFixture.token(ServiceFixture.claims.with("aud", "\"someone else\""))
            #expect(try await service.verify(token).code == "keys_unavailable")
            #expect(await service.fetcher.calls == 0)
            let unsigned = compactJWS(header: #"{"alg":"none"}"#, payload: ServiceFixture.claims.json, signedBy: .p256)
            #expect(try await service.verify(unsigned).code == "algorithm_not_allowed")
            #expect(await service.fetcher.calls == 0)
        }
    }
}
