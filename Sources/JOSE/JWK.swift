private import Bytes
package import OpenSSL

/// A public key in a JWK Set (RFC 7517, section 4).
///
/// A class, because keys are passed around often and never change.
public final class JWK: Sendable {
    /// `kid`. A key without one is a candidate only for tokens without one.
    public let keyID: String?
    /// `kty`: `RSA`, `EC` or `OKP`.
    public let keyType: String
    /// `crv`, if the key type has curves.
    public let curve: String?
    /// `alg`, as written. A key with an unsupported algorithm fits no token.
    public let algorithm: String?
    /// `use`, as written.
    public let use: String?
    /// `issuer`, as written: the only issuer, or issuer template, whose tokens this key may sign. A Microsoft extension
    /// for key sets that several issuers share.
    public let issuer: String?
    /// Identifies the key: the SHA-256 of its type and public members (RFC 7638), in base64url.
    public let thumbprint: String
    /// The members that this type reads, unchanged, as JSON text; `nil` for a key that can be written from its parts, as
    /// nearly all can: there may be many thousands.
    private let text: [UInt8]?
    /// `nil` if the key is well-formed enough to be listed, but can't verify anything.
    let publicKey: PublicKey?
    /// The algorithms of the tokens that the key may verify, according to its `kty`, `crv`, `alg`, `use` and `key_ops`.
    let algorithms: SignatureAlgorithms

    /// Whether this key can verify signatures.
    public var isUsable: Bool { publicKey != nil && !algorithms.isEmpty }

    /// Reads a JWK.
    ///
    /// `nil` if the key must be ignored (RFC 7517, section 5): its type or curve is unknown, it is private or
    /// symmetric, it lacks the members that its type needs, or it is so large that a verification with it would be a
    /// denial of service.
    package init?(_ members: [String: JSONTree]) {
        guard let keyType = members["kty"]?.string else { return nil }
        // A public key set must not contain private or symmetric keys; a published private key is compromised.
        guard members["d"] == nil, members["k"] == nil else { return nil }
        do throws(KeyMaterialError) {
            let found = try KeyMaterial(keyType: keyType, curve: members["crv"]?.string) { name in
                members[name.string].map { $0.string.flatMap(Base64URL.decodeLeniently) }
            }
            guard let found else { return nil }
            publicKey = try PublicKey(found)
        } catch {
            guard error != .tooLarge else { return nil }
            publicKey = nil
        }
        let isCanonical = publicKey.map { Self.isCanonical(members, $0) } ?? false
        let thumbprint = keyThumbprint(keyType: keyType) { name in
            let text = members[name.string]?.string
            return isCanonical ? text : text.map(Self.canonical)
        }
        guard let thumbprint else { return nil }
        self.thumbprint = thumbprint
        self.keyType = keyType
        curve = members["crv"]?.string
        keyID = members["kid"]?.string
        algorithm = members["alg"]?.string
        use = members["use"]?.string
        // A value that is not a string matches no issuer.
        issuer = members["issuer"].map { $0.string ?? "" }
        algorithms = SignatureAlgorithms(
            fitting: keyType, curve, keyAlgorithm: members["alg"].map(\.string), use: members["use"].map(\.string),
            operations: members["key_ops"].map { $0.array?.map(\.string) })
        // The members that forbid a key to verify have no properties.
        text = isCanonical && !algorithms.isEmpty ? nil : Self.text(of: members)
    }

    /// A copy of a key, as a separate object.
    init(copying other: JWK) {
        keyID = other.keyID
        keyType = other.keyType
        curve = other.curve
        algorithm = other.algorithm
        use = other.use
        issuer = other.issuer
        thumbprint = other.thumbprint
        text = other.text
        publicKey = other.publicKey.map(PublicKey.init(copying:))
        algorithms = other.algorithms
    }

    private static let readMembers: Set<String> = [
        "kty", "crv", "n", "e", "x", "y", "kid", "alg", "use", "key_ops", "issuer",
    ]

    private static func text(of members: [String: JSONTree]) -> [UInt8] {
        var json = JSONWriter()
        json.value(.object(members.filter { readMembers.contains($0.key) }))
        return Array(json.bytes)
    }

