/// Checks that every claim that the settings require has a value.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/groupsOverage``.
package func checkRequiredClaims(_ claims: Claims, _ policy: ProviderPolicy) throws(Rejection) {
    for claim in policy.requiredClaims { try checkPresence(of: claim, claims) }
}

/// Checks that a required claim has a value.
///
/// - Throws: ``Rejection/claimMissing(_:)``; ``Rejection/groupsOverage`` if the claim is that of the user's groups, and
///   there are too many.
package func checkPresence(of claim: ClaimName, _ claims: Claims) throws(Rejection) {
    guard !claims.hasValue(claim) else { return }
    throw claims.leavesOutGroups(at: ClaimPath(claim.string)) ? .groupsOverage : .claimMissing(claim)
}
