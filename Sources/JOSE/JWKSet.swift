private import Bytes
private import JSON
private import OpenSSL

/// A JWK Set (RFC 7517, section 5): the keys of one issuer, decoded and checked once.
public struct JWKSet: Sendable {
    /// The keys that were understood, in the set's order; some may be unsuitable.
    public let keys: [JWK]
    private let keysByID: [ExactString: [JWK]]

    /// More keys than this in one set, and the set is refused.
    public static let maximumKeys = 1024

    /// Why a text is no usable JWK Set.
    public enum ReadingError: Error, Equatable, Sendable {
        /// Not a strict JSON object with an array `keys`; of certificates, not a strict JSON object.
        case malformed
        /// More than ``JWKSet/maximumKeys``.
        case tooManyKeys
        /// No key in it can verify a signature: empty, or all of them unknown, private, unsuitable or for encryption.
        case noUsableKey
    }

    /// Reads the JSON text of a JWK Set. A key that can't be used is passed over, never the set.
    ///
    /// - Throws: ``ReadingError``.
    public init(_ json: [UInt8]) throws(ReadingError) {
        guard let tree = try? JSONTree(readingObject: json), let entries = tree.object?["keys"]?.array else {
            throw .malformed
        }
        guard entries.count <= Self.maximumKeys else { throw .tooManyKeys }
        self.init(keys: entries.compactMap { $0.object.flatMap(JWK.init) })
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

    /// The same set, of objects that nobody else has.
    ///
    /// For each thread that verifies: threads that counted references to the same keys would take the counts' cache lines
    /// from each other all the time.
    package func copied() -> JWKSet { JWKSet(keys: keys.map(JWK.init(copying:))) }

    /// The same set with further keys behind its own, as many as ``maximumKeys`` allows.
    package func adding(_ further: [JWK]) -> JWKSet {
        JWKSet(keys: keys + further.prefix(Self.maximumKeys - keys.count))
    }

    /// The set's first keys.
    package func prefix(_ count: Int) -> JWKSet { JWKSet(keys: Array(keys.prefix(count))) }

    /// The set as JSON.
    package var json: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.name("keys")
        json.beginArray()
        for key in keys { json.value(.object(key.members)) }
        json.endArray()
        json.endObject()
        return json.bytes
    }

    /// 48 bits of a SHA-256 over the keys, whatever their order: two services with the same keys have the same number.
    ///
    /// - Returns: 0 to 2⁴⁸ − 1, so that a double holds it.
    package var fingerprint: Int64 {
        let lines = keys.map { "\($0.keyID ?? "") \($0.thumbprint)\n" }.sorted()
        let digest = (try? DigestContext().digest(Array(lines.joined().utf8).span, with: .sha256)) ?? []
        return digest.prefix(6).reduce(0) { $0 << 8 | Int64($1) }
    }

    /// Whether a key of the set carries this `kid`.
    public func hasKey(_ keyID: String) -> Bool { keysByID[ExactString(keyID)] != nil }

    /// The keys that may have signed a JWS, if they fit its algorithm: with a `kid`, those that carry it; without one, all.
    package func candidates(keyID: String?) -> [JWK] {
        guard let keyID else { return keys }
        return keysByID[ExactString(keyID)] ?? []
    }
}
