private import Bytes
internal import IDToken

/// Checks that the access token was issued for this API, and returns `aud`.
///
/// One audience must be ours. The others are APIs that accept the same token.
///
/// If no audience is configured, the token must have none, and only its client ties it to this API; see
/// ``checkClient(_:_:_:)``.
///
/// - Parameter audience: if given, the only audience that counts as ours.
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/audienceMismatch``,
///   ``Rejection/audienceNotExpected``.
/// - Source: RFC 9068, section 4, step 4.
func checkResourceAudience(
    _ claims: Claims, _ policy: ProviderPolicy, narrowedTo audience: String?
) throws(Rejection) -> [String] {
    let audiences = try claims.audiences()
    guard !policy.audiences.isEmpty else {
        guard audiences.isEmpty, !policy.authorizedParties.isEmpty else { throw .audienceMismatch }
        return audiences
    }
    guard !audiences.isEmpty else { throw .claimMissing(.audience) }
    let ours = audiences.filter(policy.audiences.containsExactly)
    guard !ours.isEmpty else { throw .audienceMismatch }
    guard audience.map(ours.containsExactly) ?? true else { throw .audienceNotExpected }
    return audiences
}
