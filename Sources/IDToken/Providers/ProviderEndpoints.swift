/// A provider's endpoints for codes and tokens; `nil` for those that its discovery document names.
public struct ProviderEndpoints: Sendable, Equatable {
    public var authorization: String?
    public var token: String?
    public var revocation: String?
    public var userInfo: String?
    /// For authorization requests that are sent before the browser (RFC 9126).
    public var pushedRequest: String?

    public init(
        authorization: String? = nil, token: String? = nil, revocation: String? = nil, userInfo: String? = nil,
        pushedRequest: String? = nil
    ) {
        self.authorization = authorization
        self.userInfo = userInfo
        self.token = token
        self.revocation = revocation
        self.pushedRequest = pushedRequest
    }
}

/// A deviation of a provider's endpoints from the protocol.
public enum ProviderQuirk: String, Sendable, CaseIterable {
    /// It responds `invalid_request` if a refresh token was revoked.
    case revokedIsInvalidRequest = "revoked_is_invalid_request"
    /// A refresh token stays valid after it was used.
    case refreshTokensStay = "refresh_tokens_stay"
    /// It does not know the scope `openid`, and sends ID Tokens without it.
    case noOpenIDScope = "no_openid_scope"
    /// If scopes are requested, it sends its response only as a form POST.
    case formPostForScopes = "form_post_for_scopes"
    /// Its token endpoint returns the granted scopes as a list of strings, not as one string.
    case scopeIsList = "scope_is_list"
    /// Its token endpoint returns no `token_type`.
    case noTokenType = "no_token_type"
}

/// The audience of the assertions by which clients authenticate (`private_key_jwt`).
public enum AssertionAudience: String, Sendable, CaseIterable {
    case issuer
    case tokenEndpoint = "token_endpoint"
}
