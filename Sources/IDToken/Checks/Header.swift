package import JOSE

/// Checks that the JOSE header does not say that this is some other kind of token, nor that it has to be read in another way.
///
/// - Throws: ``Rejection/headerUnsupported``.
func checkJOSEHeader(_ header: JOSEHeader) throws(Rejection) {
    try checkTokenType(header)
    guard !header.hasUnsupportedParameter else { throw .headerUnsupported }
}

/// Checks the JOSE header's `typ`.
///
/// Absent, `JWT` and `application/jwt`, in any case of letters. Access tokens (`at+jwt`), logout tokens (`logout+jwt`) and
/// security events (`secevent+jwt`) say what they are, and are believed.
///
/// - Throws: ``Rejection/headerUnsupported``.
/// - Source: RFC 7515, section 4.1.9; RFC 8725, sections 3.11 and 3.12.
package func checkTokenType(_ header: JOSEHeader) throws(Rejection) {
    guard let type = header.type?.lowercased() else { return }
    guard type == "jwt" || type == "application/jwt" else { throw .headerUnsupported }
}
