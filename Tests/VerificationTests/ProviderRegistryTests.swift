import HTTP
import IDToken
import Keys
import NIOCore
import NIOPosix
import Testing
import TestSupport
@testable import Verification

@Suite struct ProviderRegistryTests {
    private let group = MultiThreadedEventLoopGroup.singleton

    private func provider(_ id: String, _ keys: KeyStore? = nil, audience: String = "client") -> Provider {
        let policy = ProviderPreset.oidc.policy(
            id: id, issuer: "https://\(id).example", audiences: [audience])
        return Provider(policy: policy, isOptional: false, keys: .store(keys ?? store()))
    }

    private func store(_ fetcher: TestFetcher = TestFetcher()) -> KeyStore {
        KeyStore(
            rules: KeyRules(), fetcher: fetcher, archive: nil, threads: .singleton, on: group.next(), onEvent: { _ in })
    }

    private func roster(_ configurations: [Provider]...) async throws -> ProviderRegistry {
        var roster = ProviderRegistry()
        for providers in configurations { roster = try await roster.changed(to: providers, on: group) }
        return roster
    }

    @Test func `an id keeps its number, whatever comes, goes and changes places`() async throws {
        let (a, b, c) = (provider("a"), provider("b"), provider("c"))
        #expect(try await roster([a, b]).ids == ["a", "b"])
        #expect(try await roster([a, b], [b, a]).ids == ["a", "b"])
        #expect(try await roster([a, b], [b], [c, b]).ids == ["a", "b", "c"])
        #expect(try await roster([a, b], [c], [b, a]).ids == ["a", "b", "c"])
    }

    @Test func `who is gone is on it by number only`() async throws {
        let (a, b) = (provider("a"), provider("b"))
        let roster = try await roster([a, b], [b])
        #expect(roster.entries.map { $0.member == nil } == [true, false])
        #expect(roster.providers.map(\.policy.id) == ["b"])
    }

    @Test func `a provider with the key store that it had has the keys that were delivered`() async throws {
        let fetcher = TestFetcher()
        await fetcher.answer(with: .success([.p256]))
        let keys = store(fetcher)
        let before = try await roster([provider("a", keys)])
        _ = try await keys.wait(for: .refresh(dropsOmitted: true), judgedBy: 0, until: .distant).get()
        let after = try await before.changed(to: [provider("a", keys, audience: "another")], on: group)
        #expect(after.providers.map(\.policy.audiences) == [["another"]])
        for roster in [before, after] {
            for version in try versions(in: roster) { #expect(try await version.get() == 1) }
        }
        #expect(before.keyStores(notIn: after).isEmpty)
        #expect(after.keyStores(notIn: before).isEmpty)
        keys.stop()
    }

    @Test func `a new key store begins without keys, and the previous one is released`() async throws {
        let (old, new) = (store(), store())
        let before = try await roster([provider("a", old)])
        let after = try await before.changed(to: [provider("a", new)], on: group)
        #expect(before.keyStores(notIn: after).map(ObjectIdentifier.init) == [ObjectIdentifier(old)])
        #expect(after.keyStores(notIn: before).map(ObjectIdentifier.init) == [ObjectIdentifier(new)])
        for version in try versions(in: after) { #expect(try await version.get() == nil) }
    }

    /// The version of the first provider's keys on each event loop.
    private func versions(in roster: ProviderRegistry) throws -> [EventLoopFuture<Int?>] {
        let member = try #require(roster.entries.first?.member)
        return group.makeIterator().map { loop in
            loop.submit {
                guard case .one(let delivered, _) = member.keys[loop] else { return nil }
                return delivered.snapshot?.version
            }
        }
    }
}

extension MonotonicTime {
    fileprivate static let distant = MonotonicTime(milliseconds: .max / 2)
}
