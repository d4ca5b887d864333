package import OpenSSL

extension SignatureChecker {
    /// Calls a closure with the digest of `bytes`.
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
