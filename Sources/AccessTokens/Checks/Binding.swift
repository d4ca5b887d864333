internal import IDToken
private import JSON

/// Checks that the token is not bound to its client's key, unless the settings accept such tokens.
///
/// Its issuer made the token useless to anyone without the key. Without a proof of possession, a thief could use it.
///
/// - Throws: ``Rejection/bindingRequired``; ``Rejection/claimInvalid(_:)`` unless `cnf` is an object.
/// - Source: RFC 7800, section 3.1; RFC 8705, section 3; RFC 9449, section 7.1.
func checkBinding(_ claims: Claims, _ dialect: AccessTokenDialect) throws(Rejection) {
    guard let confirmation = claims.object[ClaimName.confirmation.json] else { return }
    guard confirmation.object != nil else { throw .claimInvalid(.confirmation) }
    guard dialect.acceptsUncheckedBindings else { throw .bindingRequired }
}
