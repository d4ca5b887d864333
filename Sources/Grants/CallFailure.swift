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
        /// A required member is missing, or a member has the wrong type.
        case member(Member)

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
