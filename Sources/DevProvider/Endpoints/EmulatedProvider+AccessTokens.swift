internal import IDToken
internal import JSON

/// JWT access tokens, for providers whose access tokens the settings verify.
extension EmulatedProvider {
    /// - Parameters:
    ///   - overriding: claims that replace the usual ones; `null` removes one.
    ///   - id: `jti`.
    /// - Throws: ``OpenSSLError``.
    func accessToken(
        _ dialect: AccessTokenDialect, _ person: Person, clientID: String, overriding: [String: JSONTree], id: String,
        now: Int64
    ) throws -> String {
        var claims: [String: JSONTree] = [
            "iss": .string(issuer(of: person)), "sub": .string(try subject(of: person)), "aud": .string(clientID),
            "iat": .integer(now), "exp": .integer(now + self.dialect.tokenLifetimeSeconds), "jti": .string(id),
        ]
        if let template = policy.issuerTemplates?.first {
            claims[template.claim.string] = .string(tenant(of: person))
        }
        if let name = dialect.clientClaims.first { claims[name.string] = .string(clientID) }
        if dialect.requiredClaims.contains(.shortScope) {
            claims["scp"] = .string("read")
        } else if !dialect.isAlsoIDToken {
            claims["scope"] = .string("openid read")
        }
        if !person.groups.isEmpty {
            claims.set(.array(person.groups.map(JSONTree.string)), at: dialect.authorization.groups)
        }
        fulfil(dialect.claimRules + policy.claimRules, dialect.requiredClaims + policy.requiredClaims, in: &claims)
        for (name, value) in overriding { claims[name] = value == .null ? nil : value }
        return try keys.sign(claims, type: dialect.declaresType ? "at+jwt" : "JWT")
    }
}
