/// A provider's endpoints for sign-ins; `nil` for those that its discovery document names.
public struct ProviderEndpoints: Sendable, Equatable {
    public var authorization: String?
    public var token: String?
    public var revocation: String?
    public var userInfo: String?

    public init(
        authorization: String? = nil, token: String? = nil, revocation: String? = nil, userInfo: String? = nil
    ) {
        self.authorization = authorization
        self.token = token
        self.revocation = revocation
        self.userInfo = userInfo
    }
}

/// A difference between a provider and the protocol, in what concerns its endpoints.
public enum ProviderQuirk: String, Sendable, CaseIterable {
    /// It refuses the scope `openid`, and issues an ID Token without it.
    case noOpenIDScope = "no_openid_scope"
    /// It sends its response by `form_post` where a scope is asked for.
    case formPostForScopes = "form_post_for_scopes"
    /// It answers `invalid_request` where a refresh token was revoked.
    case revokedIsInvalidRequest = "revoked_is_invalid_request"
    /// A refresh token stays valid after it was used.
    case refreshTokensStay = "refresh_tokens_stay"
}

/// The audience of the assertions by which clients authenticate (`private_key_jwt`).
public enum AssertionAudience: String, Sendable, CaseIterable {
    case issuer
    case tokenEndpoint = "token_endpoint"
}
