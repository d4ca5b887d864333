/// Checks that `nbf`, if present, does not lie in the future, allowing for clock skew.
///
/// - Throws: ``Rejection/claimInvalid(_:)``, ``Rejection/tokenNotYetValid``.
/// - Source: RFC 7519, section 4.1.5.
package func checkNotBefore(_ claims: Claims, _ policy: ProviderPolicy, now: UnixTime) throws(Rejection) -> UnixTime? {
    let notBefore = try claims.time(.notBefore)
    if let notBefore, notBefore > now.advanced(bySeconds: policy.clockSkewSeconds) { throw .tokenNotYetValid }
    return notBefore
}
