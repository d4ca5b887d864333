internal import JOSE
package import OpenSSL

/// Whether a claim equals the base64url encoding of the left half of the hash of `value`.
///
/// - Throws: ``Rejection/cryptographyUnavailable``.
package func halfHash(
    of value: String, by digest: DigestAlgorithm, _ checker: SignatureChecker, equals claimed: ArraySlice<UInt8>
) throws(Rejection) -> Bool {
    try checker.withHash(of: value.utf8.span, digest) { hash in
        constantTimeEquals(Base64URL.encode(hash.extracting(..<(hash.count / 2))).span, claimed.span)
    }
}
