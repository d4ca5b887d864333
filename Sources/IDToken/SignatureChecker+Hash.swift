internal import OpenSSL

extension SignatureChecker {
    /// The digest of `bytes`, for a check to compare.
    ///
    /// - Throws: ``Rejection/cryptographyUnavailable``.
    func hash(_ bytes: [UInt8], with algorithm: DigestAlgorithm) throws(Rejection) -> [UInt8] {
        do throws(OpenSSLError) {
            return try digest(bytes.span, with: algorithm)
        } catch {
            throw .cryptographyUnavailable
        }
    }
}
