internal import AccessTokens
internal import IDToken

/// The kind of token that a verification expects.
enum ExpectedKind {
    case idToken
    /// - Parameter scopes: those that the token must grant.
    case accessToken(AccessTokenDialect, scopes: [String])

    /// The kind with its article, for use in sentences.
    var article: String {
        switch self {
        case .idToken: "an ID Token"
        case .accessToken: "an access token"
        }
    }

    /// Whether fetching keys for a token of this kind could help.
    func wouldPassClaims(_ token: UnverifiedToken, under policy: ProviderPolicy, now: UnixTime) -> Bool {
        switch self {
        case .idToken: token.wouldPassClaims(of: policy, now: now)
        case .accessToken(let dialect, _):
            token.wouldPassClaims(ofAccessTokenUnder: policy, dialect, now: now)
        }
    }

    /// The checks of a verification, in the verifier's order.
    var checks: [CheckName] {
        switch self {
        case .idToken: CheckName.ofIDTokens
        case .accessToken: CheckName.ofAccessTokens
        }
    }
}
