package import IDToken
package import JSON

/// The tokens that a token endpoint issued. Only ``EndpointAnswer`` creates one.
package struct Grant: Sendable {
    package let accessToken: AccessToken
    /// `nil` if the provider does not say, which is allowed only with ``ProviderQuirk/noTokenType``.
    package let tokenType: String?
    /// `nil` if the provider does not say.
    package let expiresAt: UnixTime?
    /// `nil` if there is none; after a refresh, the previous one then stays valid.
    package let refreshToken: RefreshToken?
    /// `nil` if the provider does not say; it then granted the requested scopes.
    package let scopes: [String]?
    /// Not verified.
    package let idToken: [UInt8]?

    /// The text of the access token, to check the ID Token's `at_hash`.
    package var accessTokenText: String { accessToken.text }

    /// Writes the members of the grant's object, for the backend that it belongs to.
    package func writeMembers(to json: inout JSONWriter) {
        json.member("access_token", secret: accessToken)
        json.member("token_type", tokenType)
        json.member("expires_at", expiresAt?.seconds)
        json.member("refresh_token", secret: refreshToken)
        json.name("scopes")
        if let scopes {
            json.beginArray()
            for scope in scopes { json.value(scope) }
            json.endArray()
        } else {
            json.null()
        }
        json.member("id_token", idToken.map { String(decoding: $0, as: UTF8.self) })
    }
}

extension Grant: CustomStringConvertible, CustomReflectable {
    package var description: String { "(grant)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
