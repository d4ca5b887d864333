private import Bytes
internal import IDToken
internal import JOSE
internal import OpenSSL

/// A development provider: its settings and its state. Functions that throw, and don't say what, throw ``OpenSSLError``.
struct EmulatedProvider {
    let settings: DevProviderSettings
    let dialect: Dialect
    /// The base URL of its endpoints.
    let base: String
    var keys: EmulatedKeys
    var grants = IssuedGrants()
    var pushed = PushedRequests()
    /// The clients that have registered themselves, by ID.
    var registered: [String: DevClient] = [:]
    var faults = Faults()

    init(_ settings: DevProviderSettings, origin: String, key: SigningKey) throws(OpenSSLError) {
        self.settings = settings
        dialect = Dialect.of(settings.preset)
        base = "\(origin)/\(settings.id)"
        keys = try EmulatedKeys(key, settings.algorithm)
    }

    var id: String { settings.id }
    var policy: ProviderPolicy { settings.policy }

    /// The client IDs.
    var audiences: [String] { policy.audiences.isEmpty ? policy.authorizedParties : policy.audiences }

    /// The client with this ID; `nil` if the settings don't list it, and it has not registered itself.
    func client(_ id: String) -> DevClient? {
        if let client = settings.clients.first(where: { $0.id == id }) ?? registered[id] { return client }
        return audiences.contains(id) ? DevClient(id: id, redirectURIs: [], authentication: .any) : nil
    }

    /// A hash of the provider's and the person's IDs, as 64 hexadecimal digits.
    func digest(of person: Person) throws -> String {
        let hash = try sha256("\(id)\0\(person.id)")
        return String(hexadecimal: hash.span)
    }

    func subject(of person: Person) throws -> String { dialect.subject.subject(try digest(of: person)) }

    /// The tenant of a person: their own, or else one that the settings accept.
    func tenant(of person: Person) -> String {
        if let tenant = person.tenant { return tenant }
        if case .only(let tenants) = policy.tenants, let first = tenants.first { return first }
        return Dialect.developmentTenant
    }

    /// The issuer of a person's tokens.
    func issuer(of person: Person) -> String {
        guard let template = policy.issuerTemplates?.first else { return policy.issuer }
        return template.issuer(ofTenant: tenant(of: person))
    }
}

/// The claims of ID Tokens: those that the policy asks for, in the provider's dialect.
extension EmulatedProvider {
    /// A request for an ID Token.
    struct TokenRequest {
        let person: Person
        let clientID: String
        /// The value of the claim `nonce`; `nil` for none.
        var nonce: String?
        /// `nil`: every claim of the person, as a native app gets them.
        var scopes: [String]?
        var authenticatedAt: Int64?
        var accessToken: String?
        var code: String?
        /// The `state` of the request, if the token comes with the code.
        var state: String?
        var acr: String?
    }

    /// An ID Token, encrypted if the settings say so.
    func idToken(_ claims: [String: JSONTree]) throws -> String {
        try sealed(try keys.sign(claims, type: dialect.headerType), as: .idToken)
    }

    /// A signed token as the relying party gets it: encrypted if the settings say so.
    func sealed(_ token: String, as kind: DevEncryption.Kind) throws -> String {
        guard let encryption = settings.encryption, encryption.kinds.contains(kind) else { return token }
        return String(decoding: try encryption.encrypter.encrypt(token.utf8.span), as: UTF8.self)
    }

