internal import IDToken

/// How access tokens that follow no specification are recognized.
extension ProviderReading {
    private static let types = Setting(
        "token_types", listOf: tokenType, refusesEmpty: "must name at least one",
        defaultDescription: "the preset's, else `[at+jwt]`",
        "The values of `typ` in the header of access tokens. `JWT` and `\"\"` (no `typ`) are also those of ID Tokens, and need `access_token_claim` unless the preset knows them. Only with `tokens: access`."
    )
    private static let clients = Setting(
        "client_claims", listOf: claimName, defaultDescription: "the preset's, else `[client_id]`",
        "The claims that can name the client of an access token; the first that has a value counts. `[]` if there is none: `authorization.client_id` is then `null`. Only with `tokens: access`."
    )
    private static let marker = Setting(
        "access_token_claim", claimName, defaultDescription: "none",
        "A claim that this issuer's ID Tokens lack, such as `scope`. An access token must have it, unless its `typ` is `at+jwt`. Only with `tokens: access`."
    )

    static var tokenTypes: SettingDescription { types.description }
    static var clientClaims: SettingDescription { clients.description }
    static var accessTokenClaim: SettingDescription { marker.description }

    private static var tokenType: ValueType<AccessTokenType> {
        ValueType(
            expected: "at+jwt, JWT or \"\" (no typ)", form: .words(AccessTokenType.allCases.map(\.rawValue)),
            parse: AccessTokenType.init(rawValue:), text: \.rawValue)
    }

    private static var claimName: ValueType<ClaimName> {
        ValueType(
            expected: "the name of a claim", form: .text(), parse: { $0.isEmpty ? nil : ClaimName($0) }, text: \.string)
    }

    /// Must come before the required claims, because tokens that follow no specification need not have those of RFC
    /// 9068.
    @Sendable static func readDialect(_ section: Section, _ provider: inout ProviderReading) {
        let given = types.read(section)
        let claims = clients.read(section)
        let claim = marker.read(section)
        guard var dialect = provider.accessTokens, provider.introspection == nil, dialect.loadBalancer == nil else {
            guard !section.isFaulty(tokens.name) else { return }
            for name in [
                given.map { _ in types.name }, claims.map { _ in clients.name }, claim.map { _ in marker.name },
            ] {
                guard let name else { continue }
                section.refuse(
                    name,
                    "\(name) needs tokens: access, and a preset other than aws-alb, whose tokens are known; remove it")
            }
            return
        }
        let usual = dialect.types
        if let given { dialect.types = Set(given) }
        // Some presets know claims that not every token has.
        if let claims, claims != dialect.clientClaims {
            dialect.clientClaims = claims
            dialect.requiresClient = !claims.isEmpty
        }
        dialect.accessTokenClaim = claim
        record(dialect, section)
        provider.accessTokens = dialect
        // With a type that ID Tokens have too, something else must tell the kinds apart.
        let isAmbiguous = dialect.types != [.accessToken]
        if isAmbiguous, usual == [.accessToken] {
            if claim == nil, !section.isFaulty(marker.name) {
                section.refuseMissing(
                    marker.name,
                    "token_types allows the types of ID Tokens, so access_token_claim must name a claim that they lack, such as scope"
                )
            }
            provider.policy.requiredClaims.removeAll { $0 == .tokenID }
        }
        if claim != nil, !isAmbiguous {
            section.refuse(
                marker.name,
                "access_token_claim has no effect, because every token must have typ at+jwt (token_types); remove it")
        }
    }

    private static func record(_ dialect: AccessTokenDialect, _ section: Section) {
        if section.source(types.name) == nil {
            let isUsual = dialect.types == [.accessToken]
            let types = AccessTokenType.allCases.filter(dialect.types.contains)
            section.record(Self.types.name, Self.types.shown(types), isUsual ? .default : section.preset)
        }
        if section.source(clients.name) == nil {
            let isUsual = dialect.clientClaims == [.clientID]
            section.record(clients.name, clients.shown(dialect.clientClaims), isUsual ? .default : section.preset)
        }
    }
}
