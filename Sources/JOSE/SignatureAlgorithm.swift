package import OpenSSL

/// A digital signature algorithm of JOSE, by its `alg` name (RFC 7518, section 3.1; RFC 8037; RFC 9864).
///
/// Asymmetric ones only: `none` and the HMAC algorithms have no case, so that no configuration and no token can name
/// them.
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
    /// Ed25519 or Ed448, as the key says (RFC 8037, section 3.1).
    case edDSA = "EdDSA"
    case ed25519 = "Ed25519"
    case ed448 = "Ed448"
}

extension SignatureAlgorithm {
    /// The scheme by which a key of this kind verifies signatures of this algorithm; `nil` where it can't.
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

    /// Whether a JWK whose `alg` is `other` may verify a token whose `alg` is this one.
    ///
    /// Equal, but for EdDSA, which RFC 9864 replaced by two names for the same thing; the curve then decides.
    func agrees(withKeyAlgorithm other: SignatureAlgorithm) -> Bool {
        switch (self, other) {
        case (.edDSA, .ed25519), (.edDSA, .ed448), (.ed25519, .edDSA), (.ed448, .edDSA): true
        default: self == other
        }
    }

    /// The hash function of an ID Token's `at_hash` and `c_hash` under this algorithm.
    ///
    /// OpenID Connect Core 3.1.3.6 says: the one in the algorithm's name. For EdDSA, practice follows the hash within the
    /// signature scheme: SHA-512 for Ed25519, SHAKE256 with 114 octets for Ed448.
    package func tokenHash(edwardsCurve: EdwardsCurve?) -> DigestAlgorithm {
        switch self {
        case .rs256, .ps256, .es256: .sha256
        case .rs384, .ps384, .es384: .sha384
        case .rs512, .ps512, .es512, .ed25519: .sha512
        case .edDSA: edwardsCurve == .ed448 ? .shake256 : .sha512
        case .ed448: .shake256
        }
    }
}
