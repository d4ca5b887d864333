package import OpenSSL

/// A digital signature algorithm of JOSE, by its `alg` name (RFC 7518, section 3.1; RFC 8037; RFC 9864).
///
/// Only asymmetric algorithms: `none` and HMAC have no case, so that neither settings nor tokens can name them.
public enum SignatureAlgorithm: String, CaseIterable, Sendable, Hashable {
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    /// Ed25519 or Ed448, depending on the key (RFC 8037, section 3.1).
    case edDSA = "EdDSA"
    case ed25519 = "Ed25519"
    case ed448 = "Ed448"
}

extension SignatureAlgorithm {
    /// The scheme with which a key of this kind verifies this algorithm; `nil` if it can't.
    func scheme(for kind: PublicKeyKind) -> SignatureScheme? {
        let scheme: SignatureScheme =
            switch self {
            case .rs256: .rsaPKCS1(.bits256)
            case .rs384: .rsaPKCS1(.bits384)
            case .rs512: .rsaPKCS1(.bits512)
            case .ps256: .rsaPSS(.bits256)
            case .ps384: .rsaPSS(.bits384)
            case .ps512: .rsaPSS(.bits512)
            case .es256: .ecdsa(.p256)
            case .es384: .ecdsa(.p384)
            case .es512: .ecdsa(.p521)
            case .edDSA: if case .edwards(.ed448) = kind { .edwards(.ed448) } else { .edwards(.ed25519) }
            case .ed25519: .edwards(.ed25519)
            case .ed448: .edwards(.ed448)
            }
        return scheme.fits(kind) ? scheme : nil
    }

    /// Whether a JWK with the `alg` `other` may verify a token with this one.
    ///
    /// They must be equal, except for EdDSA, which RFC 9864 replaced with a name for each curve; the curve then
    /// decides.
    func agrees(withKeyAlgorithm other: SignatureAlgorithm) -> Bool {
        switch (self, other) {
        case (.edDSA, .ed25519), (.edDSA, .ed448), (.ed25519, .edDSA), (.ed448, .edDSA): true
        default: self == other
        }
    }

    /// The hash function of an ID Token's `at_hash` and `c_hash` with this algorithm.
    ///
    /// OpenID Connect Core, section 3.1.3.6 requires the one in the algorithm's name. For EdDSA, implementations use
    /// the hash of the signature scheme: SHA-512 for Ed25519, SHAKE256 with 114 bytes for Ed448.
    package func tokenHash(edwardsCurve: EdwardsCurve?) -> DigestAlgorithm {
        switch self {
        case .rs256, .ps256, .es256: .sha256
        case .rs384, .ps384, .es384: .sha384
        case .rs512, .ps512, .es512, .ed25519: .sha512
        case .edDSA: edwardsCurve == .ed448 ? .shake256 : .sha512
        case .ed448: .shake256
        }
    }

    fileprivate var bit: UInt16 {
        switch self {
        case .rs256: 1 << 0
        case .rs384: 1 << 1
        case .rs512: 1 << 2
        case .ps256: 1 << 3
        case .ps384: 1 << 4
        case .ps512: 1 << 5
        case .es256: 1 << 6
        case .es384: 1 << 7
        case .es512: 1 << 8
        case .edDSA: 1 << 9 | Self.bitOfEdDSAByEd448
        case .ed25519: 1 << 10
        case .ed448: 1 << 11
        }
    }

    /// Of EdDSA, whose keys may then be on Ed448, too.
    fileprivate static var bitOfEdDSAByEd448: UInt16 { 1 << 12 }
}

/// A set of signature algorithms.
///
/// One bit for each: a `Set` hashed the algorithm's name at each of two lookups per token.
public struct SignatureAlgorithms: Sendable, Hashable {
    private var bits: UInt16

    public init() { bits = 0 }

    public init(_ algorithms: some Sequence<SignatureAlgorithm>) {
        bits = algorithms.reduce(0) { $0 | $1.bit }
    }

    /// Ignores names of unsupported algorithms.
    package init(naming names: some Sequence<String>) {
        self.init(names.lazy.compactMap(SignatureAlgorithm.init(rawValue:)))
    }

    /// All supported algorithms.
    public static let all = SignatureAlgorithms(SignatureAlgorithm.allCases)

    public var isEmpty: Bool { bits == 0 }

    /// The same set, in which EdDSA is Ed25519 alone.
    package var withoutEd448: Self {
        var narrowed = self
        narrowed.bits &= ~(SignatureAlgorithm.ed448.bit | SignatureAlgorithm.bitOfEdDSAByEd448)
        return narrowed
    }

    /// The algorithm with which a token is verified whose header names one of these.
    func narrowed(_ algorithm: SignatureAlgorithm) -> SignatureAlgorithm {
        algorithm == .edDSA && bits & SignatureAlgorithm.bitOfEdDSAByEd448 == 0 ? .ed25519 : algorithm
    }

    /// Whether the set has an algorithm.
    public func contains(_ algorithm: SignatureAlgorithm) -> Bool { bits & algorithm.bit != 0 }

    /// The algorithms that are in both sets.
    public func intersection(_ other: Self) -> Self {
        var common = self
        common.bits &= other.bits
        return common
    }

    /// Adds the algorithms of another set.
    public mutating func formUnion(_ other: Self) { bits |= other.bits }

    /// The algorithms, in the order of `SignatureAlgorithm.allCases`.
    public var elements: [SignatureAlgorithm] { SignatureAlgorithm.allCases.filter(contains) }

    /// The names of the algorithms, in the same order.
    package var names: [String] { elements.map(\.rawValue) }
}

extension SignatureAlgorithms: ExpressibleByArrayLiteral {
    public init(arrayLiteral algorithms: SignatureAlgorithm...) { self.init(algorithms) }
}
