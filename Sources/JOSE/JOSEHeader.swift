private import Bytes
private import OpenSSL

/// The parameters of a JOSE header (RFC 7515, section 4) that a verifier uses.
///
/// Parameters that contain or locate keys (`jwk`, `jku`, `x5u`, `x5c`, `x5t`) are never read.
public struct JOSEHeader: Sendable, Equatable {
    /// `alg`; `nil` if it is absent, not a string, or not a ``SignatureAlgorithm``.
    public let algorithm: SignatureAlgorithm?
    /// `kid`, any string; compare it byte for byte.
    public let keyID: String?
    /// `typ`, as written.
    public let type: String?
    /// Whether there is a parameter that changes how the JWS must be processed: `crit`, `b64` or `zip`.
    public let hasUnsupportedParameter: Bool

    /// Parses the JSON text of a header.
    ///
    /// - Throws: ``JWSError/malformed(_:)`` unless it is one strict JSON object and `kid` and `typ` are strings.
    package init(_ json: [UInt8]) throws(JWSError) {
        guard let object = try? JSONObject(json) else { throw .malformed(.header) }
        algorithm = (object[Names.alg]?.string).flatMap(SignatureAlgorithm.init(rawValue:))
        do throws(JSONTypeMismatch) {
            keyID = try object.string(Names.kid)
            type = try object.string(Names.typ)
        } catch {
            throw .malformed(.header)
        }
        hasUnsupportedParameter = Self.unsupportedParameters.contains { object[$0] != nil }
    }

    /// The parameters that change how a JWS must be processed.
    // RFC 7515, section 4.1.11: a JWS with an unknown name in `crit` must be rejected, and this library knows none. RFC
    // 7797's `b64` changes the signing input; RFC 8725, section 3.6 advises against `zip`.
    package static let unsupportedParameters: [JSONName] = ["crit", "b64", "zip"]

    private enum Names {
        static let alg: JSONName = "alg"
        static let kid: JSONName = "kid"
        static let typ: JSONName = "typ"
    }
}

/// Caches the headers of verified tokens by their base64url text, because all tokens of a key have the same header.
///
/// Confined to one thread. Only headers of verified tokens are inserted, so that forged ones can't evict them.
package final class JOSEHeaderCache {
    private var known: [Entry] = []
    /// Those that had no room in `known`, by a hash of their text: with many issuers, there are thousands.
    private var others = GenerationalCache<Int, Entry>(generationSize: JOSEHeaderCache.maximumOthers / 2)

    private struct Entry {
        let text: [UInt8]
        let header: JOSEHeader

        func isText(_ other: Span<UInt8>) -> Bool { text.span.isExactly(other) }
    }

    /// As many as a linear search finds faster than a hash.
    private static let capacity = 16
    private static let maximumOthers = 16_384

    package init() {}

    package subscript(text: Span<UInt8>) -> JOSEHeader? {
        for index in known.indices where known[index].isText(text) { return known[index].header }
        return known.count == Self.capacity ? other(text) : nil
    }

    private func other(_ text: Span<UInt8>) -> JOSEHeader? {
        guard let entry = others.value(for: Self.hash(text)), entry.isText(text) else { return nil }
        return entry.header
    }

    private static func hash(_ text: Span<UInt8>) -> Int {
        var hasher = Hasher()
        unsafe text.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    package func insert(_ jws: CompactJWS) {
        // Another token with the header may have been verified since this one was read. A UserInfo response may have a header
        // of 64 KiB, of which thousands must not be kept.
        guard jws.isHeaderCacheable, jws.headerText.count <= 8192, self[jws.headerText.span] == nil else { return }
        let entry = Entry(text: Array(jws.headerText), header: jws.header)
        if known.count < Self.capacity {
            known.append(entry)
        } else {
            others.insert(entry, for: Self.hash(entry.text.span))
        }
    }
}
