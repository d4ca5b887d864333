package import JOSE

/// The relying party's knowledge of the sign-in for which an ID Token is presented.
public struct VerificationParameters: Sendable {
    /// The raw nonce that the relying party generated for this sign-in.
    public var nonce: String?
    /// The configured audience that this sign-in used.
    public var audience: String?
    /// The maximum time since the user last authenticated, in seconds.
    public var maximumAuthenticationAgeSeconds: Int64?
    /// The time at which ``maximumAuthenticationAgeSeconds`` is measured, such as the start of the sign-in; `nil`: now.
    public var authenticationAgeIsCountedFrom: UnixTime?
    /// When the user's sessions were last revoked. Authentications before this time are rejected.
    public var authenticatedAfter: UnixTime?
    /// The user who must have signed in; `nil`: any user.
    public var expectedSubject: ExpectedSubject?
    /// The access token issued with the ID Token, checked against `at_hash`.
    public var accessToken: String?
    /// The authorization code issued with the ID Token, checked against `c_hash`.
    public var code: String?
    /// Whether to check ``code`` only if the token has a `c_hash`.
    public var isCodeHashOptional = false
    /// Whether to check ``accessToken`` only if the token has an `at_hash`.
    package var isAccessTokenHashOptional = false
    /// Whether the token must have an `auth_time` if there is a maximum age; otherwise `iat` is used instead.
    package var requiresAuthenticationTime = false
    package var nonceUse = NonceUse.compare
    /// The user's name according to the app. It is unsigned, so it is used only as a display name.
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

/// How a token's nonce is checked, whatever the provider's rule requires.
package enum NonceUse: Sendable {
    case compare
    /// Compared if the token has one. The token came directly from the provider's token endpoint.
    case compareIfPresent
    /// Not compared. The token came directly from the provider's token endpoint.
    case ignoreFromTokenEndpoint
    /// Not compared. The client sends the token with each request.
    case ignoreFromClient

    /// Whether the token came directly from the provider's token endpoint. If so, nobody else can have sent it. A
    /// client, in contrast, may send a token that an API has received.
    var isFromTokenEndpoint: Bool {
        switch self {
        case .compareIfPresent, .ignoreFromTokenEndpoint: true
        case .compare, .ignoreFromClient: false
        }
    }
}

/// A user whom the relying party already knows.
public struct ExpectedSubject: Sendable, Equatable {
    public var subject: String
    /// The issuer of the subject; `nil` if the provider has only one issuer.
    public var issuer: String?

    public init(subject: String, issuer: String? = nil) {
        self.subject = subject
        self.issuer = issuer
    }
}

/// A name that the app sent along with the token, such as the one in Apple's one-time `user` object.
public struct ClientName: Sendable, Equatable {
    public var givenName: String?
    public var familyName: String?

    public init(givenName: String?, familyName: String?) {
        self.givenName = givenName
        self.familyName = familyName
    }
}

/// A time in whole seconds since 1970-01-01T00:00:00Z, without leap seconds.
public struct UnixTime: Sendable, Hashable, Comparable {
    public let seconds: Int64

    public init(seconds: Int64) { self.seconds = seconds }

    public static func < (left: UnixTime, right: UnixTime) -> Bool { left.seconds < right.seconds }

    /// Adds a number of seconds from the settings or a request. Saturates instead of overflowing.
    public func advanced(bySeconds interval: Int64) -> UnixTime {
        let (sum, overflow) = seconds.addingReportingOverflow(interval)
        return UnixTime(seconds: overflow ? (interval > 0 ? .max : .min) : sum)
    }

    /// The latest time that a claim can state, some 285 million years away. Every JSON reader represents it exactly.
    static let maximumClaimed: Int64 = (1 << 53) - 1

    /// From a NumericDate that is an integer.
    init(claimedSeconds: Int64) {
        seconds = min(max(claimedSeconds, -Self.maximumClaimed), Self.maximumClaimed)
    }

    /// Reads a NumericDate (RFC 7519, section 2): any JSON number, including fractions and exponents.
    ///
    /// Fractions are rounded down. Values beyond ±(2⁵³ − 1) are clamped. `nil` if the value is not a number.
    package init?(numericDate value: JSONValue) {
        if let integer = value.integer {
            self.init(claimedSeconds: integer)
        } else if let double = value.double {
            self.init(fractional: double)
        } else {
            return nil
        }
    }

    /// The same, from a number that may have a fraction; `nil` if it is not a number.
    init?(fractional seconds: Double) {
        guard !seconds.isNaN else { return nil }
        let bound = Double(Self.maximumClaimed)
        let bounded = min(max(seconds, -bound), bound)
        // Not `rounded(.down)`: it needs the C math library, which packages that depend on this one may not link.
        let truncated = Int64(bounded)
        self.init(seconds: Double(truncated) > bounded ? truncated - 1 : truncated)
    }
}
