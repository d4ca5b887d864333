private import Bytes
package import JSON

/// The name of a claim, known from this code or from the provider's settings, and never taken from a token.
public struct ClaimName: Sendable, Hashable {
    package let json: JSONName

    public init(_ name: String) { json = JSONName(name) }

    public var string: String { json.string }

    public static func == (left: ClaimName, right: ClaimName) -> Bool { left.string.isExactly(right.string) }

    public func hash(into hasher: inout Hasher) { hasher.combine(ExactString(string)) }

    // RFC 7519, section 4.1.
    package static let issuer = ClaimName("iss")
    package static let subject = ClaimName("sub")
    package static let audience = ClaimName("aud")
    package static let expiration = ClaimName("exp")
    package static let notBefore = ClaimName("nbf")
    package static let issuedAt = ClaimName("iat")
    package static let tokenID = ClaimName("jti")

    // OpenID Connect Core, sections 2 and 3.
    package static let authorizedParty = ClaimName("azp")
    package static let authTime = ClaimName("auth_time")
    package static let nonce = ClaimName("nonce")
    package static let authenticationContextClass = ClaimName("acr")
    package static let authenticationMethods = ClaimName("amr")
    package static let accessTokenHash = ClaimName("at_hash")
    package static let codeHash = ClaimName("c_hash")
    package static let sessionID = ClaimName("sid")

    // RFC 9068, section 2.2: claims of access tokens. `scp` is what some providers use instead of `scope`.
    package static let scope = ClaimName("scope")
    package static let shortScope = ClaimName("scp")
    package static let clientID = ClaimName("client_id")

    // RFC 7800, section 3.1: the key that the token is bound to.
    package static let confirmation = ClaimName("cnf")

    // AWS load balancers: a member of the header of their assertions.
    package static let signer = ClaimName("signer")

    // OpenID Connect Core, section 5.1.
    package static let name = ClaimName("name")
    package static let givenName = ClaimName("given_name")
    package static let familyName = ClaimName("family_name")
    package static let preferredUsername = ClaimName("preferred_username")
    package static let picture = ClaimName("picture")
    package static let locale = ClaimName("locale")
    package static let email = ClaimName("email")
    package static let emailVerified = ClaimName("email_verified")

    // RFC 8417, section 2.2: marks a security event token, which is not an ID Token.
    package static let events = ClaimName("events")

    // Apple: "Authenticating users with Sign in with Apple", the identity token's claims.
    package static let isPrivateEmail = ClaimName("is_private_email")
    package static let realUserStatus = ClaimName("real_user_status")
    package static let transferSubject = ClaimName("transfer_sub")

    // Microsoft Entra ID and Google Workspace.
    package static let tenant = ClaimName("tid")
    package static let hostedDomain = ClaimName("hd")

    // RFC 9068, section 2.2.3.1; and what Microsoft Entra ID sends instead if there are too many.
    package static let groups = ClaimName("groups")
    package static let claimNames = ClaimName("_claim_names")
    package static let hasGroups = ClaimName("hasgroups")
}
