private import Bytes
internal import IDToken

/// Checks `sub`, or the claim that replaces it for machines, and returns the subject.
///
/// A gateway's service token may have an empty `sub`, and the machine's name in another claim. If the settings accept
/// such tokens, the subject is that claim's name, a colon, and its value, so that no machine has the subject of a user.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``.
func checkUserOrMachine(
    _ claims: Claims, _ policy: ProviderPolicy, _ dialect: AccessTokenDialect
) throws(Rejection) -> String {
    guard dialect.acceptsServiceTokens, let claim = dialect.serviceNameClaim,
        try claims.string(.subject)?.isEmpty == true
    else { return try checkSubject(claims, policy) }
    guard let name = try claims.string(claim), !name.isEmpty else { throw .claimMissing(claim) }
    let subject = claim.string + ":" + name
    guard subject.utf8.count <= policy.maximumSubjectLength, subject.utf8.allSatisfy(\.isVisibleASCII) else {
        throw .claimInvalid(claim)
    }
    return subject
}
