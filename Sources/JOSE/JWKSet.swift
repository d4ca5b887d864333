private import Bytes
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

    /// - Parameters:
    ///   - acceptingDevelopmentKeys: whether to read keys of `assay dev` too. Only `assay dev` does.
    ///   - maximumKeys: the most keys that the set may have.
    /// - Throws: ``ReadingError``.
    package init(
        _ json: [UInt8], acceptingDevelopmentKeys: Bool, maximumKeys: Int = Self.maximumKeys
    ) throws(ReadingError) {
        try self.init(
            Self.elements(of: json), acceptingDevelopmentKeys: acceptingDevelopmentKeys, maximumKeys: maximumKeys
        ) { $0.members.flatMap(JWK.init) }
    }

    /// - Parameters:
    ///   - entries: what a document publishes as keys; `nil` if it is not of its form.
    ///   - key: reads an entry; `nil` if it must be skipped.
    /// - Throws: ``ReadingError``.
    private init<Entry>(
        _ entries: [Entry]?, acceptingDevelopmentKeys: Bool = false, maximumKeys: Int = Self.maximumKeys,
        _ key: (Entry) -> JWK?
    ) throws(ReadingError) {
        guard let entries else { throw .malformed }
        guard entries.count <= maximumKeys else { throw .tooManyKeys }
        self.init(
            keys: entries.compactMap { entry in
                guard let key = key(entry) else { return nil }
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
        json.object { $0.array("keys", keys) { $1.write(to: &$0) } }
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

extension JWKSet {
    /// A key of a JWK Set as published, for operators: what it can verify, or why it can't verify anything.
    package struct Entry: Sendable {
        package let keyID: String?
        /// The algorithms of the tokens that it can verify.
        package let algorithms: SignatureAlgorithms
        /// The reason why it can't verify anything; `nil` if it can.
        package let flaw: String?

        fileprivate init(_ value: JSONValue) {
            guard let members = value.members else {
                let isObject = value.kind == .object
                self.init(
                    keyID: value.object?["kid"]?.string,
                    flaw: isObject ? "it has an integer beyond 64 bits" : "it is not a JSON object")
                return
            }
            self.init(members)
        }

        fileprivate init(_ members: [String: JSONTree]) {
            let keyID = members["kid"]?.string
            guard !DevelopmentKeys.contain(keyID) else {
                self.init(keyID: keyID, flaw: "it is a key of assay dev, with which anyone can sign")
                return
            }
            guard let key = JWK(members) else {
                self.init(keyID: keyID, flaw: Self.reasonIgnored(members))
                return
            }
            guard key.publicKey != nil else {
                self.init(keyID: keyID, flaw: Self.reasonUnsuitable(key))
                return
            }
            self.init(
                keyID: keyID, algorithms: key.algorithms,
                flaw: key.algorithms.isEmpty ? Self.reasonWithoutAlgorithm(members) : nil)
        }

        fileprivate init(keyID: String?, algorithms: SignatureAlgorithms = [], flaw: String?) {
            self.keyID = keyID
            self.algorithms = algorithms
            self.flaw = flaw
        }

        private static func reasonIgnored(_ members: [String: JSONTree]) -> String {
            guard members["d"] == nil else { return "it is a private key: anyone who has read it can sign tokens" }
            guard members["k"] == nil else { return "it is a symmetric key: anyone who has read it can sign tokens" }
            switch members["kty"]?.string {
            case "RSA": return lacks(["n", "e"], members) ?? "it is too large"
            case "EC": return lacks(["crv", "x", "y"], members) ?? "its curve (crv) is not supported"
            case "OKP": return lacks(["crv", "x"], members) ?? "its curve (crv) is not supported"
            default: return "its type (kty) is not RSA, EC or OKP"
            }
        }

        private static func reasonUnsuitable(_ key: JWK) -> String {
            let members = key.members
            let numbers = ["n", "e", "x", "y"].filter { members[$0] != nil }
            let unreadable = numbers.filter { members[$0]?.string.flatMap(Base64URL.decodeLeniently) == nil }
            guard unreadable.isEmpty else {
                let names = unreadable.joined(separator: ", ")
                return "its \(names) \(unreadable.count == 1 ? "is" : "are") not base64url"
            }
            guard key.keyType == "RSA" else {
                return "it is not a point on \(key.curve ?? "its curve"), or it is an unsafe point"
            }
            return key.isTooSmall
                ? "it is too small (\(key.typeText)): the minimum is 2048 bits" : "its n or e is not valid for RSA"
        }

        private static func lacks(_ names: [String], _ members: [String: JSONTree]) -> String? {
            let missing = names.filter { members[$0] == nil }
            return missing.isEmpty ? nil : "it has no \(missing.joined(separator: ", "))"
        }

        private static func reasonWithoutAlgorithm(_ members: [String: JSONTree]) -> String {
            if let use = members["use"], use.string != "sig" { return "its use is not sig" }
            if let operations = members["key_ops"], operations.array?.contains(.string("verify")) != true {
                return "its key_ops do not include verify"
            }
            return "its alg is not supported, or contradicts its type"
        }
    }

    /// The entries of a JSON object with certificates (``init(certificates:)``), including unreadable ones; empty if
    /// the text is not a JSON object.
    package static func entries(ofCertificates json: [UInt8]) -> [Entry] {
        (certificates(in: json) ?? []).map { certificate in
            guard let key = JWK(certificate) else {
                return Entry(keyID: certificate.keyID, flaw: "it is not a PEM certificate of an RSA or EC key")
            }
            return Entry(key.members)
        }
    }

    /// The entries of a JWK Set, including keys that ``init(_:)`` skips; empty if the text is not a JWK Set.
    package static func entries(of json: [UInt8]) -> [Entry] {
        (elements(of: json) ?? []).map(Entry.init)
    }

    /// The elements of `keys`; `nil` if the text is not a JWK Set.
    private static func elements(of json: [UInt8]) -> [JSONValue]? {
        (try? JSONObject(json))?["keys"]?.elements
    }

    /// A member of a JSON object with certificates.
    fileprivate struct PublishedCertificate {
        let keyID: String
        /// `nil` if the member is not a string.
        let pem: String?
    }

    /// The members sorted by `kid`; `nil` if the text is not a JSON object.
    private static func certificates(in json: [UInt8]) -> [PublishedCertificate]? {
        guard let object = try? JSONObject(json) else { return nil }
        var certificates: [PublishedCertificate] = []
        object.forEachMember { certificates.append(PublishedCertificate(keyID: $0, pem: $1.string)) }
        return certificates.sorted { $0.keyID < $1.keyID }
    }

    /// Reads a JSON object whose members are PEM certificates by the `kid` of their key, as Google publishes the keys
    /// of Firebase.
    ///
    /// Only the key in a certificate is used. Its signature and dates are ignored: as with a JWK, the key is trusted
    /// because of where it was fetched. A certificate that can't be used is skipped.
    ///
    /// - Throws: ``ReadingError``.
    package init(certificates json: [UInt8]) throws(ReadingError) {
        try self.init(Self.certificates(in: json), JWK.init)
    }
}

extension JWK {
    /// The key in a certificate; `nil` if it is not one certificate in PEM (RFC 7468), or its key is not RSA or EC.
    fileprivate convenience init?(_ published: JWKSet.PublishedCertificate) {
        guard let der = published.pem.flatMap(Self.der), let key = Certificate(der)?.publicKey else { return nil }
        self.init(keyID: published.keyID, key)
    }

    /// - Source: RFC 7468, sections 2 and 5.
    private static func der(_ pem: String) -> [UInt8]? {
        let lines = pem.split { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }
        guard lines.first == "-----BEGIN CERTIFICATE-----", lines.last == "-----END CERTIFICATE-----" else {
            return nil
        }
        return Base64URL.decodeLeniently(lines.dropFirst().dropLast().joined())
    }
}

extension JSONValue {
    /// The members of an object; `nil` for other values, and if an integer within is beyond 64 bits. Each key of a set is
    /// read by itself, so that such an integer makes only its key unreadable.
    fileprivate var members: [String: JSONTree]? { (try? JSONTree(readingObject: Array(json)))?.object }
}
