internal import JOSE

/// Where a provider's keys are.
package enum KeyLocation: Sendable, Equatable {
    /// On the network; the file, if there is one, is what to fall back on.
    case network(Network, fallbackFile: String? = nil)
    /// In a file that holds a JWK Set.
    case file(path: String)

    /// Where a provider publishes its keys.
    package enum Network: Sendable, Equatable {
        /// Where the discovery document at this address says; of its list of algorithms, those that we support are used,
        /// unless the operator's own list counts.
        case discovery(address: String, issuer: String, readsAlgorithms: Bool)
        /// At this address.
        case jwkSet(address: String)
        /// At this address, as certificates by `kid`.
        case certificates(address: String)

        /// Tells keys that were kept from those of another place, or that were believed by other rules.
        package func identity(under rules: NetworkRules) -> String {
            let text =
                switch self {
                case .discovery(let address, let issuer, let readsAlgorithms):
                    "discovery \(address) \(issuer) \(readsAlgorithms)"
                case .jwkSet(let address): "jwks \(address)"
                case .certificates(let address): "certificates \(address)"
                }
            return text + " " + rules.trust
        }
    }

    /// The file that keys are read from, first or as a fallback.
    package var file: String? {
        switch self {
        case .network(_, let fallbackFile): fallbackFile
        case .file(let path): path
        }
    }
}

extension KeyLocation.Network {
    /// A document on the way to the keys.
    enum Step { case discovery, keys }

    /// What was found at the end of the way.
    struct Found {
        /// `nil` where no discovery document is read.
        let metadata: ProviderMetadata?
        let address: String
        let keys: DocumentFetcher.Document
    }

    /// Goes from the location to the keys, by way of the discovery document where there is one.
    ///
    /// - Parameters:
    ///   - fetch: fetches the document at an address.
    ///   - read: reads a discovery document, which must name this issuer.
    /// - Throws: what these throw.
    func resolve(
        fetch: (_ address: String, Step) async throws(FetchFailure) -> DocumentFetcher.Document,
        read: (DocumentFetcher.Document, _ issuer: String) throws(FetchFailure) -> ProviderMetadata
    ) async throws(FetchFailure) -> Found {
        switch self {
        case .discovery(let address, let issuer, _):
            let metadata = try read(try await fetch(address, .discovery), issuer)
            let keys = try await fetch(metadata.jwksURI, .keys)
            return Found(metadata: metadata, address: metadata.jwksURI, keys: keys)
        case .jwkSet(let address), .certificates(let address):
            return Found(metadata: nil, address: address, keys: try await fetch(address, .keys))
        }
    }

    /// The JWK Set that a document with the keys is, or stands for.
    ///
    /// - Throws: ``FetchFailure`` of the phase `parse`.
    func keySet(in document: [UInt8]) throws(FetchFailure) -> JWKSet {
        switch self {
        case .discovery, .jwkSet: try JWKSet(reading: document)
        case .certificates: try JWKSet(readingCertificates: document)
        }
    }

    /// The text of that JWK Set.
    func text(of keys: JWKSet, in document: [UInt8]) -> [UInt8] {
        if case .certificates = self { keys.json } else { document }
    }
}
