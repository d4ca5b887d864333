private import Bytes
internal import OpenSSL

/// A JWE in compact serialization (RFC 7516, section 7.1) that has been read but not decrypted.
package struct CompactJWE: Sendable {
    package let header: JWEHeader
    let encryptedKey: [UInt8]
    let vector: [UInt8]
    let text: [UInt8]
    let tag: [UInt8]
    /// What is authenticated beside the text: the first part, as written.
    let headerText: ArraySlice<UInt8>

    /// Reads five parts of strict base64url, of which the first is one strict JSON object.
    ///
    /// - Throws: ``JWEError/malformed(_:)``.
    package init(_ octets: ArraySlice<UInt8>) throws(JWEError) {
        let bytes = octets.span
        let stop = UInt8(ascii: ".")
        // Where each part ends. `split` took 45,000 instructions.
        var ends = [Int]()
        ends.reserveCapacity(5)
        var start = 0
        while ends.count < 5, let end = bytes.firstIndex(of: stop, from: start) {
            ends.append(end)
            start = end + 1
        }
        guard ends.count == 4 else { throw .malformed(.serialization) }
        ends.append(bytes.count)
        headerText = octets.prefix(ends[0])
        guard let json = Base64URL.decode(bytes.extracting(..<ends[0])) else { throw .malformed(.header) }
        header = try JWEHeader(json)
        func decoded(_ part: Int) throws(JWEError) -> [UInt8] {
            guard let octets = Base64URL.decode(bytes.extracting(ends[part - 1] + 1..<ends[part])) else {
                throw .malformed(.serialization)
            }
            return octets
        }
        encryptedKey = try decoded(1)
        vector = try decoded(2)
        text = try decoded(3)
        tag = try decoded(4)
    }
}

/// The parameters of a JWE's header (RFC 7516, section 4) that a reader uses. Nobody has authenticated them.
package struct JWEHeader: Sendable {
    /// `alg`; `nil` if it is absent, or none of these.
    package let algorithm: KeyManagementAlgorithm?
    /// `enc`; `nil` if it is absent, or none of these.
    package let content: ContentAlgorithm?
    /// `kid`, any string; compare it byte for byte.
    package let keyID: String?
    /// Whether there is a parameter that changes how the JWE must be processed, or a content type other than `JWT`.
    package let hasUnsupportedParameter: Bool
    /// `epk`; `nil` if it is absent.
    let sender: SenderKey?
    /// `apu` and `apv`, decoded; empty if they are absent.
    let parties: [[UInt8]]

    /// - Throws: ``JWEError/malformed(_:)`` unless it is one strict JSON object whose members have the types of RFC 7516.
    init(_ json: [UInt8]) throws(JWEError) {
        guard let object = try? JSONObject(json) else { throw .malformed(.header) }
        func string(_ name: JSONName) throws(JWEError) -> String? {
            do throws(JSONTypeMismatch) { return try object.string(name) } catch { throw .malformed(.header) }
        }
        algorithm = try string("alg").flatMap(KeyManagementAlgorithm.init(rawValue:))
        content = try string("enc").flatMap(ContentAlgorithm.init(rawValue:))
        keyID = try string("kid")
        _ = try string("typ")
        let contentType = try string("cty")
        hasUnsupportedParameter =
            JOSEHeader.unsupportedParameters.contains { object[$0] != nil }
            || !(contentType.map { $0.lowercased().isExactly("jwt") } ?? true)
        var parties: [[UInt8]] = []
        for name in ["apu", "apv"] as [JSONName] {
            guard let party = Base64URL.decode((try string(name) ?? "").utf8.span) else { throw .malformed(.header) }
            parties.append(party)
        }
        self.parties = parties
        guard let value = object["epk"] else {
            sender = nil
            return
        }
        guard let members = value.object else { throw .malformed(.header) }
        sender = SenderKey(members)
    }
}

/// `epk`: the public half of the key that the sender made for one JWE (RFC 7518, section 4.6.1.1).
struct SenderKey: Sendable {
    /// `nil` for a curve without key agreement.
    let curve: AgreementCurve?
    private let x: [UInt8]?
    private let y: [UInt8]?
    /// Whether its members are those of a public key on its curve.
    private let isWellFormed: Bool

    init(_ members: JSONObject) {
        func octets(_ name: JSONName) -> [UInt8]? {
            members[name]?.string.flatMap { Base64URL.decode($0.utf8.span) }
        }
        curve = members["crv"]?.string.flatMap(AgreementCurve.init(rawValue:))
        x = octets("x")
        y = octets("y")
        isWellFormed =
            members["d"] == nil && members["kty"]?.string == (curve == .x25519 ? "OKP" : "EC")
            && (curve != .x25519 || members["y"] == nil)
    }

    /// `nil` if it is not on its curve, or written in another way than RFC 7518 demands.
    var point: AgreementPoint? {
        guard isWellFormed, let curve, let x else { return nil }
        return AgreementPoint(curve, x: x, y: y)
    }
}

/// Why a JWE was not decrypted. It contains no text of the token, so it may be logged.
package enum JWEError: Error, Equatable, Sendable {
    /// Not five parts in strict base64url, or the header is not one strict JSON object with well-typed members.
    case malformed(JWSPart)
    /// `crit`, `zip` or `b64`, a content type other than `JWT`, or another JWE inside.
    case headerUnsupported
    /// `alg` or `enc` is absent, unknown, or not allowed.
    case algorithmNotAllowed
    /// No key fits, or the key, the header or the content is not what the sender made: one error for all.
    case decryptionFailed
    /// OpenSSL failed for a reason that no token can cause.
    case cryptographyUnavailable
}
