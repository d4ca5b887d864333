private import Bytes
package import EventLoops
package import IDToken
package import KeySource
package import NIOCore
package import NIOPosix

/// The providers that the service serves, each under a number.
///
/// Loops count by number, and requests that wait outlast a change of the settings; so an id keeps its number as long as the
/// process lives, even while no provider has it, and what was counted under it can neither go back nor pass to another.
package struct ProviderRegistry: Sendable {
    /// By number.
    package private(set) var entries: [Entry]

    package struct Entry: Sendable {
        package let id: String
        /// `nil` where the settings have no such provider any more.
        package fileprivate(set) var member: Member?
    }

    package struct Member: Sendable {
        package let provider: Provider
        /// Its keys, as each event loop last heard of them.
        package let delivered: PerLoop<LoopKeySnapshot>
    }

    /// Of no provider yet.
    package init() { entries = [] }

    private init(entries: [Entry]) { self.entries = entries }

    package var providers: [Provider] { entries.compactMap { $0.member?.provider } }
    package var ids: [String] { entries.map(\.id) }

    /// The registry of other settings. A provider whose key store is known has the keys that its loops have already; a new
    /// store's keys are delivered from now on.
    ///
    /// - Throws: an error of the event loops'.
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

    /// The key stores that another registry does not have.
    package func keyStores(notIn other: ProviderRegistry) -> [KeyStore] {
        let others = other.providers
        return providers.map(\.keys).filter { store in !others.contains { $0.keys === store } }
    }

    /// Has the key stores take over what an earlier process kept, and begin to fetch.
    ///
    /// - Throws: an error of the event loops'.
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
    /// That of an event loop which serves the providers of a registry.
    package convenience init(_ registry: ProviderRegistry, on loop: any EventLoop, by verifier: IDTokenVerifier) {
        self.init(registry.entries.map { $0.member.map { ($0.provider, $0.delivered[loop]) } }, by: verifier)
    }
}
