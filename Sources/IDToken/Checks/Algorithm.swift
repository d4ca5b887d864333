package import JOSE

extension JWSVerifier {
    /// Checks that the header's `alg` is one that the provider may sign with, and returns it.
    ///
    /// - Throws: ``Rejection/headerUnsupported``, ``Rejection/algorithmNotAllowed``.
    /// - Source: OpenID Connect Core 1.0, 3.1.3.7, step 7; RFC 8725, section 3.1.
    @inline(__always)
    package func checkAlgorithm(
        _ header: JOSEHeader, allowing algorithms: SignatureAlgorithms
    ) throws(Rejection) -> SignatureAlgorithm {
        do throws(JWSError) {
            return try checkHeader(header, allowing: algorithms)
        } catch {
            throw Rejection(error)
        }
    }
}
