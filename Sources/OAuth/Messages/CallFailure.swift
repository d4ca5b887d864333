/// Why a call to a provider's endpoint failed. Contains no text from the provider.
package enum CallFailure: Error, Equatable, Sendable {
    /// No byte of the request was sent, so the same request may be sent again.
    case notSent(NotSentReason)
    /// The provider can't respond now, or did not respond completely. Whether it acted on the request is unknown.
    case unavailable(UnavailableReason, retryAfterSeconds: Int64? = nil)
    /// The code or token has expired, was used or revoked, or belongs to another client.
    ///
    /// - Parameter isIssued: whether the response contradicts itself: it also has a token.
    case grantInvalid(OAuthErrorName, isIssued: Bool = false)
    /// The provider refuses the client's credentials.
    case clientRejected(OAuthErrorName)
    /// The provider refuses the request for another reason.
    case refused(OAuthErrorName)
    /// The response does not conform to the protocol.
    case answerInvalid(AnswerFault)

    package enum NotSentReason: Equatable, Sendable {
        /// No connection: name, address, TCP, proxy or TLS.
        case unreachable
        case timeout
        /// OpenSSL could not sign or allocate, or the settings no longer contain the client.
        case credential
    }

    package enum UnavailableReason: Equatable, Sendable {
        /// 429, or 500 and above.
        case status(UInt)
        case timeout
        /// The connection ended before the response was complete.
        case broken
    }

    package enum AnswerFault: Equatable, Sendable {
        case notHTTP, tooLarge, redirect, contentCoding, notJSON
        /// A status that is neither a success nor an OAuth error.
        case status(UInt)
        /// A required member is missing, or a member has a type, characters, a length or a value that it can't have.
        case member(Member)
        /// The UserInfo response is not about the ID Token's user.
        case otherSubject
        /// A claim of the UserInfo response has the wrong type.
        case claim(String)
        /// The UserInfo response is a JWT that is refused, or should be one.
        case userInfoToken(UserInfoTokenFault)
        /// The discovery document names no UserInfo endpoint, although the settings say to read it.
        case noUserInfoEndpoint
        /// `token_type` is `DPoP`, but `cnf` names no key of proofs, so any proof would do.
        case proofWithoutKey
        /// The request had a DPoP proof, but `token_type` is not `DPoP`: the tokens are not bound to its key.
        case notBound
        /// The settings demand a signed introspection response.
        case unsigned
        case signedResponse(SignedResponseFault)

        /// A member of the response that Assay reads.
        package enum Member: String, Sendable {
            case accessToken = "access_token"
            case tokenType = "token_type"
            case refreshToken = "refresh_token"
            case idToken = "id_token"
            case scope
            case subject = "sub"
            case transferSubject = "transfer_sub"
            case email
            case active
            case issuer = "iss"
            case audience = "aud"
            case expiration = "exp"
            case notBefore = "nbf"
            case issuedAt = "iat"
            case clientID = "client_id"
            case requestURI = "request_uri"
            case expiresIn = "expires_in"
        }

        /// What is wrong with a signed introspection response.
        package enum SignedResponseFault: Sendable, CaseIterable {
            case form, type, algorithm, signature, issuer, audience, time, content
        }

        /// The member of the response that is wrong, for the log; `nil` if it is none alone.
        package var memberName: String? {
            switch self {
            case .member(let member): member.rawValue
            case .otherSubject: Member.subject.rawValue
            case .claim(let name), .userInfoToken(.member(let name, _)): name
            case .notBound: Member.tokenType.rawValue
            case .proofWithoutKey: "cnf"
            case .signedResponse(let fault): fault.memberName
            default: nil
            }
        }

        /// Human-readable: what was found. Contains no text from the provider.
        package var text: String {
            switch self {
            case .notHTTP: "the response is not HTTP"
            case .tooLarge: "the response is too long"
            case .redirect: "the response is a redirect, which is not followed"
            case .contentCoding: "the response has a Content-Encoding, which was not requested"
            case .notJSON: "the body is not one well-formed JSON object without duplicate names"
            case .status(let status): "the response has status \(status), but no error member"
            case .member(let member):
                "\(member.rawValue) is missing, or its type, characters, length or value are not allowed"
            case .otherSubject: "the UserInfo response's sub is not the ID Token's"
            case .claim(let name): "the UserInfo response's \(name) has an invalid type or form"
            case .userInfoToken(let fault): fault.text
            case .noUserInfoEndpoint: "the discovery document names no userinfo_endpoint"
            case .proofWithoutKey: "token_type is DPoP, but cnf has no jkt, the thumbprint of the proofs' key"
            case .notBound:
                "token_type is not DPoP, although the request had a DPoP proof, so the tokens are not bound to the sign-in's key and were dropped (sender_constraint: dpop needs a provider that binds its tokens)"
            case .unsigned:
                "the introspection response is not signed (application/token-introspection+jwt), which introspection.signed: required demands"
            case .signedResponse(let fault): "the signed introspection response is refused: \(fault.text)"
            }
        }
    }
}

extension CallFailure.AnswerFault.SignedResponseFault {
    /// The claim that is wrong; `nil` if it is none.
    fileprivate var memberName: String? {
        switch self {
        case .issuer: CallFailure.AnswerFault.Member.issuer.rawValue
        case .audience: CallFailure.AnswerFault.Member.audience.rawValue
        case .time: CallFailure.AnswerFault.Member.issuedAt.rawValue
        case .content: "token_introspection"
        case .form, .type, .algorithm, .signature: nil
        }
    }

    /// Completes the sentence "the signed introspection response is refused: …".
    var text: String {
        switch self {
        case .form: "it is not one compact JWS with a JSON object inside"
        case .type: "its typ is not token-introspection+jwt, or its header has crit, b64 or zip"
        case .algorithm: "its alg is missing, or not in algorithms"
        case .signature: "no published key of the provider has made its signature"
        case .issuer: "its iss is not the provider's issuer"
        case .audience: "its aud is not our client's id"
        case .time: "its iat is missing, older than a minute, or in the future"
        case .content: "its token_introspection is missing, or no object"
        }
    }
}

/// The outcome of a call, for metrics and spans.
package enum CallOutcome: String, Sendable, CaseIterable {
    case ok
    case grantInvalid = "grant_invalid"
    case clientRejected = "client_rejected"
    case providerRefused = "provider_refused"
    case answerInvalid = "answer_invalid"
    case timeout
    case unreachable
    case unavailable

    /// - Parameter failure: `nil` for a success.
    package init(_ failure: CallFailure?) {
        self =
            switch failure {
            case nil: .ok
            case .notSent(.timeout), .unavailable(.timeout, _): .timeout
            case .notSent(.unreachable): .unreachable
            // A local failure, but it counts as a call that did not reach the provider.
            case .notSent(.credential): .unreachable
            case .unavailable: .unavailable
            case .grantInvalid: .grantInvalid
            case .clientRejected: .clientRejected
            case .refused: .providerRefused
            case .answerInvalid: .answerInvalid
            }
    }
}

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
