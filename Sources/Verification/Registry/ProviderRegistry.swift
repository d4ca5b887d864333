private import Bytes
package import HTTP
package import IDToken
package import Keys
package import NIOCore
package import NIOPosix

/// The configured providers, each under a number.
///
/// Loops use the numbers for metrics, and waiting requests outlast a change of the settings. So an ID keeps its number
/// for the lifetime of the process, even while no provider has it. Its counters never go backwards, and another
/// provider never inherits them.
package struct ProviderRegistry: Sendable {
    /// Indexed by number.
    package private(set) var entries: [Entry]

    package struct Entry: Sendable {
        package let id: String
        /// `nil` if the provider is no longer configured.
        package fileprivate(set) var member: Member?
    }

    package struct Member: Sendable {
        package let provider: Provider
        /// Each event loop's latest copy of the keys.
        package let delivered: PerLoop<LoopKeySnapshot>
    }

    /// An empty registry.
    package init() { entries = [] }

    private init(entries: [Entry]) { self.entries = entries }

    /// The registry of a single event loop, whose keys are delivered by the caller.
    package init(_ providers: [(Provider, LoopKeySnapshot)], on loop: any EventLoop) {
        entries = providers.map { provider, delivered in
            let member = Member(provider: provider, delivered: PerLoop(on: loop, delivered))
            return Entry(id: provider.policy.id, member: member)
        }
    }

    package var providers: [Provider] { entries.compactMap { $0.member?.provider } }
    package var ids: [String] { entries.map(\.id) }

    /// The registry for new settings. A provider whose key store exists already keeps the keys that its loops have. New
    /// key stores start to deliver their keys to the loops.
    ///
    /// - Throws: an event loop error.
    package func changed(to providers: [Provider], on group: MultiThreadedEventLoopGroup) async throws
        -> ProviderRegistry
    {
        var changed = ProviderRegistry(entries: entries.map { Entry(id: $0.id) })
        for provider in providers {
            let known = entries.lazy.compactMap(\.member).first { $0.provider.keys === provider.keys }
            let delivered =
                if let known { known.delivered } else { try await Self.deliver(provider.keys, on: group) }
            changed.enter(Member(provider: provider, delivered: delivered))
        }
        return changed
    }

    /// The key stores that the other registry does not have.
    package func keyStores(notIn other: ProviderRegistry) -> [KeyStore] {
        let others = other.providers
        return providers.map(\.keys).filter { store in !others.contains { $0.keys === store } }
    }

    /// Loads the keys that an earlier process archived, and starts to fetch.
    ///
    /// - Throws: an event loop error.
    package func startKeys(notIn other: ProviderRegistry = ProviderRegistry(), on loop: any EventLoop) async throws {
        try await EventLoopFuture.andAllSucceed(keyStores(notIn: other).map { $0.start() }, on: loop).get()
    }

    private mutating func enter(_ member: Member) {
        let id = member.provider.policy.id
        if let number = entries.firstIndex(where: { $0.id.isExactly(id) }) {
            entries[number].member = member
        } else {
            entries.append(Entry(id: id, member: member))
        }
    }

    private static func deliver(
        _ store: KeyStore, on group: MultiThreadedEventLoopGroup
    ) async throws -> PerLoop<LoopKeySnapshot> {
        let delivered = try await PerLoop(on: group) { _ in LoopKeySnapshot() }
        let loop = store.loop
        try await store.subscribe { snapshot in
            .andAllComplete(delivered.onEach { $0.install(snapshot) }, on: loop)
        }.get()
        return delivered
    }
}

extension RequestVerifier {
    /// A verifier for one event loop.
    package convenience init(_ registry: ProviderRegistry, on loop: any EventLoop, by verifier: IDTokenVerifier) {
        self.init(
            registry.entries.map { $0.member.map { ($0.provider, $0.delivered[loop]) } }, by: verifier,
            decryptions: DecryptionQueue(on: loop))
    }
}
