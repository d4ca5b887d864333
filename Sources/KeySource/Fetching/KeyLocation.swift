internal import JOSE

/// The location of a provider's keys.
package enum KeyLocation: Sendable, Equatable {
    /// On the network, with an optional fallback file.
    case network(Network, fallbackFile: String? = nil)
    /// A file with a JWK Set.
    case file(path: String)

    /// How a provider publishes its keys.
    package enum Network: Sendable, Equatable {
        /// At the `jwks_uri` of the discovery document at this URL. With `readsAlgorithms`, the supported algorithms of
        /// that document apply; otherwise those of the settings.
        case discovery(address: String, issuer: String, readsAlgorithms: Bool)
        /// A JWK Set at this URL.
        case jwkSet(address: String)
        /// Certificates by `kid` at this URL.
        case certificates(address: String)

        /// Identifies the location together with the trust rules, so that cached keys of another location or other
        /// rules are not used.
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

    /// The file from which keys are read, as the only source or as a fallback.
    package var file: String? {
        switch self {
        case .network(_, let fallbackFile): fallbackFile
        case .file(let path): path
        }
    }
}

extension KeyLocation.Network {
    /// One of the documents that are fetched.
    enum Step { case discovery, keys }

    /// The result of resolving a location.
    struct Found {
        /// `nil` if there is no discovery document.
        let metadata: ProviderMetadata?
        let address: String
        let keys: DocumentFetcher.Document
    }

    /// Fetches the keys of a location, after the discovery document if there is one.
    ///
    /// - Parameters:
    ///   - fetch: fetches the document at a URL.
    ///   - read: reads a discovery document, which must name this issuer.
    /// - Throws: errors of these functions.
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

    /// Reads a JWK Set, or converts certificates to one.
    ///
    /// - Throws: ``FetchFailure`` of the phase `parse`.
    func keySet(in document: [UInt8], under rules: NetworkRules) throws(FetchFailure) -> JWKSet {
        switch self {
        case .discovery, .jwkSet:
            try JWKSet(reading: document, acceptingDevelopmentKeys: rules.acceptsDevelopmentKeys)
        case .certificates: try JWKSet(readingCertificates: document)
        }
    }

    /// The JSON text of that JWK Set.
    func text(of keys: JWKSet, in document: [UInt8]) -> [UInt8] {
        if case .certificates = self { keys.json } else { document }
    }
}
