internal import JOSE

/// Checks that the JOSE header's `typ` does not say that this is some other kind of token.
///
/// Absent, `JWT` and `application/jwt`, in any case of letters. Access tokens (`at+jwt`), logout tokens (`logout+jwt`) and
/// security events (`secevent+jwt`) say what they are, and are believed.
///
/// - Throws: ``Rejection/headerUnsupported``.
/// - Source: RFC 7515, section 4.1.9; RFC 8725, sections 3.11 and 3.12.
func checkTokenType(_ header: JOSEHeader) throws(Rejection) {
    guard let type = header.type?.lowercased() else { return }
    guard type == "jwt" || type == "application/jwt" else { throw .headerUnsupported }
}
