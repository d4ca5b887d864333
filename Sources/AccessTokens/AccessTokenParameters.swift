package import IDToken

/// What an API requires of the access token of one request.
package struct AccessTokenParameters: Sendable {
    /// The configured audience that the token must have; `nil`: any of them.
    package var audience: String?
    /// The user or machine that the token must belong to; `nil`: any.
    package var expectedSubject: ExpectedSubject?
    /// When the user's sessions were last revoked. Authentications before this time are rejected.
    package var authenticatedAfter: UnixTime?
    /// The scopes, all of which the token must grant.
    package var scopes: [String]

    package init(
        audience: String? = nil, expectedSubject: ExpectedSubject? = nil, authenticatedAfter: UnixTime? = nil,
        scopes: [String] = []
    ) {
        self.audience = audience
        self.expectedSubject = expectedSubject
        self.authenticatedAfter = authenticatedAfter
        self.scopes = scopes
    }
}
