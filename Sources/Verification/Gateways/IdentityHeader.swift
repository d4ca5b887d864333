private import Bytes
internal import IDToken

/// A header field that tells the backend something about a verified token.
package struct IdentityHeader: Sendable, Equatable {
    /// Spelled as in the settings.
    package let name: String
    package let value: IdentityValue

    package init(_ name: String, _ value: IdentityValue) {
        self.name = name
        self.value = value
    }

    package static let usual = [
        IdentityHeader("X-Auth-Subject", .subject), IdentityHeader("X-Auth-Issuer", .issuer),
        IdentityHeader("X-Auth-Email", .email), IdentityHeader("X-Auth-Email-Trust", .emailTrust),
        IdentityHeader("X-Auth-Scopes", .scopes),
    ]

    /// Why a header field must not have this name; `nil` if it may.
    ///
    /// Fields that frame, route or authenticate a request, or that gateways use, are refused, because they change how
    /// the request is handled. Underscores are refused, because many servers treat them like hyphens, and gateways drop
    /// such fields.
    package static func refusal(ofName name: String) -> String? {
        let lowercase = name.lowercased()
        guard !name.isEmpty, name.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }) else {
            return "a header's name must consist of letters, digits and hyphens"
        }
        guard !reservedNames.contains(lowercase), !reservedPrefixes.contains(where: lowercase.hasPrefix) else {
            return "\(name) is reserved for HTTP or for gateways; choose another name, such as X-Auth-Subject"
        }
        return nil
    }

    private static let reservedNames: Set<String> = [
        "age", "allow", "alt-svc", "authorization", "cache-control", "clear-site-data", "connection", "cookie", "date",
        "dpop", "dpop-nonce", "expect", "forwarded", "from", "host", "keep-alive", "location", "origin", "pragma",
        "priority", "proxy", "range", "referer", "retry-after", "server", "set-cookie", "strict-transport-security",
        "te", "trailer", "transfer-encoding", "upgrade", "vary", "via", "www-authenticate", "x-assay-key",
        "x-forwarded", "x-http-method", "x-http-method-override", "x-method-override", "x-real-ip", "x-request-id",
        "x-rewrite-url", "x-sendfile",
    ]
    private static let reservedPrefixes = [
        "accept", "access-control-", "content-", "grpc-", "http2-", "if-", "proxy-", "sec-", "trace", "x-accel-",
        "x-envoy-", "x-forwarded-", "x-original-",
    ]
}

extension IdentityHeader {
    /// Two headers with the same name, ignoring case, so that servers can't tell them apart; `nil` if there are none.
    package static func twins(in headers: [IdentityHeader]) -> (String, String)? {
        var seen: [String: String] = [:]
        for header in headers {
            if let other = seen.updateValue(header.name, forKey: header.name.lowercased()) {
                return (other, header.name)
            }
        }
        return nil
    }
}

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

    /// Whether it is the mail address, or says something about it.
    var isOfAddress: Bool { [.email, .emailVerified, .emailTrust, .isPrivateEmail].contains(self) }

    /// The field's value. Visible ASCII except `%` stays; every other UTF-8 byte is percent-encoded. The elements of a
    /// list are joined by a space. Empty if the token has no such value.
    ///
    /// - Parameter identity: the token's, which is copied once for all fields.
    func text(of token: GatewayToken, _ identity: Identity?) -> String {
        switch self {
        case .provider: encoded(identity?.provider)
        case .issuer: encoded(identity?.issuer)
        case .subject: encoded(identity?.subject)
        case .email: encoded(identity?.email)
        case .emailVerified: boolean(identity?.isEmailVerified)
        case .emailTrust: identity?.emailTrust?.rawValue ?? ""
        case .isPrivateEmail: boolean(identity?.isPrivateEmail)
        case .name: encoded(identity?.name)
        case .preferredUsername: encoded(identity?.preferredUsername)
        case .tenant: encoded(identity?.tenant)
        case .hostedDomain: encoded(identity?.hostedDomain)
        case .clientID: encoded(token.authorization?.clientID)
        case .scopes: list(token.authorization?.scopes)
        case .roles: list(token.authorization?.roles)
        case .groups: list(token.authorization?.groups)
        case .entitlements: list(token.authorization?.entitlements)
        case .sessionID: encoded(token.identifiers.session)
        case .tokenID: encoded(token.identifiers.token)
        case .authTime: token.authTime.map { String($0.seconds) } ?? ""
        case .expiresAt: token.expiresAt.map { String($0.seconds) } ?? ""
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
