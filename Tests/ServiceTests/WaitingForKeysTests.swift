import HTTP
import JOSE
import Keys
import NIOHTTP1
@testable import Service
import Testing
import TestSupport

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

    @Test func `unavailable keys are 503 and retryable`() async throws {
        try await ServiceFixture.run { service async throws in
            await service.fetcher.answer(with: .failure(FetchFailure(.dns, "no")))
            let response = try await service.verify(ServiceFixture.token())
            #expect(response.status == .serviceUnavailable)
            #expect(try response.code == "keys_unavailable")
            #expect(try #require(response.retryAfter) >= 1)
        }
    }

    @Test func `keys that do not come in time are given up`() async throws {
        try await ServiceFixture.run({ $0.keysTimeout = Interval(milliseconds: 50) }) { service async throws in
            #expect(try await service.verify(ServiceFixture.token()).code == "keys_unavailable")
            // Under load, the time may be over before the fetch begins.
            try await service.fetcher.called(1)
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

    @Test func `of a batch each item counts that waits, and the text of those that are decided`() async throws {
        try await ServiceFixture.run { service async throws in
            let token = ServiceFixture.token()
            #expect(
                try await service.waitingCost("/v1/verify", #"{"id_token":"\#(token)"}"#)
                    == WaitingCost(items: 1, bytes: 0))
            let items = Array(repeating: #"{"id_token":"\#(token)"}"#, count: 7) + [#"{"id_token":"x"}"#]
            let batch = #"{"items":[\#(items.joined(separator: ","))]}"#
            let cost = try #require(try await service.waitingCost("/v1/verify/batch", batch))
            #expect(cost.items == 7)
            #expect(cost.bytes > "token_malformed".utf8.count)
            try await service.fetchKeys()
            #expect(try await service.waitingCost("/v1/verify/batch", batch) == nil)
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

    @Test func `while a key can't be looked for, nothing is said of its token`() async throws {
        try await ServiceFixture.run { service async throws in
            try await service.fetchKeys()
            await service.fetcher.answer(with: .failure(FetchFailure(.connect, "no")))
            // The first two may cause a fetch; the third may not.
            for _ in 1...3 {
                let response = try await service.verify(ServiceFixture.token(by: .otherP256))
                #expect(try response.code == "keys_unavailable")
                #expect(try #require(response.retryAfter) >= 1)
            }
            #expect(try await service.verify(ServiceFixture.token()).status == .ok)
            // A token that could not pass is rejected without new keys.
            let token = ServiceFixture.token(ServiceFixture.claims.with("exp", "1000000000"), by: .otherP256)
            #expect(try await service.verify(token).code == "key_not_found")
        }
    }

    @Test func `a fetch that times out is 503, not a verdict`() async throws {
        try await ServiceFixture.run({ $0.keysTimeout = Interval(milliseconds: 50) }) { service async throws in
            try await service.fetchKeys()
            #expect(try await service.verify(ServiceFixture.token(by: .otherP256)).code == "keys_unavailable")
        }
    }

    @Test func `each batch token whose key can't be fetched is retryable`() async throws {
        try await ServiceFixture.run { service async throws in
            try await service.fetchKeys()
            await service.fetcher.answer(with: .failure(FetchFailure(.connect, "no")))
            let tokens = [TestKey.p256, .otherP256, .otherP256, .otherP256].map { ServiceFixture.token(by: $0) }
            let items = tokens.map { #"{"id_token":"\#($0)"}"# }.joined(separator: ",")
            let response = try await service.send("POST", "/v1/verify/batch", #"{"items":[\#(items)]}"#)
            let results = try #require(try response.json["results"]?.array)
            let codes = results.map { $0.object?["error"]?.object?["code"]?.string }
            #expect(codes == [nil] + [String?](repeating: "keys_unavailable", count: 3))
        }
    }

    // MARK: A key replaced under its kid

    /// A store with rules under which it doesn't repeat a failed fetch while calls are counted, however slow the
    /// machine is.
    private static var unhurried: KeyRules {
        var rules = KeyRules()
        rules.minimumBackoff = .seconds(600)
        return rules
    }

    /// A store with rules under which a fetch is no longer recent a moment later, either.
    private static var forgetful: KeyRules {
        var rules = unhurried
        rules.missingKeyMemory = .seconds(0)
        return rules
    }

    /// Signed with a different key than the published one with this `kid`.
    private static func replaced(_ claims: ClaimsText = ServiceFixture.claims) -> String {
        compactJWS(
            header: #"{"alg":"ES256","kid":"\#(TestKey.p256.keyID)"}"#, payload: claims.json, signedBy: .otherP256)
    }

    @Test func `a key that was replaced under its kid is found by the token that first needs it`() async throws {
        try await ServiceFixture.run(rules: Self.forgetful) { service async throws in
            try await service.fetchKeys()
            await service.fetcher.publish(as: TestKey.p256.keyID)
            await service.fetcher.answer(with: .success([.otherP256]))
            #expect(try await service.verify(Self.replaced()).status == .ok)
            #expect(await service.fetcher.calls == 2)
            // The replaced key may have been stolen, so it is no longer trusted.
            #expect(try await service.verify(ServiceFixture.token()).code == "signature_invalid")
        }
    }

    @Test func `a bad signature causes no fetch while the keys are news`() async throws {
        try await ServiceFixture.run { service async throws in
            try await service.fetchKeys()
            for _ in 0..<5 {
                #expect(try await service.verify(Self.replaced()).code == "signature_invalid")
            }
            #expect(await service.fetcher.calls == 1)
        }
    }

    @Test func `a bad signature of a token that could not pass causes no fetch`() async throws {
        try await ServiceFixture.run(rules: Self.forgetful) { service async throws in
            try await service.fetchKeys()
            let claims = ServiceFixture.claims.with("aud", "\"someone else\"")
            #expect(try await service.verify(Self.replaced(claims)).code == "signature_invalid")
            #expect(await service.fetcher.calls == 1)
        }
    }

    /// The key exists, but did not make the signature. The verdict does not depend on newer keys that could not be
    /// fetched.
    @Test func `a bad signature by a known key stays one where the provider can't be asked`() async throws {
        try await ServiceFixture.run(rules: Self.forgetful) { service async throws in
            try await service.fetchKeys()
            await service.fetcher.answer(with: .failure(FetchFailure(.connect, "no")))
            #expect(try await service.verify(Self.replaced()).code == "signature_invalid")
            #expect(await service.fetcher.calls == 2)
        }
    }

    @Test func `a token without kid that no key has signed is invalid, even if newer keys can't be fetched`()
        async throws
    {
        try await ServiceFixture.run(rules: Self.unhurried) { service async throws in
            try await service.fetchKeys()
            await service.fetcher.answer(with: .failure(FetchFailure(.dns, "no")))
            let header = #"{"alg":"ES256"}"#
            let token = compactJWS(header: header, payload: ServiceFixture.claims.json, signedBy: .otherP256)
            #expect(try await service.verify(token).code == "signature_invalid")
            #expect(await service.fetcher.calls == 2)
        }
    }

    /// Junk must not cause requests to a provider.
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
