private import Bytes
package import JOSE

extension JWSVerifier {
    /// The checks that need no key: the JOSE header declares no other kind of token and no unsupported extension, and
    /// its `alg` is allowed.
    ///
    /// - Parameter checkType: checks the header's `typ`.
    /// - Returns: the algorithm. If it is not allowed but known, and the observer continues, the token's own.
    /// - Throws: ``Rejection/headerUnsupported``, ``Rejection/algorithmNotAllowed``.
    /// - Source: OpenID Connect Core 1.0, 3.1.3.7, step 7; RFC 8725, section 3.1.
    @inline(__always)
    func runHeaderChecks<Observer: CheckObserver>(
        on token: UnverifiedToken, allowing algorithms: SignatureAlgorithms,
        type checkType: (JOSEHeader) throws(Rejection) -> Void, watchedBy observer: Observer
    ) throws(Rejection) -> SignatureAlgorithm? {
        let header = token.jws.header
        func checkTypeAndParameters() throws(Rejection) {
            try checkType(header)
            guard !header.hasUnsupportedParameter else { throw .headerUnsupported }
        }
        // An observer may continue after another kind's typ, which does not change how the token is signed. What crit,
        // b64 or zip change is unknown, so neither the algorithm nor the signature is then checked.
        let isReadable: Void? =
            try observer.check(.header, checkTypeAndParameters()) ?? (header.hasUnsupportedParameter ? nil : ())
        let algorithm = try observer.check(.algorithm, given: isReadable) { () throws(Rejection) in
            do throws(JWSError) {
                return try checkHeader(header, allowing: algorithms)
            } catch {
                throw Rejection(error)
            }
        }
        return algorithm ?? isReadable.flatMap { header.algorithm }
    }

    /// Checks that the signature was made by a key that the provider has published.
    ///
    /// - Throws: ``Rejection/keyNotFound``, ``Rejection/keyUnsuitable``, ``Rejection/signatureInvalid``,
    ///   ``Rejection/cryptographyUnavailable``.
    /// - Source: OpenID Connect Core 1.0, 3.1.3.7, step 6; RFC 7515, section 5.2.
    @inline(__always)
    func checkSignature(
        _ jws: CompactJWS, _ keys: JWKSet, _ algorithm: SignatureAlgorithm
    ) throws(Rejection) -> VerifiedJWS {
        do throws(JWSError) {
            return try verify(jws, with: keys, by: algorithm)
        } catch {
            throw Rejection(error)
        }
    }
}

/// Checks the JOSE header's `typ`.
///
/// It may be absent, `JWT` or `application/jwt`, in any letter case. Access tokens (`at+jwt`), logout tokens
/// (`logout+jwt`) and security events (`secevent+jwt`) declare other types and are rejected.
///
/// - Throws: ``Rejection/headerUnsupported``.
/// - Source: RFC 7515, section 4.1.9; RFC 8725, sections 3.11 and 3.12.
package func checkTokenType(_ header: JOSEHeader) throws(Rejection) {
    guard let type = header.type?.lowercased() else { return }
    guard type == "jwt" || type == "application/jwt" else { throw .headerUnsupported }
}

extension IDTokenVerifier {
    /// Checks the header and the signature of a token that is no ID Token of a sign-in.
    ///
    /// - Throws: ``Rejection``.
    func checkSigned(
        _ token: UnverifiedToken, with keys: JWKSet, allowing algorithms: SignatureAlgorithms
    ) throws(Rejection) -> VerifiedJWS {
        let algorithm = try jwsVerifier.runHeaderChecks(
            on: token, allowing: algorithms, type: checkTokenType, watchedBy: FirstFailure())
        // Unreachable: `FirstFailure` throws when a check fails.
        guard let algorithm else { throw .headerUnsupported }
        return try jwsVerifier.checkSignature(token.jws, keys, algorithm)
    }
}

/// Checks that the key that verified the ID Token may sign for its issuer. A JWK may name its issuer in a member
/// `issuer`.
///
/// Microsoft publishes the keys of all tenants in one set. Some keys are for any tenant: their issuer is a template
/// with the tenant in braces. Keys for personal accounts name the issuer of that one tenant. Without this check, either
/// kind of key could sign for the other.
///
/// - Parameter keyIssuer: the JWK's `issuer`. A key without one may sign for every issuer of the set.
/// - Throws: ``Rejection/issuerMismatch``; ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)`` for the claim
///   that names the tenant.
/// - Source: learn.microsoft.com/entra/identity-platform/access-tokens, "Validate the signing key's issuer".
package func checkKeyIssuer(_ keyIssuer: String?, _ claims: Claims, _ policy: ProviderPolicy) throws(Rejection) {
    guard let keyIssuer else { return }
    for template in policy.keyIssuers {
        guard let tenant = try claims.string(template.claim) else { throw .claimMissing(template.claim) }
        if keyIssuer.isExactly(template.issuer(ofTenant: tenant)) { return }
        // Microsoft's placeholder is {tenantid}, whatever the claim's name.
        if let ofAnyTenant = IssuerTemplate(keyIssuer), ofAnyTenant.hasSameText(template) { return }
    }
    throw .issuerMismatch
}
