internal import JSON

/// The endpoints for sign-ins that a provider's discovery document names.
///
/// Each is read on its own: one that is missing or can't be used is `nil`, and never makes a key fetch fail.
// A class, so that a `KeySnapshot` holds only a reference to it.
package final class DiscoveredEndpoints: Sendable, Equatable {
    package let authorization: FetchURL?
    package let token: FetchURL?
    package let revocation: FetchURL?
    package let userInfo: FetchURL?
    /// How clients may authenticate at ``revocation`` (RFC 8414, section 2); `nil` if the document does not say.
    package let revocationMethods: [String]?
    /// Whether responses of the authorization endpoint name the issuer (RFC 9207, section 3).
    package let sendsResponseIssuer: Bool

    /// - Parameter members: those of the discovery document.
    init(_ members: [String: JSONTree], allowingHTTP: Bool) {
        func url(_ name: String) -> FetchURL? {
            members[name]?.string.flatMap { try? FetchURL($0, allowingHTTP: allowingHTTP) }
        }
        authorization = url("authorization_endpoint")
        token = url("token_endpoint")
        revocation = url("revocation_endpoint")
        userInfo = url("userinfo_endpoint")
        revocationMethods = members["revocation_endpoint_auth_methods_supported"]?.array?.compactMap(\.string)
        sendsResponseIssuer = members["authorization_response_iss_parameter_supported"] == .bool(true)
    }

    package static func == (left: DiscoveredEndpoints, right: DiscoveredEndpoints) -> Bool {
        left.authorization == right.authorization && left.token == right.token && left.revocation == right.revocation
            && left.userInfo == right.userInfo && left.revocationMethods == right.revocationMethods
            && left.sendsResponseIssuer == right.sendsResponseIssuer
    }
}