    /// - Parameter now: the provider's clock.
    func idTokenClaims(_ request: TokenRequest, now: Int64) throws -> [String: JSONTree] {
        let (person, clientID) = (request.person, request.clientID)
        let issuedAt = faults.has(.expiredTokens) ? now - dialect.tokenLifetimeSeconds - 3600 : now
        var claims = dialect.moreClaims(
            Dialect.Facts(person: person, digest: try digest(of: person), now: issuedAt))
        claims.merge(try userClaims(of: person, scopes: request.scopes)) { _, own in own }
        claims["iss"] = .string(issuer(of: person) + (faults.has(.wrongIssuer) ? "/another" : ""))
        if !policy.audiences.isEmpty { claims["aud"] = .string(clientID) }
        claims["iat"] = .integer(issuedAt)
        claims["exp"] = .integer(issuedAt + dialect.tokenLifetimeSeconds)
        claims["auth_time"] = .integer(request.authenticatedAt ?? issuedAt)
        if dialect.namesAuthorizedParty { claims["azp"] = .string(clientID) }
        if let party = policy.authorizedParties.first { claims["azp"] = .string(party) }
        if let nonce = request.nonce, policy.nonce.isChecked { claims["nonce"] = .string(nonce) }
        if let token = request.accessToken { claims["at_hash"] = .string(try keys.halfHash(token)) }
        if let code = request.code { claims["c_hash"] = .string(try keys.halfHash(code)) }
        if let state = request.state { claims["s_hash"] = .string(try keys.halfHash(state)) }
        if let acr = request.acr { claims["acr"] = .string(acr) }
        // Apple puts it only into tokens of native apps.
        if policy.reportsRealUserStatus, request.scopes == nil {
            claims["real_user_status"] = .integer(person.realUserStatus)
        }
        fulfil(policy.claimRules, policy.requiredClaims, in: &claims)
        return claims
    }

    /// The claims about a person that are the same in each token.
    ///
    /// - Parameter scopes: `nil`: all.
    func userClaims(of person: Person, scopes: [String]?) throws -> [String: JSONTree] {
        var claims: [String: JSONTree] = ["sub": .string(try subject(of: person))]
        if scopes?.contains("email") != false { claims.merge(try emailClaims(of: person)) { $1 } }
        if scopes?.contains("profile") != false, !dialect.sendsUserOnce {
            set(.name, person.name, in: &claims)
            set(.givenName, person.givenName, in: &claims)
            set(.familyName, person.familyName, in: &claims)
            if !person.groups.isEmpty { claims["groups"] = .array(person.groups.map(JSONTree.string)) }
        }
        if let template = policy.issuerTemplates?.first {
            claims[template.claim.string] = .string(tenant(of: person))
        } else if policy.identityClaims[.tenant] != nil {
            set(.tenant, person.tenant, in: &claims)
        }
        return claims
    }

    private func emailClaims(of person: Person) throws -> [String: JSONTree] {
        guard let email = person.email else { return [:] }
        var claims: [String: JSONTree] = [:]
        func flag(_ value: Bool) -> JSONTree { dialect.hasTextBooleans ? .string("\(value)") : .bool(value) }
        var isVerified = person.hasVerifiedEmail
        if let relay = policy.email.privateDomains.first, person.hidesEmail {
            set(.email, "\(try digest(of: person).prefix(10))@\(relay)", in: &claims)
            claims["is_private_email"] = flag(true)
            isVerified = true
        } else {
            set(.email, email, in: &claims)
        }
        switch policy.email.verification {
        case .emailVerified: claims["email_verified"] = flag(isVerified)
        case .claim(let path): claims.set(.bool(isVerified), at: path)
        case .nothing: break
        }
        let domain = String(email[(email.lastIndex(of: "@").map(email.index(after:)) ?? email.startIndex)...])
        // Personal accounts have none.
        if policy.reportsHostedDomain, !policy.email.authoritativeDomains.contains(domain) {
            claims["hd"] = .string(domain)
        }
        return claims
    }

    /// Adds the claims that the settings require: the first allowed value, or a placeholder.
    func fulfil(_ rules: [ClaimRule], _ required: [ClaimName], in claims: inout [String: JSONTree]) {
        for rule in rules where rule.kind == .oneOf {
            if let value = rule.values.first { claims.set(.string(value), at: rule.claim) }
        }
        for claim in required where claims[claim.string] == nil { claims[claim.string] = .string("development") }
    }

    private func set(_ member: IdentityMember, _ value: String?, in claims: inout [String: JSONTree]) {
        guard let value else { return }
        claims.set(.string(value), at: policy.identityClaims[member] ?? ClaimPath(member.defaultClaim.string))
    }
}

extension [String: JSONTree] {
    /// Sets a claim, and creates the objects on its path if necessary.
    mutating func set(_ value: JSONTree, at path: ClaimPath) { set(value, at: path.steps.map(\.string)[...]) }

    private mutating func set(_ value: JSONTree, at steps: ArraySlice<String>) {
        guard let name = steps.first else { return }
        guard steps.count > 1 else {
            self[name] = value
            return
        }
        var inner = self[name]?.object ?? [:]
        inner.set(value, at: steps.dropFirst())
        self[name] = .object(inner)
    }
}
