internal import AccessTokens
internal import IDToken
internal import Notifications

/// The kind of token that a verification expects.
enum ExpectedKind {
    case idToken
    /// - Parameter scopes: those that the token must grant.
    case accessToken(AccessTokenDialect, scopes: [String])
    case notification(NotificationRules)

    var isAccessToken: Bool { if case .accessToken = self { true } else { false } }

    /// The kind with its article, for use in sentences.
    var article: String {
        switch self {
        case .idToken: "an ID Token"
        case .accessToken: "an access token"
        case .notification: "a notification"
        }
    }

    /// Whether fetching keys for a token of this kind could help.
    func wouldPassClaims(_ token: UnverifiedToken, under policy: ProviderPolicy, now: UnixTime) -> Bool {
        switch self {
        case .idToken: token.wouldPassClaims(of: policy, now: now)
        case .accessToken(let dialect, _):
            token.wouldPassClaims(ofAccessTokenUnder: policy, dialect, now: now)
        case .notification(let rules): token.wouldPassClaims(ofNotificationUnder: policy, rules, now: now)
        }
    }

    /// The checks of a verification, in the verifier's order.
    var checks: [CheckName] {
        switch self {
        case .idToken: CheckName.ofIDTokens
        case .accessToken: CheckName.ofAccessTokens
        case .notification: CheckName.ofNotifications
        }
    }
}
