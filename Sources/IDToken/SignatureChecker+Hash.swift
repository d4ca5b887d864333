package import OpenSSL

extension SignatureChecker {
    /// Gives a check the digest of `bytes` to compare.
    ///
    /// - Throws: ``Rejection/cryptographyUnavailable``.
    package func withHash<Result>(
        of bytes: Span<UInt8>, _ algorithm: DigestAlgorithm, _ body: (Span<UInt8>) -> Result
    ) throws(Rejection) -> Result {
        do throws(OpenSSLError) {
            return try withDigest(of: bytes, algorithm, body)
        } catch {
            throw .cryptographyUnavailable
        }
    }
}
