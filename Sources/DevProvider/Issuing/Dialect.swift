internal import IDToken
internal import JOSE

/// How one provider's tokens and endpoints differ from others'. Only an issuer needs these facts, so the policy does
/// not contain them.
struct Dialect: Sendable {
    var subject = SubjectForm.uuid
    var tokenLifetimeSeconds: Int64 = 3600
    /// `typ` of ID Tokens.
    var headerType: String? = "JWT"
    /// Whether booleans about the email address are strings.
    var hasTextBooleans = false
    /// Whether the provider sends the name and the email address only once, in `user` along with the code. No token
    /// then has the name.
    var sendsUserOnce = false
    /// Whether `azp` names the client.
    var namesAuthorizedParty = false
    var hasUserInfo = true
    var hasRevocation = true
    /// Whether people can sign out in the browser (RP-Initiated Logout 1.0).
    var hasEndSession = true
    /// Whether responses of the authorization endpoint name the issuer (RFC 9207).
    var namesResponseIssuer = true
    /// The `error` of the response when the person cancels.
    var cancelError = "access_denied"
    /// How the provider delivers events, apart from logout tokens.
    var events = EventForm.securityEvent
    /// Claims that each ID Token has, besides those that the policy asks for.
    var moreClaims: @Sendable (Facts) -> [String: JSONTree] = { _ in [:] }

    /// The form of a `sub`.
    enum SubjectForm: Sendable { case uuid, digits, opaque, apple }

    enum EventForm: Sendable { case apple, securityEvent }

    /// The inputs for the claims of an ID Token.
    struct Facts {
        let person: Person
        /// See ``EmulatedProvider/digest(of:)``.
        let digest: String
        let now: Int64
    }

    /// The dialect of a preset; one without a dialect of its own follows the specifications.
    static func of(_ preset: String) -> Dialect { named[preset] ?? Dialect() }

    private static let named: [String: Dialect] = [
        "apple": .apple, "google": .google, "microsoft": .microsoft, "microsoft-v1": .microsoft,
        "entra-external": .microsoft, "azure-b2c": .azureB2C, "firebase": .firebase,
        "firebase-session-cookie": .firebase, "auth0": .auth0, "keycloak": .keycloak, "cognito": .cognito,
        "facebook-limited-login": .withoutUserInfo, "line": .withoutUserInfo,
    ]
}

/// For sources, see the presets in `IDToken/Providers`.
extension Dialect {
    /// Tokens are valid for a day; booleans about the email address are strings; the name is sent only once.
    private static let apple = Dialect(
        subject: .apple, tokenLifetimeSeconds: 86_400, headerType: nil, hasTextBooleans: true, sendsUserOnce: true,
        hasUserInfo: false, hasEndSession: false, namesResponseIssuer: false, cancelError: "user_cancelled_authorize",
        events: .apple, moreClaims: { _ in ["nonce_supported": .bool(true)] })

    private static let google = Dialect(
        subject: .digits, namesAuthorizedParty: true, hasEndSession: false,
        moreClaims: { _ in ["locale": .string("en")] })

    private static let microsoft = Dialect(
        subject: .opaque, hasRevocation: false, namesResponseIssuer: false,
        moreClaims: { facts in
            var claims: [String: JSONTree] = [
                "oid": .string(facts.digest.asUUID), "tid": .string(developmentTenant), "nbf": .integer(facts.now),
            ]
            if let email = facts.person.email { claims["preferred_username"] = .string(email) }
            return claims
        })

    private static let azureB2C = Dialect(
        subject: .opaque, hasRevocation: false, namesResponseIssuer: false,
        moreClaims: { facts in ["oid": .string(facts.digest.asUUID), "ver": .string("1.0")] })

    private static let firebase = Dialect(
        hasUserInfo: false, hasEndSession: false, namesResponseIssuer: false,
        moreClaims: { facts in
            [
                "user_id": .string(facts.digest.asUUID),
                "firebase": .object(["sign_in_provider": .string("password"), "identities": .object([:])]),
            ]
        })

    private static let auth0 = Dialect(
        tokenLifetimeSeconds: 36_000,
        moreClaims: { facts in facts.person.name.map { ["nickname": .string($0)] } ?? [:] })

    private static let keycloak = Dialect(
        tokenLifetimeSeconds: 300, namesAuthorizedParty: true,
        moreClaims: { facts in ["preferred_username": .string(facts.person.id), "acr": .string("1")] })

    private static let cognito = Dialect(moreClaims: { facts in
        var claims: [String: JSONTree] = ["cognito:username": .string(facts.person.id)]
        if !facts.person.groups.isEmpty {
            claims["cognito:groups"] = .array(facts.person.groups.map(JSONTree.string))
        }
        return claims
    })

    private static let withoutUserInfo = Dialect(hasUserInfo: false, hasEndSession: false, namesResponseIssuer: false)

    /// The tenant of a person without one, if the settings accept any tenant.
    static let developmentTenant = "00000000-0000-4000-8000-000000000001"
}

extension String {
    /// The first 32 of these hexadecimal digits as a UUID.
    fileprivate var asUUID: String {
        let digits = Array(utf8.prefix(32))
        guard digits.count == 32 else { return self }
        return [digits[..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20...]]
            .map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-")
    }
}

extension Dialect.SubjectForm {
    /// A person's `sub`.
    ///
    /// - Parameter digest: 64 hexadecimal digits.
    func subject(_ digest: String) -> String {
        switch self {
        case .uuid: digest.asUUID
        case .digits: "1" + String(decoding: digest.utf8.prefix(20).map { 0x30 + $0 % 10 }, as: UTF8.self)
        case .opaque: String(digest.prefix(43))
        case .apple: "001234.\(digest.prefix(32)).0219"
        }
    }
}
