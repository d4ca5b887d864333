/// Why a gateway must not let a request pass.
package enum Denial: Error, Equatable, Sendable {
    /// The gateway's own key is missing, wrong, or sent more than once.
    case gatewayUnauthenticated
    /// The gateway's own key is for other paths.
    case gatewayForbidden
    /// The request contains none of the policy's sources.
    case tokenMissing
    /// The source is empty, or contains several tokens or bytes that no token can contain.
    case tokenUnreadable
    /// - Parameter code: the code of the problem with which the other endpoints reject such a token.
    case tokenRejected(code: String)
    case scopeMissing(needed: [String])
    /// The token is valid, but does not meet a requirement of the policy other than its scopes.
    case requirementNotMet
    /// The policy or the provider's settings have a rule for the user's groups, of which there are too many for the
    /// provider to list.
    case groupsOverage
    /// The values for the backend are longer than ``ForwardAuthPolicy/maximumValuesLength``.
    case valuesTooLong

    /// The reason in the log and in metrics.
    package var code: String {
        switch self {
        case .gatewayUnauthenticated: "caller_unauthenticated"
        case .gatewayForbidden: "caller_forbidden"
        case .tokenMissing: "token_missing"
        case .tokenUnreadable: "request_invalid"
        case .tokenRejected(let code): code
        case .scopeMissing: "scope_missing"
        case .requirementNotMet: "requirement_not_met"
        case .groupsOverage: "groups_overage"
        case .valuesTooLong: "values_too_long"
        }
    }

    /// The HTTP status: 401 if another token could help, else 403. Never 400, because nginx treats it as a failed
    /// subrequest and responds with 500.
    package var status: Int {
        switch self {
        case .tokenMissing, .tokenUnreadable, .tokenRejected: 401
        case .gatewayUnauthenticated, .gatewayForbidden, .scopeMissing, .requirementNotMet, .groupsOverage,
            .valuesTooLong:
            403
        }
    }

    /// Whether the client could do something about its token.
    var isAboutToken: Bool {
        switch self {
        case .gatewayUnauthenticated, .gatewayForbidden, .valuesTooLong: false
        case .tokenMissing, .tokenUnreadable, .tokenRejected, .scopeMissing, .requirementNotMet, .groupsOverage: true
        }
    }

    /// The value of `WWW-Authenticate` without a resource; `nil` if there is none.
    ///
    /// - Source: RFC 6750, section 3: no error code for a request without authentication information.
    package var challenge: String? {
        switch self {
        case .tokenMissing: "Bearer"
        case .tokenUnreadable: #"Bearer error="invalid_request""#
        case .tokenRejected: #"Bearer error="invalid_token""#
        case .scopeMissing(let needed):
            #"Bearer error="insufficient_scope", scope="\#(needed.joined(separator: " "))""#
        case .gatewayUnauthenticated, .gatewayForbidden, .requirementNotMet, .groupsOverage, .valuesTooLong: nil
        }
    }
}
