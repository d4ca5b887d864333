private import Bytes
private import JSON

/// Checks the claims whose values the settings require or forbid.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/groupsOverage``.
package func checkClaimValues(_ claims: Claims, _ policy: ProviderPolicy) throws(Rejection) {
    for rule in policy.claimRules { try rule.check(claims) }
}

extension ClaimRule {
    /// A list has each of its elements as a value: one that is required is enough, and one that is refused too.
    ///
    /// - Throws: ``Rejection/claimMissing(_:)``; ``Rejection/claimInvalid(_:)``, also if the claim is neither a string,
    ///   a boolean, an integer nor a list, or if a list in which values are refused has an element of another type;
    ///   ``Rejection/groupsOverage``.
    package func check(_ claims: Claims) throws(Rejection) {
        guard !claims.leavesOutGroups(at: claim) else { throw .groupsOverage }
        guard let value = claims.value(at: claim), value.kind != .null else {
            guard kind != .oneOf else { throw .claimMissing(claim.name) }
            return
        }
        let claimed = value.elements ?? [value]
        let holds =
            switch kind {
            case .oneOf: claimed.contains { isListed($0) == true }
            case .noneOf: claimed.allSatisfy { isListed($0) == false }
            case .absent: false
            }
        guard holds else { throw .claimInvalid(claim.name) }
    }

    /// Whether a value is one of ``values``; `nil` if it is neither a string, a boolean nor an integer.
    private func isListed(_ value: JSONValue) -> Bool? {
        value.comparableText.map { text in values.contains { $0.isExactly(text.span) } }
    }
}

extension JSONValue {
    fileprivate var comparableText: ArraySlice<UInt8>? {
        if let bool { return Array("\(bool)".utf8)[...] }
        return utf8 ?? integer.map { Array("\($0)".utf8)[...] }
    }
}
