private import JSON

/// A JWK Set (RFC 7517, section 5): the keys of one issuer, decoded and checked once.
public struct JWKSet: Sendable {
    /// The keys that were understood, in the set's order; some may be unsuitable.
    public let keys: [JWK]
    private let indicesByKeyID: [ExactString: [Int]]

    /// More keys than this in one set, and the set is refused.
    public static let maximumKeys = 1024

    /// Why a text is no usable JWK Set.
    public enum ReadingError: Error, Equatable, Sendable {
        /// Not a strict JSON object with an array `keys`.
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
        keys = entries.compactMap { $0.object.flatMap(JWK.init) }
        guard keys.contains(where: \.isUsable) else { throw .noUsableKey }
        var indices: [ExactString: [Int]] = [:]
        for (index, key) in keys.enumerated() {
            if let keyID = key.keyID { indices[ExactString(keyID), default: []].append(index) }
        }
        indicesByKeyID = indices
    }

    /// Whether a key of the set carries this `kid`.
    public func hasKey(_ keyID: String) -> Bool { indicesByKeyID[ExactString(keyID)] != nil }

    /// The keys that may have signed a JWS with this header, all of them fitting its algorithm.
    ///
    /// With a `kid`, those that carry it; without one, every key that fits.
    func candidates(keyID: String?, _ algorithm: SignatureAlgorithm) -> [JWK] {
        if let keyID {
            let indices = indicesByKeyID[ExactString(keyID)] ?? []
            return indices.filter { keys[$0].algorithms.contains(algorithm) }.map { keys[$0] }
        }
        return keys.filter { $0.algorithms.contains(algorithm) }
    }
}
