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
}
