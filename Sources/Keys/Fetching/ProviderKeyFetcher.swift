private import NIOCore
private import Bytes
private import HTTP
private import JOSE
private import OpenSSL
private import Synchronization

/// Fetches a provider's keys over HTTP, after its discovery document if it has one.
///
/// The discovery document is fetched each time, because it has the current key URL and algorithms. The last documents
/// are remembered, so that the provider may answer 304 Not Modified, and the same keys are not decoded twice.
package final class ProviderKeyFetcher: KeyFetching {
    private let location: KeyLocation.Network
    private let documents: DocumentFetcher
    private let memory = Mutex(Memory())

    /// What the last fetch found. Of a document, only what identifies it is kept, unless its keys are fetched one by one.
    private struct Memory {
        var discovery: (document: DocumentFetcher.Document, metadata: ProviderMetadata)?
        var keys: (documents: [KnownDocument], set: JWKSet)?
    }

    private struct KnownDocument {
        /// The URL that was requested, before redirects.
        let address: String
        let document: DocumentFetcher.Document
        let digest: [UInt8]

        /// Whether another fetch found the same document.
        func isSame(as found: KeyLocation.Network.KeyDocument) -> Bool {
            guard address == found.address else { return false }
            return found.document.isNotModified || digest == found.document.digest
        }
    }

    package init(_ location: KeyLocation.Network, documents: DocumentFetcher) {
        self.location = location
        self.documents = documents
    }

    package func fetch(_ mode: FetchMode, keyIDs: [String]) async throws(FetchFailure) -> FetchedKeys {
        guard !location.hasOneDocument else { return try await fetch(mode, keyIDs, keeping: nil) }
        let kept = KeptConnection()
        let fetched: Result<FetchedKeys, FetchFailure>
        do throws(FetchFailure) {
            fetched = .success(try await fetch(mode, keyIDs, keeping: kept))
        } catch {
            fetched = .failure(error)
        }
        // Waits, so that the provider's next fetch begins when this connection is gone.
        try? await kept.close()?.get()
        return try fetched.get()
    }

    private func fetch(
        _ mode: FetchMode, _ keyIDs: [String], keeping kept: KeptConnection?
    ) async throws(FetchFailure) -> FetchedKeys {
        let found = try await location.resolve(keyIDs: keyIDs) { (address, step) async throws(FetchFailure) in
            try await documents.fetch(address, mode, known: lastDocument(at: address, step), keeping: kept)
        } read: { (document, issuer) throws(FetchFailure) in
            if document.isNotModified, let known = memory.withLock({ $0.discovery }) {
                memory.withLock { $0.discovery = (document.withoutBody, known.metadata) }
                return known.metadata
            }
            let metadata = try ProviderMetadata(document.body, issuer: issuer, under: documents.rules)
            guard !location.algorithms(of: metadata).isEmpty else {
                throw FetchFailure(.parse, "the discovery document lists no algorithm that is supported")
            }
            memory.withLock { $0.discovery = (document.withoutBody, metadata) }
            return metadata
        }
        let keys =
            if let last = lastKeys(in: found.documents) {
                last
            } else {
                try location.keySet(in: found.documents, under: documents.rules)
            }
        remember(found.documents, keys)
        let fetched = found.documents.map(\.document)
        // A missing key is a change, even if all others are unchanged.
        let isComplete = !location.findsKeysByID || fetched.count == keyIDs.count
        return FetchedKeys(
            keys: keys, algorithms: found.metadata.map(location.algorithms) ?? .all, source: .network,
            lifetime: fetched.compactMap(\.lifetime).min(), fetchedAtUnixSeconds: documents.unixSeconds(),
            isNotModified: isComplete && !fetched.isEmpty && fetched.allSatisfy(\.isNotModified),
            clockOffsetSeconds: fetched.first?.clockOffsetSeconds, endpoints: found.metadata?.endpoints)
    }

    private func lastDocument(at address: String, _ step: KeyLocation.Network.Step) -> DocumentFetcher.Document? {
        switch step {
        case .discovery: memory.withLock { $0.discovery?.document }
        case .keys: memory.withLock { $0.keys?.documents.first { $0.address == address }?.document }
        }
    }

    /// The keys of the last fetch, if the documents are the same.
    private func lastKeys(in documents: [KeyLocation.Network.KeyDocument]) -> JWKSet? {
        memory.withLock { memory in
            guard let last = memory.keys, last.documents.count == documents.count,
                zip(last.documents, documents).allSatisfy({ $0.isSame(as: $1) })
            else { return nil }
            return last.set
        }
    }

    private func remember(_ documents: [KeyLocation.Network.KeyDocument], _ keys: JWKSet) {
        memory.withLock { memory in
            let former = memory.keys?.documents ?? []
            memory.keys = (
                documents.map { found in
                    // A document that was confirmed has the digest that it had.
                    let known = found.document.isNotModified ? former.first { $0.address == found.address } : nil
                    return KnownDocument(
                        address: found.address,
                        document: location.findsKeysByID ? found.document : found.document.withoutBody,
                        digest: known?.digest ?? found.document.digest)
                }, keys
            )
        }
    }
}

