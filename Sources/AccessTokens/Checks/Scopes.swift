private import Bytes
internal import IDToken

/// Checks that the access token grants every scope that the request needs. Scopes compare byte for byte.
///
/// - Throws: ``Rejection/scopeMissing``.
/// - Source: RFC 6749, section 3.3; RFC 9068, section 4.
func checkScopes(_ authorization: Authorization, contain needed: [String]) throws(Rejection) {
    guard needed.allSatisfy(authorization.scopes.containsExactly) else { throw .scopeMissing }
}
