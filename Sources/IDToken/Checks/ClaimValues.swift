private import Bytes
private import JSON

/// Checks the claims whose values the settings require or forbid.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``.
package func checkClaimValues(_ claims: Claims, _ policy: ProviderPolicy) throws(Rejection) {
    for rule in policy.claimRules { try rule.check(claims) }
}

extension ClaimRule {
    /// - Throws: ``Rejection/claimMissing(_:)``; ``Rejection/claimInvalid(_:)``, also if the claim is not a string, a
    ///   boolean or an integer.
    package func check(_ claims: Claims) throws(Rejection) {
        guard let value = claims.value(at: claim), value.kind != .null else {
            guard kind != .oneOf else { throw .claimMissing(claim.name) }
            return
        }
        guard kind != .absent, let text = value.comparableText,
            values.contains(where: { $0.isExactly(text.span) }) == (kind == .oneOf)
        else { throw .claimInvalid(claim.name) }
    }
}

extension JSONValue {
    fileprivate var comparableText: ArraySlice<UInt8>? {
        if let bool { return Array("\(bool)".utf8)[...] }
        return utf8 ?? integer.map { Array("\($0)".utf8)[...] }
    }
}
