internal import HTTPListener
private import IDToken
private import JSON
internal import KeySource
internal import NIOCore
internal import NIOPosix

/// The providers that the service serves, each under a number.
///
/// Loops count by number, and requests that wait outlast a change of the settings; so an id keeps its number as long as the
/// process lives, even while no provider has it, and what was counted under it can neither go back nor pass to another.
struct Roster: Sendable {
    /// By number.
    private(set) var entries: [Entry] = []

    struct Entry: Sendable {
        let id: String
        /// `nil` where the settings have no such provider any more.
        var member: Member?
    }

    struct Member: Sendable {
        let provider: Provider
        /// Its keys, as each event loop last heard of them.
        let delivered: PerLoop<DeliveredKeys>
    }

    var providers: [Provider] { entries.compactMap { $0.member?.provider } }
    var ids: [String] { entries.map(\.id) }

    /// The roster of other settings. A provider whose key store is known has the keys that its loops have already; a new
    /// store's keys are delivered from now on.
    ///
    /// - Throws: an error of the event loops'.
    func changed(to providers: [Provider], on group: MultiThreadedEventLoopGroup) async throws -> Roster {
        var changed = Roster(entries: entries.map { Entry(id: $0.id) })
        for provider in providers {
            let known = entries.lazy.compactMap(\.member).first { $0.provider.keys === provider.keys }
            let delivered =
                if let known { known.delivered } else { try await Self.deliver(provider.keys, on: group) }
            changed.enter(Member(provider: provider, delivered: delivered))
        }
        return changed
    }

    /// The key stores that another roster does not have.
    func keyStores(notIn other: Roster) -> [KeyStore] {
        let others = other.providers
        return providers.map(\.keys).filter { store in !others.contains { $0.keys === store } }
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
    ) async throws -> PerLoop<DeliveredKeys> {
        let delivered = try await PerLoop(on: group) { _ in DeliveredKeys() }
        let loop = store.loop
        try await store.subscribe { snapshot in
            .andAllComplete(delivered.onEach { $0.install(snapshot) }, on: loop)
        }.get()
        return delivered
    }
}
