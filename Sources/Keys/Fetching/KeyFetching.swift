package import HTTP
package import JOSE
package import NIOCore
private import Synchronization

/// The result of a fetch.
package struct FetchedKeys: Sendable {
    package private(set) var keys: JWKSet
    /// The JSON text of the set as it was read; empty if it is not kept.
    package private(set) var text: [UInt8]
    package let algorithms: SignatureAlgorithms
    package let source: KeySnapshot.Source
    /// How long the provider lets clients cache the keys; `nil` if it does not say.
    package let lifetime: Interval?
    package let fetchedAtUnixSeconds: Int64
    /// Whether the provider confirmed the previous set (304 Not Modified) instead of sending it.
    package let isNotModified: Bool
    /// The minimum number of seconds by which the provider's clock is ahead of ours; 0 if the clocks may agree, `nil`
    /// if the response has no time.
    package let clockOffsetSeconds: Int64?
    /// Those of the discovery document; `nil` if none was read.
    package let endpoints: DiscoveredEndpoints?

    package init(
        keys: JWKSet, text: [UInt8] = [], algorithms: SignatureAlgorithms, source: KeySnapshot.Source,
        lifetime: Interval?, fetchedAtUnixSeconds: Int64, isNotModified: Bool = false,
        clockOffsetSeconds: Int64? = nil, endpoints: DiscoveredEndpoints? = nil
    ) {
        self.keys = keys
        self.text = text
        self.algorithms = algorithms
        self.source = source
        self.lifetime = lifetime
        self.fetchedAtUnixSeconds = fetchedAtUnixSeconds
        self.isNotModified = isNotModified
        self.clockOffsetSeconds = clockOffsetSeconds
        self.endpoints = endpoints
    }
}

extension FetchedKeys {
    /// The same result with some of its keys.
    func keeping(where isKept: (JWK) -> Bool) -> FetchedKeys {
        var kept = self
        kept.keys = JWKSet.empty.adding(keys.keys.filter(isKept))
        kept.text = []
        return kept
    }
}

/// Fetches a provider's keys from their location.
package protocol KeyFetching: Sendable {
    /// Fetches once. Always returns within the fetcher's own timeout.
    ///
    /// - Parameter keyIDs: the keys to ask for, if the location has no list of its keys; otherwise ignored.
    func fetch(_ mode: FetchMode, keyIDs: [String]) async throws(FetchFailure) -> FetchedKeys
}

extension KeyFetching {
    /// Fetches the keys of a location that lists them.
    package func fetch(_ mode: FetchMode) async throws(FetchFailure) -> FetchedKeys {
        try await fetch(mode, keyIDs: [])
    }
}

/// How fresh the result of a fetch must be.
package enum FetchMode: Sendable, Equatable {
    /// A 304 Not Modified is enough: the keys only have to be kept fresh.
    case revalidate
    /// The complete set, bypassing intermediate caches, because the current keys may be out of date.
    case reload
}

/// Reads a JWK Set from a file, and only if the file has changed.
package final class FileKeyFetcher: KeyFetching {
    private let path: String
    private let loop: any EventLoop
    private let timeout: Interval
    private let unixSeconds: @Sendable () -> Int64
    private let last = Mutex<Reading?>(nil)
    private static let maximumSize = 512 * 1024
    private static let readings = BlockingCalls<ObjectIdentifier, Result<Reading, FetchFailure>>(threads: 2)

    private struct Reading {
        let version: SmallFile.Version
        let keys: JWKSet
        let text: [UInt8]
    }

    /// - Parameter timeout: for reading the file.
    package init(
        path: String, loop: any EventLoop, timeout: Interval = .seconds(5),
        unixSeconds: @escaping @Sendable () -> Int64
    ) {
        self.path = path
        self.loop = loop
        self.timeout = timeout
        self.unixSeconds = unixSeconds
    }

    package func fetch(_ mode: FetchMode, keyIDs: [String]) async throws(FetchFailure) -> FetchedKeys {
        let failure = FetchFailure(.file, "the file was not read within \(timeout.secondsRoundedUp) s")
        let reading = try await Self.readings.run(
            for: ObjectIdentifier(self), within: timeout, on: loop, orThrow: failure
        ) {
            Result { () throws(FetchFailure) in try self.read(mode) }
        }.get()
        return FetchedKeys(
            keys: reading.keys, text: reading.text, algorithms: .all, source: .file, lifetime: nil,
            fetchedAtUnixSeconds: unixSeconds())
    }

    private func read(_ mode: FetchMode) throws(FetchFailure) -> Reading {
        // Symbolic links are followed: Kubernetes mounts files as links, and updates them by replacing the link.
        if mode == .revalidate, let last = last.withLock({ $0 }), SmallFile.version(atPath: path) == last.version {
            return last
        }
        let file: SmallFile
        do throws(SmallFile.Failure) {
            file = try SmallFile(path: path, maximumSize: Self.maximumSize, followingLinks: true)
        } catch {
            throw FetchFailure(.file, error.text(maximumSize: Self.maximumSize))
        }
        let reading = Reading(version: file.version, keys: try JWKSet(reading: file.bytes), text: file.bytes)
        last.withLock { $0 = reading }
        return reading
    }
}

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
    private let documents: DocumentFetcher
    /// `nil`: the settings name the endpoint.
    private let discovery: (@Sendable (FetchMode) async throws(FetchFailure) -> FetchedKeys)?

    /// - Parameters:
    ///   - keys: fetches the keys, together with the discovery document if there is one.
    ///   - location: of the keys.
    ///   - needsEndpoint: whether the discovery document must name the introspection endpoint.
    package init(
        _ keys: any KeyFetching, _ demand: KeyDemand, at location: KeyLocation, needsEndpoint: Bool,
        documents: DocumentFetcher
    ) {
        self.keys = keys
        self.demand = demand
        self.documents = documents
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
                fetchedAtUnixSeconds: documents.unixSeconds(), clockOffsetSeconds: document.clockOffsetSeconds,
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
        guard discovery == nil || fetched.endpoints?[.introspection] != nil else {
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
            lifetime: KeyRules().maximumLifetime, fetchedAtUnixSeconds: documents.unixSeconds())
    }
}
