private import Bytes
internal import JOSE

/// The location of a provider's keys.
package enum KeyLocation: Sendable, Equatable {
    /// On the network, with an optional fallback file.
    case network(Network, fallbackFile: String? = nil)
    /// A file with a JWK Set.
    case file(path: String)
    /// Each issuer's own discovery document, for an entry with many.
    case issuers(DiscoveryRules)

    /// How a provider publishes its keys.
    package enum Network: Sendable, Equatable {
        /// At the `jwks_uri` of the discovery document at this URL. With `readsAlgorithms`, the supported ones of the
        /// algorithms that the document lists for ID Tokens apply. If the server refuses to send this document, each of
        /// the other URLs is tried in turn.
        case discovery(address: String, others: [String] = [], issuer: String, readsAlgorithms: Bool)
        /// A JWK Set at this URL.
        case jwkSet(address: String)
        /// Certificates by `kid` at this URL.
        case certificates(address: String)
        /// One public key in PEM for each `kid`, at this URL with ``keyIDPlaceholder`` replaced. A `kid` is a UUID.
        case publicKeys(address: String)

        /// Stands for the `kid` in the URL of a public key.
        package static let keyIDPlaceholder = "{kid}"

        /// Whether keys are fetched one by one, because no document lists them.
        package var findsKeysByID: Bool { if case .publicKeys = self { true } else { false } }

        /// Identifies the location together with the trust rules, so that cached keys of another location or other
        /// rules are not used.
        package func identity(under rules: NetworkRules) -> String {
            let text =
                switch self {
                // The others follow from the issuer, and name it.
                case .discovery(let address, _, let issuer, let readsAlgorithms):
                    "discovery \(address) \(issuer) \(readsAlgorithms)"
                case .jwkSet(let address): "jwks \(address)"
                case .certificates(let address): "certificates \(address)"
                case .publicKeys(let address): "public keys \(address)"
                }
            return text + " " + rules.trust
        }
    }

    /// The file from which keys are read, as the only source or as a fallback.
    package var file: String? {
        switch self {
        case .network(_, let fallbackFile): fallbackFile
        case .file(let path): path
        case .issuers: nil
        }
    }
}

/// A document in which an issuer describes itself.
package enum DiscoveryDocument: String, Sendable, CaseIterable {
    /// Of an OpenID Provider (OpenID Connect Discovery 1.0, section 4).
    case openid
    /// Of an authorization server (RFC 8414, section 3).
    case oauth
}

/// Which documents of an issuer may say where its keys are.
package struct DiscoveryRules: Sendable, Equatable {
    private let document: DiscoveryDocument?
    private let isOfAccessTokens: Bool
    /// As in ``KeyLocation/Network/discovery(address:others:issuer:readsAlgorithms:)``.
    package let readsAlgorithms: Bool

    /// - Parameters:
    ///   - document: `nil`: for access tokens, whichever there is; else OpenID's.
    ///   - isOfAccessTokens: whether the keys are for access tokens. The document lists only the algorithms of ID Tokens
    ///     (OpenID Connect Discovery 1.0, section 3).
    ///   - namesAlgorithms: whether the settings name the algorithms.
    package init(_ document: DiscoveryDocument? = nil, isOfAccessTokens: Bool, namesAlgorithms: Bool) {
        self.document = document
        self.isOfAccessTokens = isOfAccessTokens
        readsAlgorithms = !namesAlgorithms && !isOfAccessTokens
    }

    /// - Parameters:
    ///   - issuer: its identifier, from which the URLs follow.
    ///   - documentIssuer: the document's issuer, if it differs from the tokens'.
    package func location(ofIssuer issuer: String, documentIssuer: String? = nil) -> KeyLocation.Network {
        let below = ProviderMetadata.address(forIssuer: issuer)
        let authorizationServer = ProviderMetadata.address(forAuthorizationServer: issuer)
        let others =
            document == nil && isOfAccessTokens
            ? [
                authorizationServer,
                ProviderMetadata.address(forAuthorizationServer: issuer, "openid-configuration"),
            ].filter { $0 != below } : []
        return .discovery(
            address: document == .oauth ? authorizationServer : below, others: others,
            issuer: documentIssuer ?? issuer, readsAlgorithms: readsAlgorithms)
    }
}

extension KeyLocation.Network {
    /// The algorithms that a discovery document allows.
    func algorithms(of metadata: ProviderMetadata) -> SignatureAlgorithms {
        if case .discovery(_, _, _, readsAlgorithms: true) = self { metadata.algorithms } else { .all }
    }

    /// Whether one document has everything.
    var hasOneDocument: Bool {
        switch self {
        case .jwkSet, .certificates: true
        case .discovery, .publicKeys: false
        }
    }

