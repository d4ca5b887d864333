package import JSON

extension Identity {
    /// The same identity, completed by claims from the UserInfo endpoint.
    ///
    /// The ID Token, which is signed, wins. Members that belong together, such as an address and whether it is
    /// verified, are all from one source. Tenant and hosted domain, which backends authorize by, are the ID Token's
    /// alone, and an address from user info is at most ``EmailTrust/verified``.
    ///
    /// - Parameter userInfo: claims whose `sub` is this identity's, fetched from the provider over TLS.
    /// - Throws: ``Rejection/claimInvalid(_:)`` for a claim of another type.
    /// - Source: OpenID Connect Core 1.0, 5.3.2.
    package func completed(byUserInfo userInfo: JSONObject, _ policy: ProviderPolicy) throws(Rejection) -> Identity {
        var policy = policy
        // Required claims must be in the ID Token.
        policy.requiredClaims = []
        // User info is unsigned, so accounts must not be linked by its address.
        policy.email.authoritativeDomains = []
        policy.email.trustsHostedDomain = false
        let other = try Identity(Claims(userInfo), issuer: issuer, subject: subject, policy, clientName: nil)
        return Identity(self, completedBy: other)
    }

    // The members are constants: if any could change, each verification of a token would cost 600 instructions more.
    private init(_ token: Identity, completedBy userInfo: Identity) {
        provider = token.provider
        issuer = token.issuer
        subject = token.subject
        let address = token.email == nil ? userInfo : token
        email = address.email
        isEmailVerified = address.isEmailVerified
        emailTrust = address.emailTrust
        isPrivateEmail = address.isPrivateEmail
        let hasBetterNames = token.nameSource != .token && userInfo.nameSource != nil
        let names = hasBetterNames ? userInfo : token
        name = names.name
        givenName = names.givenName
        familyName = names.familyName
        nameSource = hasBetterNames ? .userInfo : token.nameSource
        preferredUsername = token.preferredUsername ?? userInfo.preferredUsername
        picture = token.picture ?? userInfo.picture
        locale = token.locale ?? userInfo.locale
        realUserStatus = token.realUserStatus
        transferSubject = token.transferSubject
        tenant = token.tenant
        hostedDomain = token.hostedDomain
    }
}