    /// Whether the numbers of a usable key are written as they would be written here.
    private static func isCanonical(_ members: [String: JSONTree], _ key: PublicKey) -> Bool {
        key.publicComponents.allSatisfy { name, octets in
            members[name]?.string.map { $0.utf8.span.isExactly(Base64URL.encode(octets).span) } ?? false
        }
    }

    /// The members that this type reads.
    var members: [String: JSONTree] {
        var json = JSONWriter()
        write(to: &json)
        return (try? JSONTree(readingObject: Array(json.bytes)))?.object ?? [:]
    }

    /// Writes the members that this type reads.
    func write(to json: inout JSONWriter) {
        if let text { return json.raw(text[...]) }
        guard let publicKey else { return json.object { _ in } }
        json.object { json in
            json.member("kty", keyType)
            if let curve { json.member("crv", curve) }
            if let keyID { json.member("kid", keyID) }
            if let algorithm { json.member("alg", algorithm) }
            if let use { json.member("use", use) }
            if let issuer { json.member("issuer", issuer) }
            json.members(publicKey.publicComponents)
        }
    }

    /// Encodes the same number as base64url, so that the thumbprint does not depend on the provider's encoding.
    private static func canonical(_ text: String) -> String {
        guard Base64URL.hasBase64Characters(text), let octets = Base64URL.decodeLeniently(text) else { return text }
        return String(decoding: Base64URL.encode(octets), as: UTF8.self)
    }
}

/// The members of a JWK that say which key it is.
private enum Names {
    static let keyType: JSONName = "kty"
    static let curve: JSONName = "crv"
    static let modulus: JSONName = "n"
    static let exponent: JSONName = "e"
    static let x: JSONName = "x"
    static let y: JSONName = "y"
}

extension KeyMaterial {
    /// Reads the members of a JWK that its type needs.
    ///
    /// - Parameter octets: the number or point in a member: `nil` if there is none, and `.some(nil)` if it has another form.
    /// - Returns: `nil` if the type or curve is unknown, or if a member is missing.
    /// - Throws: ``KeyMaterialError``.
    init?(keyType: String, curve: String?, _ octets: (JSONName) -> [UInt8]??) throws(KeyMaterialError) {
        switch keyType {
        case "RSA":
            guard let n = octets(Names.modulus), let e = octets(Names.exponent) else { return nil }
            guard let n, let e else { throw .malformed }
            self = try .rsa(modulus: n, exponent: e)
        case "EC":
            guard let curve = curve.flatMap(EllipticCurve.init(rawValue:)), let x = octets(Names.x),
                let y = octets(Names.y)
            else { return nil }
            guard let x, let y else { throw .malformed }
            self = try .ellipticCurve(curve, x: x, y: y)
        case "OKP":
            guard let curve = curve.flatMap(EdwardsCurve.init(rawValue:)), let x = octets(Names.x) else { return nil }
            guard let x else { throw .malformed }
            self = try .edwards(curve, point: x)
        default: return nil
        }
    }
}

/// Identifies a key by its type and public members: the SHA-256 of them, in base64url.
///
/// - Parameter text: a member's value.
/// - Returns: `nil` when out of memory.
/// - Source: RFC 7638, section 3.2; RFC 8037, section 2, for `OKP`.
func keyThumbprint(keyType: String, _ text: (JSONName) -> String?) -> String? {
    // RFC 7638 requires lexicographic order.
    let names =
        switch keyType {
        case "RSA": [Names.exponent, Names.keyType, Names.modulus]
        case "EC": [Names.curve, Names.keyType, Names.x, Names.y]
        default: [Names.curve, Names.keyType, Names.x]
        }
    var json = JSONWriter()
    json.beginObject()
    for name in names {
        json.name(escaping: name.string)
        json.value(text(name))
    }
    json.endObject()
    guard let digest = try? DigestContext().digest(json.bytes.span, with: .sha256) else { return nil }
    return String(decoding: Base64URL.encode(digest), as: UTF8.self)
}