    /// One of the documents that are fetched.
    ///
    /// - `discovery`: whether it is the last place where the document is looked for.
    enum Step {
        case discovery(isLast: Bool), keys

        /// Whether the document is looked for elsewhere if this server refuses to send it.
        var hasAlternative: Bool { if case .discovery(isLast: false) = self { true } else { false } }
    }

    /// The result of resolving a location.
    struct Found {
        /// `nil` if there is no discovery document.
        let metadata: ProviderMetadata?
        /// One document with all keys; or one for each requested key that exists.
        let documents: [KeyDocument]
    }

    /// A document with keys.
    struct KeyDocument {
        /// The `kid` of its only key; `nil` if the document names the keys itself.
        var keyID: String?
        /// The URL that was requested, before redirects.
        let address: String
        let document: DocumentFetcher.Document
    }

    /// Fetches the keys of a location, after the discovery document if there is one.
    ///
    /// - Parameters:
    ///   - keyIDs: the keys to ask for, if they are fetched one by one. One that is not there is left out.
    ///   - fetch: fetches the document at a URL.
    ///   - read: reads a discovery document, which must name this issuer.
    /// - Throws: errors of these functions.
    func resolve(
        keyIDs: [String],
        fetch: (_ address: String, Step) async throws(FetchFailure) -> DocumentFetcher.Document,
        read: (DocumentFetcher.Document, _ issuer: String) throws(FetchFailure) -> ProviderMetadata
    ) async throws(FetchFailure) -> Found {
        switch self {
        case .discovery(let address, let others, let issuer, _):
            let metadata = try read(try await Self.document(at: [address] + others, fetch), issuer)
            let keys = KeyDocument(address: metadata.jwksURI, document: try await fetch(metadata.jwksURI, .keys))
            return Found(metadata: metadata, documents: [keys])
        case .jwkSet(let address), .certificates(let address):
            let keys = KeyDocument(address: address, document: try await fetch(address, .keys))
            return Found(metadata: nil, documents: [keys])
        case .publicKeys(let template):
            var documents: [KeyDocument] = []
            // Anything but a UUID could lead to another URL.
            for keyID in keyIDs where keyID.isLowercaseUUID {
                let address = template.replacing(Self.keyIDPlaceholder, with: keyID)
                do throws(FetchFailure) {
                    let document = try await fetch(address, .keys)
                    documents.append(KeyDocument(keyID: keyID, address: address, document: document))
                } catch {
                    guard error.isAbsence else { throw error }
                }
            }
            return Found(metadata: nil, documents: documents)
        }
    }

    /// The first discovery document that its server sends.
    ///
    /// - Throws: errors of `fetch`; if every server refuses, that of the first.
    static func document(
        at addresses: [String],
        _ fetch: (_ address: String, Step) async throws(FetchFailure) -> DocumentFetcher.Document
    ) async throws(FetchFailure) -> DocumentFetcher.Document {
        var refusal: FetchFailure?
        for (index, address) in addresses.enumerated() {
            do throws(FetchFailure) {
                return try await fetch(address, .discovery(isLast: index == addresses.count - 1))
            } catch {
                guard error.isRefusal else { throw error }
                refusal = refusal ?? error
            }
        }
        throw refusal ?? FetchFailure(.address, "there is no URL of a discovery document")
    }

    /// The keys that a document lists, including those that ``keySet(in:under:)`` skips; none if the document has another
    /// form.
    func entries(in document: KeyDocument) -> [JWKSet.Entry] {
        switch self {
        case .discovery, .jwkSet: JWKSet.entries(of: document.document.body)
        case .certificates: JWKSet.entries(ofCertificates: document.document.body)
        case .publicKeys: []
        }
    }

    /// Reads a JWK Set, or converts certificates or public keys to one.
    ///
    /// - Throws: ``FetchFailure`` of the phase `parse`.
    func keySet(in documents: [KeyDocument], under rules: NetworkRules) throws(FetchFailure) -> JWKSet {
        var keys: [JWK] = []
        for document in documents {
            let body = document.document.body
            switch self {
            case .discovery, .jwkSet:
                return try JWKSet(
                    reading: body, acceptingDevelopmentKeys: rules.acceptsDevelopmentKeys,
                    maximumKeys: rules.maximumKeys)
            case .certificates: return try JWKSet(readingCertificates: body)
            case .publicKeys:
                guard let keyID = document.keyID, let key = JWK(keyID: keyID, publicKey: body) else {
                    throw FetchFailure(.parse, "the document is not one public key in PEM (BEGIN PUBLIC KEY)")
                }
                keys.append(key)
            }
        }
        return JWKSet.empty.adding(keys)
    }
}
