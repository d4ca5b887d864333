package import IDToken
package import OAuth

/// Why a request failed (RFC 9457). Lists every code of the contract.
package enum Problem: Error, Equatable, Sendable {
    /// The text says what was expected. It is fixed, and repeats nothing from the request except a number, the name of
    /// an unknown member (see ``JSONObject/redactedName(_:)``), or the position of a JSON error.
    case requestInvalid(String)
    case notFound
    /// The path belongs to a feature that is off.
    case featureOff(Feature)
    /// The path names a policy of `forward_auth` that does not exist.
    case policyUnknown
    /// Like `notFound`, on the admin listener, which has other paths.
    case notFoundByAdmin
    /// A path of the console while the console is disabled.
    case consoleOff
    case methodNotAllowed(allow: String)
    case requestTimeout
    case requestTooLarge
    case headersTooLarge
    case contentTypeUnsupported
    case callerUnauthenticated
    /// - Parameter nearest: the configured ID that the request probably meant.
    case providerUnknown(nearest: String? = nil)
    /// Like `providerUnknown`: the provider or issuer is known, but its entry verifies the other kind of token.
    case providerOfAccessTokens
    case providerOfIDTokens
    case audienceNotConfigured
    case clientNotConfigured
    case redirectURINotConfigured
    case signInNotSupported
    case revocationNotSupported
    case notificationsNotConfigured
    case signInInvalid
    case signInExpired
    case signInReplayed
    case nonceReplayed
    case stateMismatch
    case redirectURIMismatch
    case responseIssuerMismatch(ResponseIssuerFault)
    /// - Parameter context: the backend's own data, such as the page to which the user should return.
    case signInDenied(context: String?)
    /// The provider ended the sign-in in the browser with another error.
    case signInRefused(OAuthErrorName, context: String?)
    /// - Parameter isSpent: whether the sign-in or nonce may have been used up, because the outcome of its claim is
    ///   unknown.
    case storeUnavailable(isSpent: Bool)
    case rejected(Rejection, of: TokenKind = .idToken)
    /// Like `rejected(.audienceNotExpected)`.
    ///
    /// - Parameter expected: one of the configured audiences.
    case audienceNotExpected(_ expected: String)
    /// The code or token can't be used.
    case grantInvalid(OAuthErrorName)
    /// The provider refuses the client's credentials.
    case clientRejected(OAuthErrorName)
    case providerRefused(OAuthErrorName)
    case providerAnswerInvalid(CallFailure.AnswerFault)
    /// - Parameter limit: the setting whose limit was reached, if that is the reason.
    case providerUnavailable(retryAfterSeconds: Int64, limit: String? = nil)
    case keysUnavailable(retryAfterSeconds: Int64)
    /// - Parameter limit: the setting whose limit was reached, such as `limits.max_in_flight`.
    case overloaded(limit: String)
    case shuttingDown

    /// The kind of token that was expected. The details of a rejection differ by kind.
    package enum TokenKind: Sendable {
        case idToken
        case accessToken
        case notification
    }

    /// What is wrong with the issuer of a response to the redirect URI.
    package enum ResponseIssuerFault: Sendable {
        case missing
        case notTheProviders
        case notTheTokens
    }

    /// Stable: clients may depend on it.
    package var code: String {
        switch self {
        case .requestInvalid: "request_invalid"
        case .notFound, .featureOff, .policyUnknown, .notFoundByAdmin, .consoleOff: "not_found"
        case .methodNotAllowed: "method_not_allowed"
        case .requestTimeout: "request_timeout"
        case .requestTooLarge: "request_too_large"
        case .headersTooLarge: "headers_too_large"
        case .contentTypeUnsupported: "content_type_unsupported"
        case .callerUnauthenticated: "caller_unauthenticated"
        case .providerUnknown, .providerOfAccessTokens, .providerOfIDTokens: "provider_unknown"
        case .audienceNotConfigured: "audience_not_configured"
        case .clientNotConfigured: "client_not_configured"
        case .redirectURINotConfigured: "redirect_uri_not_configured"
        case .signInNotSupported: "sign_in_not_supported"
        case .revocationNotSupported: "revocation_not_supported"
        case .notificationsNotConfigured: "notifications_not_configured"
        case .signInInvalid: "sign_in_invalid"
        case .signInExpired: "sign_in_expired"
        case .signInReplayed: "sign_in_replayed"
        case .nonceReplayed: "nonce_replayed"
        case .stateMismatch: "state_mismatch"
        case .redirectURIMismatch: "redirect_uri_mismatch"
        case .responseIssuerMismatch: "response_issuer_mismatch"
        case .signInDenied: "sign_in_denied"
        case .storeUnavailable: "store_unavailable"
        case .rejected(let rejection, _):
            rejection.code.rawValue
        case .audienceNotExpected: Rejection.Code.audienceMismatch.rawValue
        case .grantInvalid: "grant_invalid"
        case .clientRejected: "client_rejected"
        case .signInRefused, .providerRefused: "provider_refused"
        case .providerAnswerInvalid: "provider_answer_invalid"
        case .providerUnavailable: "provider_unavailable"
        case .keysUnavailable: "keys_unavailable"
        case .overloaded: Self.overloadedCode
        case .shuttingDown: "shutting_down"
        }
    }

    /// The HTTP status code (RFC 9457, 3.1.2).
    package var status: Int {
        switch self {
        case .requestInvalid, .audienceNotConfigured, .clientNotConfigured, .signInNotSupported,
            .notificationsNotConfigured, .redirectURINotConfigured, .revocationNotSupported:
            400
        case .callerUnauthenticated: 401
        case .notFound, .featureOff, .policyUnknown, .notFoundByAdmin, .consoleOff, .providerUnknown,
            .providerOfAccessTokens,
            .providerOfIDTokens:
            404
        case .methodNotAllowed: 405
        case .requestTimeout: 408
        case .requestTooLarge: 413
        case .contentTypeUnsupported: 415
        case .rejected(.cryptographyUnavailable, _): 500
        case .rejected, .audienceNotExpected: 422
        case .signInInvalid, .signInExpired, .signInReplayed, .nonceReplayed: 422
        case .stateMismatch, .redirectURIMismatch, .responseIssuerMismatch, .signInDenied, .signInRefused,
            .grantInvalid, .providerRefused:
            422
        case .headersTooLarge: 431
        case .clientRejected, .providerAnswerInvalid: 502
        case .providerUnavailable: 503
        case .keysUnavailable, .storeUnavailable, .overloaded, .shuttingDown: 503
        }
    }

    /// Whether the sign-in or nonce has been used up, or may have been, so that it must not be sent again.
    package var isSpent: Bool {
        switch self {
        case .signInReplayed, .nonceReplayed, .storeUnavailable(isSpent: true): true
        default: false
        }
    }

    /// The setting whose limit was reached, if any.
    package var limit: String? {
        switch self {
        case .overloaded(let limit): limit
        case .providerUnavailable(_, let limit): limit
        default: nil
        }
    }

    /// The code of ``overloaded(limit:)``, whatever the limit.
    package static let overloadedCode = "overloaded"
}

