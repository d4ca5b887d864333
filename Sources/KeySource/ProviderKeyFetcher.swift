private import JOSE
private import Synchronization

/// Fetches a provider's keys over HTTP, by way of its discovery document where it has one.
///
/// The document is read each time: it says where the keys are now, and which algorithms they are for. What was read last is
/// remembered, so that the provider may answer that nothing has changed, and the same keys need not be decoded twice.
package final class ProviderKeyFetcher: KeyFetching {
    private let location: Location
    private let documents: DocumentFetcher
    private let unixSeconds: @Sendable () -> Int64
    private let memory = Mutex(Memory())

    /// Where a provider publishes its keys.
    package enum Location: Sendable {
        /// Where the discovery document at this address says; of its list of algorithms, those that we support are used,
        /// unless the operator's own list counts.
        case discovery(address: String, issuer: String, readsAlgorithms: Bool)
        /// At this address.
        case jwks(address: String)
    }

    private struct Memory {
        var discovery: DocumentFetcher.Document?
        var jwks: (address: String, document: DocumentFetcher.Document, keys: JWKSet)?
    }

    package init(
        _ location: Location, documents: DocumentFetcher, unixSeconds: @escaping @Sendable () -> Int64
    ) {
        self.location = location
        self.documents = documents
        self.unixSeconds = unixSeconds
    }

    package func fetch(_ mode: FetchMode) async throws(FetchFailure) -> FetchedKeys {
        switch location {
        case .discovery(let address, let issuer, let readsAlgorithms):
            let document = try await documents.fetch(address, mode, known: memory.withLock { $0.discovery })
            let metadata = try ProviderMetadata(document.body, issuer: issuer)
            let algorithms = readsAlgorithms ? metadata.algorithms : SignatureAlgorithm.all
            guard !algorithms.isEmpty else {
                throw FetchFailure(.parse, "the discovery document lists no algorithm that is supported")
            }
            memory.withLock { $0.discovery = document }
            return try await fetchKeys(metadata.jwksURI, algorithms, mode)
        case .jwks(let address): return try await fetchKeys(address, SignatureAlgorithm.all, mode)
        }
    }

    private func fetchKeys(
        _ address: String, _ algorithms: Set<SignatureAlgorithm>, _ mode: FetchMode
    ) async throws(FetchFailure) -> FetchedKeys {
        let last = memory.withLock { $0.jwks?.address == address ? $0.jwks : nil }
        let document = try await documents.fetch(address, mode, known: last?.document)
        let keys: JWKSet
        if let last, last.document.body == document.body {
            keys = last.keys
        } else {
            keys = try JWKSet(reading: document.body)
        }
        memory.withLock { $0.jwks = (address, document, keys) }
        return FetchedKeys(
            keys: keys, text: document.body, algorithms: algorithms, source: .network, lifetime: document.lifetime,
            fetchedAtUnixSeconds: unixSeconds(), isConfirmation: document.isConfirmation)
    }
}

extension JWKSet {
    /// Reads a JWK Set that came from a provider.
    ///
    /// - Throws: ``FetchFailure`` of the phase `parse`.
    init(reading json: [UInt8]) throws(FetchFailure) {
        do throws(ReadingError) {
            try self.init(json)
        } catch {
            switch error {
            case .malformed: throw FetchFailure(.parse, "the key set is not a JSON object with an array of keys")
            case .tooManyKeys: throw FetchFailure(.parse, "the key set holds more than \(Self.maximumKeys) keys")
            case .noUsableKey: throw FetchFailure(.parse, "the key set holds no key that can verify a signature")
            }
        }
    }
}