extension SignatureAlgorithms {
    /// The algorithms that a key may verify, according to the members of its JWK. A member is `nil` if there is none, and
    /// `.some(nil)` if it has another type.
    ///
    /// An absent `use` or `key_ops` fits (RFC 7517, sections 4.2 and 4.3); Microsoft, Slack and Supabase omit one of
    /// them.
    init(
        fitting keyType: String, _ curve: String?, keyAlgorithm: String??, use: String??, operations: [String?]??
    ) {
        self.init()
        if let use, use != "sig" { return }
        if let operations, operations?.contains("verify") != true { return }
        let fitting = SignatureAlgorithm.allCases.filter { $0.fits(keyType: keyType, curve: curve) }
        guard let keyAlgorithm else {
            self.init(fitting)
            return
        }
        // A key whose `alg` is no string, or contradicts its `kty` or `crv`, fits nothing.
        guard let own = keyAlgorithm.flatMap(SignatureAlgorithm.init(rawValue:)), fitting.contains(own) else { return }
        self.init(fitting.filter { $0.agrees(withKeyAlgorithm: own) })
    }
}

extension SignatureAlgorithm {
    fileprivate func fits(keyType: String, curve: String?) -> Bool {
        switch self {
        case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512: keyType == "RSA"
        case .es256: keyType == "EC" && curve == "P-256"
        case .es384: keyType == "EC" && curve == "P-384"
        case .es512: keyType == "EC" && curve == "P-521"
        case .edDSA: keyType == "OKP"
        case .ed25519: keyType == "OKP" && curve == "Ed25519"
        case .ed448: keyType == "OKP" && curve == "Ed448"
        }
    }
}

/// Human-readable descriptions of a key.
extension JWK {
    /// Whether the key may verify tokens with this algorithm, according to its `kty`, `crv`, `alg`, `use` and
    /// `key_ops`.
    package func fits(_ algorithm: SignatureAlgorithm) -> Bool { algorithms.contains(algorithm) }

    /// Its type and size, such as `RSA, 2048 bits` or `EC P-256`.
    package var typeText: String {
        if let modulusBits { return "RSA, \(modulusBits) bits" }
        return curve.map { keyType + " " + $0 } ?? keyType
    }

    /// The length of its signatures in bytes; `nil` if it can't verify anything.
    package var signatureLength: Int? { publicKey?.kind.signatureLength }

    /// Whether it is an RSA key with fewer than 2048 bits.
    var isTooSmall: Bool { modulusBits.map { $0 < 2048 } ?? false }

    /// The length of an RSA key's modulus in bits.
    private var modulusBits: Int? {
        guard keyType == "RSA", let octets = members["n"]?.string.flatMap(Base64URL.decodeLeniently)
        else { return nil }
        let significant = octets.drop { $0 == 0 }
        return significant.count * 8 - (significant.first?.leadingZeroBitCount ?? 0)
    }

    /// - Parameter pem: one public key in PEM (RFC 7468, section 13).
    /// - Returns: `nil` for anything else, and for a key that is neither an RSA key nor on a NIST curve.
    package convenience init?(keyID: String, publicKey pem: [UInt8]) {
        guard let key = decodedPublicKey(pem: pem.span) else { return nil }
        self.init(keyID: keyID, key)
    }

    /// The JWK of a key that was published in another form.
    convenience init?(keyID: String, _ key: DecodedPublicKey) {
        if case .edwards = key.kind { return nil }
        var members = Self.publicMembers(key.kind, key.components)
        members["kid"] = .string(keyID)
        members["use"] = .string("sig")
        self.init(members)
    }

    /// The members that every JWK of a public key has: `kty`, its curve, and its components.
    package static func publicMembers(
        _ kind: PublicKeyKind, _ components: PublicComponents
    ) -> [String: JSONTree] {
        let (type, curve) = kind.names
        var members: [String: JSONTree] = ["kty": .string(type)]
        members["crv"] = curve.map(JSONTree.string)
        for (name, octets) in components {
            members[name] = .string(String(decoding: Base64URL.encode(octets), as: UTF8.self))
        }
        return members
    }
}

extension PublicKeyKind {
    /// `kty`, and `crv` if the type has curves (RFC 7518, section 6; RFC 8037, section 2).
    var names: (type: String, curve: String?) {
        switch self {
        case .rsa: ("RSA", nil)
        case .ellipticCurve(let curve): ("EC", curve.rawValue)
        case .edwards(let curve): ("OKP", curve.rawValue)
        }
    }
}

extension JSONWriter {
    /// Writes the numbers or points of a JWK.
    mutating func members(_ components: PublicComponents) {
        for (name, octets) in components {
            self.name(escaping: name)
            value(String(decoding: Base64URL.encode(octets), as: UTF8.self))
        }
    }
}
