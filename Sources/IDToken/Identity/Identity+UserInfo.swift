package import JSON

extension Identity {
    /// The same identity, with what only the user info endpoint says.
    ///
    /// The ID Token, which is signed, wins. Members that belong together, such as an address and whether it is verified,
    /// are all from one source. Tenant and hosted domain, which backends authorize by, are the ID Token's alone, and an
    /// address from user info is at most ``EmailTrust/verified``.
    ///
    /// - Parameter userInfo: claims whose `sub` is this identity's, fetched from the provider over TLS.
    /// - Throws: ``Rejection/claimInvalid(_:)`` for a claim of another type.
    /// - Source: OpenID Connect Core 1.0, 5.3.2.
    package func completed(byUserInfo userInfo: JSONObject, _ policy: ProviderPolicy) throws(Rejection) -> Identity {
        var policy = policy
        // What the settings require, they require of the ID Token.
        policy.requiredClaims = []
        // Nobody signed it, so accounts must not be linked by an address from here.
        policy.email.authoritativeDomains = []
        policy.email.trustsHostedDomain = false
        let other = try Identity(Claims(userInfo), issuer: issuer, subject: subject, policy, clientName: nil)
        var identity = self
        if email == nil {
            identity.email = other.email
            identity.isEmailVerified = other.isEmailVerified
            identity.emailTrust = other.emailTrust
            identity.isPrivateEmail = other.isPrivateEmail
        }
        if nameSource != .token, other.nameSource != nil {
            identity.name = other.name
            identity.givenName = other.givenName
            identity.familyName = other.familyName
            identity.nameSource = .userInfo
        }
        identity.preferredUsername = preferredUsername ?? other.preferredUsername
        identity.picture = picture ?? other.picture
        identity.locale = locale ?? other.locale
        return identity
    }
}
