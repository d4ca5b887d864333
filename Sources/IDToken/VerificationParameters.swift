/// What the relying party knows of the one sign-in that an ID Token is presented for.
public struct VerificationParameters: Sendable {
    /// The raw nonce that was made for this sign-in.
    public var nonce: String?
    /// The one of the configured audiences that this sign-in was for.
    public var audience: String?
    /// Seconds since the user last authenticated that are acceptable.
    public var maximumAuthenticationAgeSeconds: Int64?
    /// The moment that ``maximumAuthenticationAgeSeconds`` is counted back from, such as the beginning of the sign-in; `nil`: now.
    public var authenticationAgeIsCountedFrom: UnixTime?
    /// When the user's sessions were last revoked: an authentication before that doesn't count.
    public var authenticatedAfter: UnixTime?
    /// The person who must have signed in; `nil`: anyone.
    public var expectedSubject: ExpectedSubject?
    /// The access token that came with the ID Token, checked against `at_hash`.
    public var accessToken: String?
    /// The authorization code that came with the ID Token, checked against `c_hash`.
    public var code: String?
    /// Whether ``code`` is checked only where the token has a `c_hash`.
    public var isCodeHashOptional = false
    /// What the app says the user is called. Unsigned, hence never more than a name.
    public var clientName: ClientName?

    public init(
        nonce: String? = nil, audience: String? = nil, maximumAuthenticationAgeSeconds: Int64? = nil,
        accessToken: String? = nil, code: String? = nil, clientName: ClientName? = nil,
        authenticatedAfter: UnixTime? = nil, expectedSubject: ExpectedSubject? = nil
    ) {
        self.nonce = nonce
        self.audience = audience
        self.maximumAuthenticationAgeSeconds = maximumAuthenticationAgeSeconds
        self.accessToken = accessToken
        self.code = code
        self.clientName = clientName
        self.authenticatedAfter = authenticatedAfter
        self.expectedSubject = expectedSubject
    }
}

/// A person whom the relying party knows already.
public struct ExpectedSubject: Sendable, Equatable {
    public var subject: String
    /// The issuer whose subject that is; `nil`: the provider has one issuer only.
    public var issuer: String?

    public init(subject: String, issuer: String? = nil) {
        self.subject = subject
        self.issuer = issuer
    }
}

/// A name that came from the app beside the token, as Apple's one-time `user` object does.
public struct ClientName: Sendable, Equatable {
    public var givenName: String?
    public var familyName: String?

    public init(givenName: String?, familyName: String?) {
        self.givenName = givenName
        self.familyName = familyName
    }
}