extension DocumentFetcher.Document {
    /// Identifies the body.
    fileprivate var digest: [UInt8] { (try? DigestContext().digest(body.span, with: .sha256)) ?? body }

    /// What a later fetch needs to ask whether it has changed.
    fileprivate var withoutBody: DocumentFetcher.Document {
        DocumentFetcher.Document(
            body: [], address: address, caching: caching, isNotModified: isNotModified,
            clockOffsetSeconds: clockOffsetSeconds)
    }
}

extension JWKSet {
    /// Reads a provider's JWK Set.
    ///
    /// - Throws: ``FetchFailure`` of the phase `parse`.
    init(
        reading json: [UInt8], acceptingDevelopmentKeys: Bool = false, maximumKeys: Int = JWKSet.maximumKeys
    ) throws(FetchFailure) {
        do throws(ReadingError) {
            try self.init(json, acceptingDevelopmentKeys: acceptingDevelopmentKeys, maximumKeys: maximumKeys)
        } catch {
            throw FetchFailure(
                describing: error, malformed: "the key set is not a JSON object with an array of keys",
                JWKSet.entries(of: json), maximumKeys: maximumKeys)
        }
    }

    /// Reads a provider's certificates by `kid`.
    ///
    /// - Throws: ``FetchFailure`` of the phase `parse`.
    init(readingCertificates json: [UInt8]) throws(FetchFailure) {
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
    /// - Parameter entries: the contents of the set, to say for each key why it can't be used.
    fileprivate init(
        describing error: JWKSet.ReadingError, malformed: String, _ entries: @autoclosure () -> [JWKSet.Entry],
        maximumKeys: Int = JWKSet.maximumKeys
    ) {
        switch error {
        case .malformed: self.init(.parse, malformed)
        case .tooManyKeys: self.init(.parse, "the key set holds more than \(maximumKeys) keys")
        case .noUsableKey: self.init(.parse, Self.unusable(entries()))
        }
    }

    private static let listedKeys = 5

    private static func unusable(_ entries: [JWKSet.Entry]) -> String {
        let message = "the key set holds no key that can verify a signature"
        guard !entries.isEmpty else { return message + ": it is empty" }
        var flaws = entries.prefix(listedKeys).enumerated().map { index, entry in
            let name = entry.keyID.map { " (kid \($0.quotedASCII(maximumLength: 40)))" } ?? ""
            return "key \(index + 1)\(name): \(entry.flaw ?? "it can't be used")"
        }
        if entries.count > listedKeys { flaws.append("and \(entries.count - listedKeys) more") }
        return message + ": " + flaws.joined(separator: "; ")
    }
}
