package import JOSE

/// Checks that the JOSE header declares no other kind of token and no unsupported extension.
///
/// - Throws: ``Rejection/headerUnsupported``.
func checkJOSEHeader(_ header: JOSEHeader) throws(Rejection) {
    try checkTokenType(header)
    guard !header.hasUnsupportedParameter else { throw .headerUnsupported }
}

/// Checks the JOSE header's `typ`.
///
/// It may be absent, `JWT` or `application/jwt`, in any letter case. Access tokens (`at+jwt`), logout tokens
/// (`logout+jwt`) and security events (`secevent+jwt`) declare other types and are rejected.
///
/// - Throws: ``Rejection/headerUnsupported``.
/// - Source: RFC 7515, section 4.1.9; RFC 8725, sections 3.11 and 3.12.
package func checkTokenType(_ header: JOSEHeader) throws(Rejection) {
    guard let type = header.type?.lowercased() else { return }
    guard type == "jwt" || type == "application/jwt" else { throw .headerUnsupported }
}
