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
        /// At this address, as certificates by `kid`.
        case certificates(address: String)

        /// Tells keys that were kept from those of another place, or that were believed by other rules.
        package func identity(under rules: NetworkRules) -> String {
            let place =
                switch self {
                case .discovery(let address, let issuer, let readsAlgorithms):
                    "discovery \(address) \(issuer) \(readsAlgorithms)"
                case .jwks(let address): "jwks \(address)"
                case .certificates(let address): "certificates \(address)"
                }
            return place + " " + rules.trust
        }

        /// Where the first document is.
        package var address: String {
            switch self {
            case .discovery(let address, _, _), .jwks(let address), .certificates(let address): address
            }
        }
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
            let algorithms = readsAlgorithms ? metadata.algorithms : .all
            guard !algorithms.isEmpty else {
                throw FetchFailure(.parse, "the discovery document lists no algorithm that is supported")
            }
            memory.withLock { $0.discovery = document }
            return try await fetchKeys(metadata.jwksURI, .jwkSet, algorithms, mode)
        case .jwks(let address): return try await fetchKeys(address, .jwkSet, .all, mode)
        case .certificates(let address):
            return try await fetchKeys(address, .certificates, .all, mode)
        }
    }

    private enum Form { case jwkSet, certificates }

    private func fetchKeys(
        _ address: String, _ form: Form, _ algorithms: SignatureAlgorithms, _ mode: FetchMode
    ) async throws(FetchFailure) -> FetchedKeys {
        let last = memory.withLock { $0.jwks?.address == address ? $0.jwks : nil }
        let document = try await documents.fetch(address, mode, known: last?.document)
        let keys: JWKSet
        if let last, last.document.body == document.body {
            keys = last.keys
        } else {
            keys =
                switch form {
                case .jwkSet: try JWKSet(reading: document.body)
                case .certificates: try JWKSet(readingCertificates: document.body)
                }
        }
        memory.withLock { $0.jwks = (address, document, keys) }
        return FetchedKeys(
            keys: keys, text: form == .jwkSet ? document.body : keys.json, algorithms: algorithms, source: .network,
            lifetime: document.lifetime,
            fetchedAtUnixSeconds: unixSeconds(), isConfirmation: document.isConfirmation,
            clockOffsetSeconds: document.clockOffsetSeconds)
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
            throw FetchFailure(
                describing: error, malformed: "the key set is not a JSON object with an array of keys",
                JWKSet.entries(of: json))
        }
    }

    /// Reads certificates by `kid` that came from a provider.
    ///
    /// - Throws: ``FetchFailure`` of the phase `parse`.
    fileprivate init(readingCertificates json: [UInt8]) throws(FetchFailure) {
        do throws(ReadingError) {
            try self.init(certificates: json)
        } catch {
            throw FetchFailure(
                describing: error, malformed: "the certificates are not one JSON object",
                JWKSet.entries(ofCertificates: json))
        }
    }
}

extension FetchFailure {
    /// - Parameter entries: what is in the set, to say of each key why it can't be used.
    fileprivate init(
        describing error: JWKSet.ReadingError, malformed: String, _ entries: @autoclosure () -> [JWKSet.Entry]
    ) {
        switch error {
        case .malformed: self.init(.parse, malformed)
        case .tooManyKeys: self.init(.parse, "the key set holds more than \(JWKSet.maximumKeys) keys")
        case .noUsableKey: self.init(.parse, Self.unusable(entries()))
        }
    }

    private static let listedKeys = 5

    private static func unusable(_ entries: [JWKSet.Entry]) -> String {
        let message = "the key set holds no key that can verify a signature"
        guard !entries.isEmpty else { return message + ": it is empty" }
        var flaws = entries.prefix(listedKeys).enumerated().map { index, entry in
            "key \(index + 1)\(name(entry.keyID)): \(entry.flaw ?? "it can't be used")"
        }
        if entries.count > listedKeys { flaws.append("and \(entries.count - listedKeys) more") }
        return message + ": " + flaws.joined(separator: "; ")
    }

    /// A `kid` is the provider's text: shown as printable ASCII, and not all of a long one.
    private static func name(_ keyID: String?) -> String {
        guard let keyID else { return "" }
        let scalars = keyID.unicodeScalars.prefix(40)
        let end = scalars.count < keyID.unicodeScalars.count ? "…" : ""
        return " (kid \"" + scalars.map { $0.escaped(asASCII: true) }.joined() + end + "\")"
    }
}
