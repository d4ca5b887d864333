/// Checks the token's age by its `iat`, if the settings limit it.
///
/// - Throws: ``Rejection/tokenTooOld``.
package func checkTokenAge(issuedAt: UnixTime, _ policy: ProviderPolicy, now: UnixTime) throws(Rejection) {
    guard let maximumAge = policy.maximumTokenAgeSeconds else { return }
    let oldest = issuedAt.advanced(bySeconds: maximumAge).advanced(bySeconds: policy.clockSkewSeconds)
    guard now <= oldest else { throw .tokenTooOld }
}
