private import Bytes
package import HTTP
package import IDToken
private import JOSE
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
        /// Each event loop's latest copies of the keys.
        package let keys: PerLoop<LoopKeys>
    }

    /// An empty registry.
    package init() { entries = [] }

    private init(entries: [Entry]) { self.entries = entries }

    /// The registry of a single event loop, whose keys are delivered by the caller.
    package init(_ providers: [(Provider, LoopKeys)], on loop: any EventLoop) {
        entries = providers.map { provider, keys in
            Entry(id: provider.policy.id, member: Member(provider: provider, keys: PerLoop(on: loop, keys)))
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
        let known = Dictionary(
            entries.compactMap(\.member).map { ($0.provider.keys.identity, $0.keys) }, uniquingKeysWith: { $1 })
        var numbers = Dictionary(
            entries.enumerated().map { (ExactString($1.id), $0) }, uniquingKeysWith: { first, _ in first })
        var changed = ProviderRegistry(entries: entries.map { Entry(id: $0.id) })
        for provider in providers {
            let keys =
                if let known = known[provider.keys.identity] { known } else {
                    try await Self.deliver(provider.keys, on: group)
                }
            let member = Member(provider: provider, keys: keys)
            let id = provider.policy.id
            if let number = numbers[ExactString(id)] {
                changed.entries[number].member = member
            } else {
                numbers[ExactString(id)] = changed.entries.count
                changed.entries.append(Entry(id: id, member: member))
            }
        }
        return changed
    }

    /// The keys of providers that the other registry does not have.
    package func keys(notIn other: ProviderRegistry) -> [ProviderKeys] {
        let others = Set(other.providers.map(\.keys.identity))
        return providers.map(\.keys).filter { !others.contains($0.identity) }
    }

    /// The key stores among them, of providers with one issuer each.
    package func keyStores(notIn other: ProviderRegistry) -> [KeyStore] { keys(notIn: other).compactMap(\.store) }

    /// Loads the keys that an earlier process archived, and starts to fetch.
    ///
    /// - Throws: an event loop error.
    package func startKeys(notIn other: ProviderRegistry = ProviderRegistry(), on loop: any EventLoop) async throws {
        try await EventLoopFuture.andAllSucceed(keyStores(notIn: other).map { $0.start() }, on: loop).get()
    }

    private static func deliver(
        _ keys: ProviderKeys, on group: MultiThreadedEventLoopGroup
    ) async throws -> PerLoop<LoopKeys> {
        switch keys {
        case .store(let store):
            let keys = try await PerLoop(on: group) { _ in LoopKeys.one(LoopKeySnapshot(), store) }
            let loop = store.loop
            // The store, which these keys refer to, lets go of its subscribers when it stops.
            try await store.subscribe { snapshot in
                .andAllComplete(
                    keys.onEach { if case .one(let delivered, _) = $0 { delivered.install(snapshot) } }, on: loop)
            }.get()
            return keys
        case .pool(let pool):
            let issuers = try await PerLoop(on: group) { _ in LoopIssuers(pool) }
            try await LoopIssuers.connect(issuers, on: Array(group.makeIterator()), to: pool)
            return try await PerLoop(on: group) { .many(issuers[$0]) }
        }
    }
}

extension RequestVerifier {
    /// A verifier for one event loop.
    package convenience init(
        _ registry: ProviderRegistry, on loop: any EventLoop, by verifier: IDTokenVerifier, resources: [Resource]
    ) {
        self.init(
            registry.entries.map { $0.member.map { ($0.provider, $0.keys[loop]) } }, by: verifier,
            resources: resources, decryptions: DecryptionQueue(on: loop))
    }
}

/// Finds the providers for one kind of token. The result is the number of the provider's slot.
struct ProviderIndex {
    private var byID: [ExactString: Int] = [:]
    private var byIssuer: [ExactString: Int] = [:]
    /// The providers that accept tokens of any tenant, so their issuers can't be listed.
    private var ofAnyTenant: [Int] = []
    /// The providers that are AWS load balancers: the issuer of their assertions is an identity provider, which may
    /// have an entry of its own.
    private var loadBalancers: [Int] = []
    /// The providers with a list of issuers.
    private var withLists: [(number: Int, list: IssuerList)] = []

    /// - Parameter numbers: the only providers to look at, in ascending order; `nil`: all.
    init(
        _ slots: [RequestVerifier.ProviderSlot?], among numbers: [Int]? = nil, where isOfKind: (Provider) -> Bool
    ) {
        for number in numbers ?? Array(slots.indices) {
            guard let slot = slots[number], isOfKind(slot.provider) else { continue }
            byID[ExactString(slot.policy.id)] = number
            if let issuers = slot.provider.issuers {
                if let list = issuers.list { withLists.append((number, list)) }
                continue
            }
            guard slot.provider.accessTokens?.loadBalancer == nil else {
                loadBalancers.append(number)
                continue
            }
            guard let issuers = slot.policy.allIssuers else {
                ofAnyTenant.append(number)
                continue
            }
            for issuer in issuers { byIssuer[ExactString(issuer)] = number }
        }
    }

    var isEmpty: Bool { byID.isEmpty }

    /// The number of the provider with this ID.
    func named(_ id: String) -> Int? { byID[ExactString(id)] }

    /// The number of the provider with this issuer.
    func withIssuer(_ issuer: String, _ slots: [RequestVerifier.ProviderSlot?]) -> Int? {
        byIssuer[ExactString(issuer)] ?? withLists.first { $0.list[issuer] != nil }?.number
            ?? ofAnyTenant.first { slots[$0]?.policy.isIssuer(issuer) == true }
    }

    /// Whether any provider is a load balancer, whose assertions are padded.
    var hasLoadBalancers: Bool { !loadBalancers.isEmpty }

    /// The number of the load balancer with the assertion's issuer: the one that the assertion names as its signer, or
    /// else the first.
    func withLoadBalancer(of token: UnverifiedToken, _ slots: [RequestVerifier.ProviderSlot?]) -> Int? {
        guard let issuer = token.unverifiedIssuer else { return nil }
        let ofIssuer = loadBalancers.filter { slots[$0]?.policy.isIssuer(issuer) == true }
        let signer = token.jws.headerObject?["signer"]?.string
        let signing = ofIssuer.first { number in
            guard let signer else { return false }
            return slots[number]?.provider.accessTokens?.loadBalancer?.isExactly(signer) == true
        }
        return signing ?? ofIssuer.first
    }
}