extension Problem {
    /// - Parameter audience: the one that the token was expected to be for, which is configured.
    func naming(_ audience: String?) -> Problem {
        guard case .rejected(.audienceNotExpected, _) = self, let audience else { return self }
        return .audienceNotExpected(audience)
    }

    /// The problem for a failed call to a provider's endpoint.
    package init(_ failure: CallFailure) {
        self =
            switch failure {
            case .notSent(.credential): .rejected(.cryptographyUnavailable)
            case .notSent: .providerUnavailable(retryAfterSeconds: Self.usualRetryAfter)
            case .unavailable(_, let seconds): .providerUnavailable(retryAfterSeconds: seconds ?? Self.usualRetryAfter)
            case .grantInvalid(let name, _): .grantInvalid(name)
            case .clientRejected(let name): .clientRejected(name)
            case .refused(let name): .providerRefused(name)
            case .answerInvalid(let fault): .providerAnswerInvalid(fault)
            }
    }

    /// An endpoint is not known yet, because the discovery document has not been read.
    package static let endpointUnknown = Problem.providerUnavailable(retryAfterSeconds: usualRetryAfter)
    /// All of a provider's `max_calls` are in flight.
    package static let callsFull = Problem.providerUnavailable(retryAfterSeconds: 1, limit: "max_calls")

    private static let usualRetryAfter: Int64 = 2
}

/// A part of the service whose paths do not exist until the settings turn it on.
package enum Feature: Sendable, CaseIterable {
    case signIns, clients, notifications, accessTokens, forwardAuth

    /// What is off, and which setting turns it on.
    var absence: String {
        switch self {
        case .signIns: "Sign-ins are off; add sign_ins to the settings."
        case .clients: "No provider has OAuth clients; add clients to a provider in the settings."
        case .notifications:
            "No provider accepts notifications; in a provider's setting notifications, list the kinds that it sends."
        case .accessTokens: "No provider verifies access tokens; add one with tokens: access to the settings."
        case .forwardAuth: "No gateway may ask; add policies under forward_auth in the settings."
        }
    }
}
