private import JOSE

/// Fetches a provider's keys over HTTP, by way of its discovery document where it has one.
///
/// The document is read each time: it says where the keys are now, and which algorithms they are for.
package struct ProviderKeyFetcher: KeyFetching {
    private let location: Location
    private let documents: DocumentFetcher
    private let unixSeconds: @Sendable () -> Int64

    /// Where a provider publishes its keys.
    package enum Location: Sendable {
        /// Where the discovery document at this address says.
        case discovery(address: String, issuer: String)
        /// At this address.
        case jwks(address: String)
    }

    package init(
        _ location: Location, documents: DocumentFetcher, unixSeconds: @escaping @Sendable () -> Int64
    ) {
        self.location = location
        self.documents = documents
        self.unixSeconds = unixSeconds
    }

    package func fetch() async throws(FetchFailure) -> FetchedKeys {
        switch location {
        case .discovery(let address, let issuer):
            let document = try await documents.fetch(address)
            let metadata = try ProviderMetadata(document.body, issuer: issuer)
            return try await fetchKeys(metadata.jwksURI, metadata.algorithms)
        case .jwks(let address): return try await fetchKeys(address, SignatureAlgorithm.all)
        }
    }

    private func fetchKeys(
        _ address: String, _ algorithms: Set<SignatureAlgorithm>
    ) async throws(FetchFailure) -> FetchedKeys {
        let document = try await documents.fetch(address)
        return FetchedKeys(
            keys: try JWKSet(reading: document.body), text: document.body, algorithms: algorithms, source: .network,
            lifetime: document.lifetime, fetchedAtUnixSeconds: unixSeconds())
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
