private import Bytes
private import JSON
private import OpenSSL

/// A JWK Set (RFC 7517, section 5): the keys of one issuer, decoded and checked once.
public struct JWKSet: Sendable {
    /// The keys that could be read, in the set's order; some may be unsuitable.
    public let keys: [JWK]
    private let keysByID: [ExactString: [JWK]]

    /// The most keys that a set may have.
    public static let maximumKeys = 1024

    /// Why a document is not a usable JWK Set.
    public enum ReadingError: Error, Equatable, Sendable {
        /// Not a strict JSON object with an array `keys`; for certificates, not a strict JSON object.
        case malformed
        /// More than ``JWKSet/maximumKeys``.
        case tooManyKeys
        /// No key in it can verify a signature: the set is empty, or all keys are unknown, private, unsuitable or for
        /// encryption.
        case noUsableKey
    }

    /// Reads the JSON text of a JWK Set. A key that can't be used is skipped and does not invalidate the set. So is a
    /// key of `assay dev`, with which anyone can sign.
    ///
    /// - Throws: ``ReadingError``.
    public init(_ json: [UInt8]) throws(ReadingError) { try self.init(json, acceptingDevelopmentKeys: false) }

    /// - Parameter acceptingDevelopmentKeys: whether to read keys of `assay dev` too. Only `assay dev` does.
    /// - Throws: ``ReadingError``.
    package init(_ json: [UInt8], acceptingDevelopmentKeys: Bool) throws(ReadingError) {
        guard let tree = try? JSONTree(readingObject: json), let entries = tree.object?["keys"]?.array else {
            throw .malformed
        }
        guard entries.count <= Self.maximumKeys else { throw .tooManyKeys }
        self.init(
            keys: entries.compactMap { entry in
                guard let key = entry.object.flatMap(JWK.init) else { return nil }
                return acceptingDevelopmentKeys || !DevelopmentKeys.contain(key.keyID) ? key : nil
            })
        guard keys.contains(where: \.isUsable) else { throw .noUsableKey }
    }

    init(keys: [JWK]) {
        self.keys = keys
        var keysByID: [ExactString: [JWK]] = [:]
        for key in keys {
            if let keyID = key.keyID { keysByID[ExactString(keyID), default: []].append(key) }
        }
        self.keysByID = keysByID
    }

    /// No keys at all.
    package static let empty = JWKSet(keys: [])

    /// The same set with keys that are separate objects.
    ///
    /// Each verifying thread gets its own copy: reference counting of shared keys would move their cache lines back and
    /// forth between cores.
    package func copied() -> JWKSet { JWKSet(keys: keys.map(JWK.init(copying:))) }

    /// The same set with more keys appended, up to ``maximumKeys`` in total.
    package func adding(_ further: [JWK]) -> JWKSet {
        JWKSet(keys: keys + further.prefix(Self.maximumKeys - keys.count))
    }

    /// The set's first keys.
    package func prefix(_ count: Int) -> JWKSet { JWKSet(keys: Array(keys.prefix(count))) }

    /// The set as JSON.
    package var json: [UInt8] {
        var json = JSONWriter()
        json.object { $0.array("keys", keys) { $0.value(.object($1.members)) } }
        return json.bytes
    }

    /// 48 bits of a SHA-256 of the keys, independent of their order. Services with the same keys have the same number.
    ///
    /// - Returns: 0 to 2⁴⁸ − 1, which a double can represent.
    package var fingerprint: Int64 {
        let lines = keys.map { "\($0.keyID ?? "") \($0.thumbprint)\n" }.sorted()
        let digest = (try? DigestContext().digest(Array(lines.joined().utf8).span, with: .sha256)) ?? []
        return digest.prefix(6).reduce(0) { $0 << 8 | Int64($1) }
    }

    /// Whether a key of the set has this `kid`.
    public func hasKey(_ keyID: String) -> Bool { keysByID[ExactString(keyID)] != nil }

    /// The keys that may have signed a JWS, if they fit its algorithm: those with its `kid`, or all if it has none.
    package func candidates(keyID: String?) -> [JWK] {
        guard let keyID else { return keys }
        return keysByID[ExactString(keyID)] ?? []
    }
}
