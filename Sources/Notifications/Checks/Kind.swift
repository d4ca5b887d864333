package import IDToken
internal import JOSE

/// Checks the JOSE header's `typ`: that of a notification, `JWT`, or none.
///
/// - Throws: ``Rejection/headerUnsupported``.
func checkNotificationType(_ header: JOSEHeader) throws(Rejection) {
    if NotificationKind(declaredBy: header) == nil { try checkTokenType(header) }
}

/// Reads `events`, and checks that their kind is accepted, and the one that the header declares.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``; ``Rejection/headerUnsupported`` if the
///   header declares another kind.
func checkEvents(_ token: UnverifiedToken, _ rules: NotificationRules) throws(Rejection) -> EventsClaim {
    let content = try EventsClaim(token.claims)
    guard rules.kinds.contains(content.kind) else { throw .claimInvalid(.events) }
    if let declared = NotificationKind(declaredBy: token.jws.header), !content.kind.mayBeDeclared(as: declared) {
        throw .headerUnsupported
    }
    return content
}

extension NotificationKind {
    /// The kind that a header declares by its `typ`; `nil` if it declares none.
    ///
    /// - Source: OpenID Connect Back-Channel Logout 1.0, section 2.4; RFC 8417, section 2.3; RFC 7515, section 4.1.9.
    init?(declaredBy header: JOSEHeader) {
        switch header.type?.lowercased() {
        case "logout+jwt", "application/logout+jwt": self = .logout
        case "secevent+jwt", "application/secevent+jwt": self = .securityEvent
        default: return nil
        }
    }

    /// Apple declares nothing. Its notifications are security event tokens whose `events` has a form of Apple's own.
    func mayBeDeclared(as declared: NotificationKind) -> Bool {
        switch self {
        case .apple, .securityEvent: declared == .securityEvent
        case .logout: declared == .logout
        }
    }
}

extension NotificationKind {
    /// The kind of a token's `events`; `nil` if they have none of the known forms.
    package init?(of claims: Claims) {
        guard let content = try? EventsClaim(claims) else { return nil }
        self = content.kind
    }

    /// The maximum number of events in one notification.
    package static var maximumEvents: Int { EventsClaim.maximumEvents }
}
