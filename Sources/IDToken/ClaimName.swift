package import JSON

/// The name of a claim that this code or the provider's settings know. Text from a token never becomes one.
public struct ClaimName: Sendable, Hashable {
    package let json: JSONName

    public init(_ name: String) { json = JSONName(name) }

    public var string: String { json.string }

    public static func == (left: ClaimName, right: ClaimName) -> Bool { left.string.isExactly(right.string) }

    public func hash(into hasher: inout Hasher) { hasher.combine(ExactString(string)) }

    // RFC 7519, section 4.1.
    static let issuer = ClaimName("iss")
    static let subject = ClaimName("sub")
    static let audience = ClaimName("aud")
    static let expiration = ClaimName("exp")
    static let notBefore = ClaimName("nbf")
    static let issuedAt = ClaimName("iat")
    static let tokenID = ClaimName("jti")

    // OpenID Connect Core, sections 2 and 3.
    static let authorizedParty = ClaimName("azp")
    static let authTime = ClaimName("auth_time")
    static let nonce = ClaimName("nonce")
    static let contextClass = ClaimName("acr")
    static let authenticationMethods = ClaimName("amr")
    static let accessTokenHash = ClaimName("at_hash")
    static let codeHash = ClaimName("c_hash")
    static let sessionID = ClaimName("sid")

    // RFC 9068, section 2.2, and `scp` in its place: what access tokens have.
    static let scope = ClaimName("scope")
    static let shortScope = ClaimName("scp")
    static let clientID = ClaimName("client_id")

    // OpenID Connect Core, section 5.1.
    static let name = ClaimName("name")
    static let givenName = ClaimName("given_name")
    static let familyName = ClaimName("family_name")
    static let preferredUsername = ClaimName("preferred_username")
    static let picture = ClaimName("picture")
    static let locale = ClaimName("locale")
    static let email = ClaimName("email")
    static let emailVerified = ClaimName("email_verified")

    // RFC 8417, section 2.2: what marks a security event, which is no ID Token.
    static let events = ClaimName("events")

    // Apple: "Authenticating users with Sign in with Apple", the identity token's claims.
    static let isPrivateEmail = ClaimName("is_private_email")
    static let realUserStatus = ClaimName("real_user_status")
    static let transferSubject = ClaimName("transfer_sub")

    // Microsoft Entra ID and Google Workspace.
    static let tenant = ClaimName("tid")
    static let hostedDomain = ClaimName("hd")
}
