package import AccessTokens
package import JSON

/// The answer for a verified access token: its subject, its permissions, and the keys that were used.
package struct AccessTokenAnswer: TokenAnswer {
    package let token: VerifiedAccessToken
    let keys: KeysUsed
    let includesClaims: Bool

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
                if let groups = token.authorization.groups {
                    json.array("groups", groups)
                } else {
                    json.name("groups")
                    json.null()
                }
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
