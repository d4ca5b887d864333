/// The registered name of an OAuth error (IANA, OAuth Extensions Error Registry; OpenID Connect Core 1.0, section
/// 3.1.2.6). A provider's own names become ``other``, so that no text from a provider is passed on.
package enum OAuthErrorName: String, Sendable, CaseIterable {
    case invalidRequest = "invalid_request"
    case invalidClient = "invalid_client"
    case invalidGrant = "invalid_grant"
    case unauthorizedClient = "unauthorized_client"
    case unsupportedGrantType = "unsupported_grant_type"
    case invalidScope = "invalid_scope"
    case accessDenied = "access_denied"
    case unsupportedResponseType = "unsupported_response_type"
    case serverError = "server_error"
    case temporarilyUnavailable = "temporarily_unavailable"
    case invalidToken = "invalid_token"
    case insufficientScope = "insufficient_scope"
    case unsupportedTokenType = "unsupported_token_type"
    case interactionRequired = "interaction_required"
    case loginRequired = "login_required"
    case accountSelectionRequired = "account_selection_required"
    case consentRequired = "consent_required"
    case invalidRequestURI = "invalid_request_uri"
    case invalidRequestObject = "invalid_request_object"
    case requestNotSupported = "request_not_supported"
    case requestURINotSupported = "request_uri_not_supported"
    case registrationNotSupported = "registration_not_supported"
    case slowDown = "slow_down"
    case invalidTarget = "invalid_target"
    case invalidDPoPProof = "invalid_dpop_proof"
    case useDPoPNonce = "use_dpop_nonce"
    case insufficientUserAuthentication = "insufficient_user_authentication"
    case unmetAuthenticationRequirements = "unmet_authentication_requirements"
    case invalidAuthorizationDetails = "invalid_authorization_details"
    case other

    package init(naming name: String) { self = Self(rawValue: name) ?? .other }
}
