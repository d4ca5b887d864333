private import Bytes
internal import IDToken

/// Reads the permissions that the access token grants, and checks that it grants every scope that the request needs.
/// Scopes are compared byte for byte.
///
/// - Throws: ``Rejection/claimInvalid(_:)`` unless the scopes are a string or a list of strings;
///   ``Rejection/scopeMissing``.
/// - Source: RFC 6749, section 3.3; RFC 9068, section 4.
func checkScopes(
    _ claims: Claims, client: String?, _ dialect: AccessTokenDialect, contain needed: [String]
) throws(Rejection) -> Authorization {
    let authorization = try Authorization(claims, client: client, dialect.authorization)
    guard needed.allSatisfy(authorization.scopes.containsExactly) else { throw .scopeMissing }
    return authorization
}
