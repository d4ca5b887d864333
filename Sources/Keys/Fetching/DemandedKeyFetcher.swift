private import HTTP
private import JOSE
private import Synchronization

/// Whether a provider's keys are needed. Never goes back.
package final class KeyDemand: Sendable {
    private let isThere = Atomic(false)

    package init() {}

    package func raise() { isThere.store(true, ordering: .relaxed) }

    fileprivate var isRaised: Bool { isThere.load(ordering: .relaxed) }
}

/// For a provider that is asked about each token: fetches its discovery document, if that names the endpoint, and its
/// keys only once there is a demand for them.
package final class DemandedKeyFetcher: KeyFetching {
    private let keys: any KeyFetching
    private let demand: KeyDemand
    /// `nil`: the settings name the endpoint.
    private let discovery: (@Sendable (FetchMode) async throws(FetchFailure) -> FetchedKeys)?
    private let unixSeconds: @Sendable () -> Int64

    /// - Parameters:
    ///   - keys: fetches the keys, together with the discovery document if there is one.
    ///   - location: of the keys.
    ///   - needsEndpoint: whether the discovery document must name the introspection endpoint.
    package init(
        _ keys: any KeyFetching, _ demand: KeyDemand, at location: KeyLocation, needsEndpoint: Bool,
        documents: DocumentFetcher, unixSeconds: @escaping @Sendable () -> Int64
    ) {
        self.keys = keys
        self.demand = demand
        self.unixSeconds = unixSeconds
        guard needsEndpoint, case .network(.discovery(let address, let others, let issuer, _), _) = location else {
            discovery = nil
            return
        }
        discovery = { mode async throws(FetchFailure) in
            let document = try await KeyLocation.Network.document(at: [address] + others) {
                (address, _) async throws(FetchFailure) in try await documents.fetch(address, mode)
            }
            let endpoints = try DiscoveredEndpoints(reading: document.body, issuer: issuer, under: documents.rules)
            return FetchedKeys(
                keys: .empty, text: JWKSet.empty.json, algorithms: .all, source: .network, lifetime: document.lifetime,
                fetchedAtUnixSeconds: unixSeconds(), clockOffsetSeconds: document.clockOffsetSeconds,
                endpoints: endpoints)
        }
    }

    package func fetch(_ mode: FetchMode, keyIDs: [String]) async throws(FetchFailure) -> FetchedKeys {
        let fetched: FetchedKeys
        if demand.isRaised {
            fetched = try await keys.fetch(mode, keyIDs: keyIDs)
        } else if let discovery {
            fetched = try await discovery(mode)
        } else {
            return nothing
        }
        guard discovery == nil || fetched.endpoints?.introspection != nil else {
            throw FetchFailure(
                .parse,
                "the discovery document names no introspection_endpoint that can be called; set introspection.endpoint")
        }
        return fetched
    }

    /// There is nothing to fetch until there is a demand.
    private var nothing: FetchedKeys {
        FetchedKeys(
            keys: .empty, text: JWKSet.empty.json, algorithms: .all, source: .network,
            lifetime: KeyRules().maximumLifetime, fetchedAtUnixSeconds: unixSeconds())
    }
}
