/// A digital signature scheme: a JOSE algorithm without its name.
package enum SignatureScheme: Sendable, Hashable {
    /// RSASSA-PKCS1-v1_5 (RFC 8017, section 8.2).
    case rsaPKCS1(DigestLength)
    /// RSASSA-PSS with MGF1 over the same hash function, and a salt as long as its output (RFC 7518, section 3.5).
    case rsaPSS(DigestLength)
    /// ECDSA with signatures in the form r ‖ s, both at the curve's full length (RFC 7518, section 3.4).
    case ecdsa(EllipticCurve)
    /// EdDSA over the message itself (RFC 8032).
    case edwards(EdwardsCurve)

    /// A scheme's SHA-2 function, by its output in bits.
    package enum DigestLength: Sendable { case bits256, bits384, bits512 }

    /// The digest that is signed; `nil` if the scheme signs the whole message.
    package var digest: DigestAlgorithm? {
        switch self {
        case .rsaPKCS1(let length), .rsaPSS(let length): length.algorithm
        case .ecdsa(.p256): .sha256
        case .ecdsa(.p384): .sha384
        case .ecdsa(.p521): .sha512
        case .edwards: nil
        }
    }

    /// Whether a key of this kind can verify signatures of this scheme.
    package func fits(_ kind: PublicKeyKind) -> Bool {
        switch (self, kind) {
        case (.rsaPKCS1, .rsa), (.rsaPSS, .rsa): true
        case (.ecdsa(let own), .ellipticCurve(let other)): own == other
        case (.edwards(let own), .edwards(let other)): own == other
        default: false
        }
    }
}

extension SignatureScheme.DigestLength {
    var algorithm: DigestAlgorithm {
        switch self {
        case .bits256: .sha256
        case .bits384: .sha384
        case .bits512: .sha512
        }
    }
}

extension PublicKeyKind {
    /// The length in bytes of a signature by a key of this kind.
    package var signatureLength: Int {
        switch self {
        case .rsa(let modulusLength): modulusLength
        case .ellipticCurve(let curve): 2 * curve.coordinateLength
        case .edwards(let curve): curve.signatureLength
        }
    }
}
