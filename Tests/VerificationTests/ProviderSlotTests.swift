import HTTP
import IDToken
import JOSE
import Keys
import NIOCore
import NIOPosix
import Testing
import TestSupport
@testable import Verification

@Suite struct ProviderSlotTests {
    @Test func `keys are used up to the millisecond until which they are usable`() throws {
        let text = jwkSet([TestKey.p256.jwk()])
        let fetched = FetchedKeys(
            keys: try JWKSet(text), text: text, algorithms: .all, source: .network, lifetime: nil,
            fetchedAtUnixSeconds: 0)
        let delivered = LoopKeySnapshot()
        let store = KeyStore(
            rules: KeyRules(), fetcher: TestFetcher(), archive: nil, threads: .singleton,
            on: MultiThreadedEventLoopGroup.singleton.next(), onEvent: { _ in })
        let policy = ProviderPolicy(id: "op", issuer: "https://op.example", audiences: ["client"])
        let slot = RequestVerifier.ProviderSlot(
            Provider(policy: policy, isOptional: false, keys: .store(store)), .one(delivered, store))
        let end = MonotonicTime(milliseconds: 5000)
        #expect(slot.keys(usableAt: end) == nil)
        delivered.install(
            KeySnapshot(
                version: 1, fetched, omitted: [], fetchedAt: MonotonicTime(milliseconds: 0),
                freshUntil: MonotonicTime(milliseconds: 1000), usableUntil: end))
        #expect(slot.keys(usableAt: end) != nil)
        #expect(slot.keys(usableAt: MonotonicTime(milliseconds: 5001)) == nil)
    }
}
