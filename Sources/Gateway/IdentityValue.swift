private import AccessTokens
private import Bytes
internal import IDToken

/// A property of a verified token that a header field can carry. The raw values are the names in the settings.
package enum IdentityValue: String, Sendable, CaseIterable {
    case provider, issuer, subject, email
    case emailVerified = "email_verified"
    case emailTrust = "email_trust"
    case isPrivateEmail = "is_private_email"
    case name
    case preferredUsername = "preferred_username"
    case tenant
    case hostedDomain = "hosted_domain"
    case clientID = "client_id"
    case scopes, roles, groups, entitlements
    case sessionID = "session_id"
    case tokenID = "token_id"
    case authTime = "auth_time"
    case expiresAt = "expires_at"

    /// The field's value. Visible ASCII except `%` stays; every other UTF-8 byte is percent-encoded. The elements of a
    /// list are joined by a space. Empty if the token has no such value.
    ///
    /// - Parameter identity: the token's, which is copied once for all fields.
    func text(of token: GatewayToken, _ identity: Identity) -> String {
        switch self {
        case .provider: encoded(identity.provider)
        case .issuer: encoded(identity.issuer)
        case .subject: encoded(identity.subject)
        case .email: encoded(identity.email)
        case .emailVerified: boolean(identity.isEmailVerified)
        case .emailTrust: identity.emailTrust?.rawValue ?? ""
        case .isPrivateEmail: boolean(identity.isPrivateEmail)
        case .name: encoded(identity.name)
        case .preferredUsername: encoded(identity.preferredUsername)
        case .tenant: encoded(identity.tenant)
        case .hostedDomain: encoded(identity.hostedDomain)
        case .clientID: encoded(token.authorization?.clientID)
        case .scopes: list(token.authorization?.scopes)
        case .roles: list(token.authorization?.roles)
        case .groups: list(token.authorization?.groups)
        case .entitlements: list(token.authorization?.entitlements)
        case .sessionID: encoded(token.sessionID)
        case .tokenID: encoded(token.tokenID)
        case .authTime: token.authTime.map { String($0.seconds) } ?? ""
        case .expiresAt: String(token.expiresAt.seconds)
        }
    }

    private func boolean(_ value: Bool?) -> String { value.map { $0 ? "true" : "false" } ?? "" }

    private func list(_ elements: [String]?) -> String {
        guard let elements else { return "" }
        // An empty element would look like a second space.
        return elements.filter { !$0.isEmpty }.map(encoded).joined(separator: " ")
    }

    private func encoded(_ text: String?) -> String {
        guard let text else { return "" }
        return text.utf8.span.isUnencoded ? text : percentEncoded(text, keeping: \.isKept)
    }
}

extension Span<UInt8> {
    /// Whether no byte needs encoding. A separate loop, because it runs on each request and most values need none.
    fileprivate var isUnencoded: Bool {
        var index = 0
        while index < count, self[index].isKept { index += 1 }
        return index == count
    }
}

extension UInt8 {
    fileprivate var isKept: Bool { isVisibleASCII && self != UInt8(ascii: "%") }
}
