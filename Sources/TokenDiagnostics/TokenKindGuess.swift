internal import IDToken
private import JOSE

/// A guess at the kind of an unverified token: ID Token or access token. Only explanations depend on it.
enum TokenKindGuess: Equatable {
    /// - Parameter reason: completes the sentence "The token is an ID Token: …".
    case idToken(reason: String)
    /// - Parameter reason: completes the sentence "The token is an access token: …".
    case accessToken(reason: String)
    /// The token has a claim that access tokens usually have, and that some ID Tokens have too.
    case probablyAccessToken(reason: String)
    case unknown

    /// Guesses from typ and claims, the clearest signs first.
    ///
    /// - Source: RFC 9068, section 2.1; the presets, for claims that differ by provider.
    init(_ token: UnverifiedToken) {
        let claims = token.claims
        if ["at+jwt", "application/at+jwt"].contains(token.jws.header.type?.lowercased()) {
            self = .accessToken(reason: "its typ is at+jwt")
        } else if let kind = Self.kind(saidBy: claims) {
            self = kind
        } else if let claim = Self.ofIDTokens.first(where: claims.hasValue) {
            self = .idToken(reason: "it has \(claim.string)")
        } else if let claim = Self.ofAccessTokens.first(where: claims.hasValue) {
            self = .accessToken(reason: "it has \(claim.string)")
        } else if let claim = TokenKind.accessTokenClaims.first(where: claims.hasValue),
            !TokenKind.idTokenClaims.contains(where: claims.hasValue)
        {
            self = .probablyAccessToken(reason: "it has \(claim.string)")
        } else {
            self = .unknown
        }
    }

    /// The kind that a claim of Keycloak or Cognito declares.
    private static func kind(saidBy claims: Claims) -> TokenKindGuess? {
        for (claim, id, access) in [("typ", "ID", "Bearer"), ("token_use", "id", "access")] {
            let value = claims.text(ClaimName(claim))
            if value == id { return .idToken(reason: "its \(claim) is \(id)") }
            if value == access { return .accessToken(reason: "its \(claim) is \(access)") }
        }
        return nil
    }

    private static let ofIDTokens: [ClaimName] = [.nonce, .accessTokenHash, .codeHash]
    private static let ofAccessTokens = ["azpacr", "appidacr", "cid"].map(ClaimName.init)
}

/// The configured provider that verifies access tokens from a token's issuer.
public struct AccessTokenEntry: Sendable {
    public let id: String
    /// Whether issuer, audience, client and expiry of the token are those that the provider expects.
    let fits: Bool

    public init(id: String, fits: Bool) {
        self.id = id
        self.fits = fits
    }
}

extension Diagnosis {
    /// The diagnosis for a token that may be an access token, and was sent as an ID Token.
    static func probablyAccessToken(because reason: String) -> Diagnosis {
        Diagnosis(
            "The token is probably an access token, not an ID Token: \(reason).",
            fix: "Send the id_token of the provider's response. If this is the id_token, see the checks that failed.")
    }

    /// The diagnosis for an access token that was sent as an ID Token.
    ///
    /// - Parameter entry: the provider that may accept it as an access token; `nil` if there is none.
    static func accessToken(because reason: String, _ entry: AccessTokenEntry?) -> Diagnosis {
        let provider = entry.map { "the provider \($0.id)" } ?? "a provider that has tokens: access"
        return Diagnosis(
            "The token is an access token, not an ID Token: \(reason).",
            fix:
                "Send the id_token of the provider's response here. POST /v1/access-tokens/verify verifies access tokens, with \(provider)."
        )
    }
}

extension Check {
    /// The token's issuer, or the request, names a provider that verifies only access tokens.
    static func verifiesAccessTokens(_ token: UnverifiedToken, _ entry: AccessTokenEntry) -> Check {
        let send = "POST /v1/access-tokens/verify"
        let diagnosis =
            switch TokenKindGuess(token) {
            case .accessToken(let reason):
                Diagnosis(
                    "The token is an access token (\(reason)), which the provider \(entry.id) verifies, but ID Tokens are verified here.",
                    fix: "Send it to \(send).")
            case .idToken(let reason):
                Diagnosis(
                    "The token is an ID Token (\(reason)), but the provider \(entry.id) verifies only access tokens.",
                    fix:
                        "Add a provider with this issuer and without tokens: access; or send the access token to \(send)."
                )
            case .probablyAccessToken, .unknown:
                Diagnosis(
                    "The provider \(entry.id) verifies only access tokens and gateways' assertions, but ID Tokens are verified here.",
                    fix:
                        "Send the token to \(send). If it is an ID Token, add a provider with this issuer and without tokens: access."
                )
            }
        return .failed(.provider, .providerUnknown, diagnosis, found: entry.id)
    }
}
