package import AccessTokens
package import JSON

/// The answer for a verified access token: whose it is, what it grants, and the keys that were used.
package struct AccessTokenAnswer {
    package let token: VerifiedAccessToken
    let keys: KeysUsed
    let includesClaims: Bool

    /// Writes the answer as a JSON object, every member present.
    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.name("identity")
            token.identity.write(to: &json)
            json.name("token")
            token.write(to: &json)
            json.object("authorization") { json in
                json.member("client_id", token.authorization.clientID)
                json.array("scopes", token.authorization.scopes)
                json.array("roles", token.authorization.roles)
                json.array("groups", token.authorization.groups)
                json.array("entitlements", token.authorization.entitlements)
            }
            json.name("keys")
            keys.write(to: &json)
            if includesClaims {
                json.name("claims")
                json.raw(token.claimsText)
            }
        }
    }
}

/// The result of verifying one access token.
package enum AccessTokenVerdict {
    case verified(AccessTokenAnswer, provider: Int)
    case refused(Problem, provider: Int?)
}
