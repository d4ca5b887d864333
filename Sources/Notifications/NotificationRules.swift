/// A kind of signed message that a provider sends to a backend after the sign-in.
package enum NotificationKind: String, Sendable, CaseIterable {
    /// Apple's server-to-server notifications.
    case apple
    /// Logout tokens of OpenID Connect Back-Channel Logout 1.0.
    case logout
    /// Security Event Tokens (RFC 8417), such as those of RISC and CAEP.
    case securityEvent = "security_event"
}

/// Which notifications of a provider are accepted.
package struct NotificationRules: Sendable, Equatable {
    /// At least one.
    package var kinds: [NotificationKind]
    /// Maximum age since `iat`, in seconds.
    package var maximumAgeSeconds = Self.defaultMaximumAgeSeconds
    /// Whether a logout token may lack `exp`. Its `iat` then limits its age, as it does for the other kinds.
    package var logoutTokensMayLackExpiration: Bool
    /// Spellings of the issuer that only notifications have, compared byte for byte.
    package var issuers: [String]

    /// A week: senders repeat a delivery for days if a backend does not answer.
    package static let defaultMaximumAgeSeconds: Int64 = 7 * 86_400

    package init(kinds: [NotificationKind], issuers: [String] = [], logoutTokensMayLackExpiration: Bool = false) {
        self.kinds = kinds
        self.logoutTokensMayLackExpiration = logoutTokensMayLackExpiration
        self.issuers = issuers
    }
}
