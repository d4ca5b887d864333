internal import IDToken

/// The kind of token that an entry verifies.
enum TokenUse: String, CaseIterable {
    case id, access, opaque
}

/// Which kind of token an entry verifies, and how access tokens are read.
extension ProviderReading {
    static let tokens = Setting(
        "tokens", ValueType<TokenUse>.word("id, access or opaque"),
        defaultDescription: "`id`; `access` for the presets of gateways",
        "The kind of token that this entry verifies: ID Tokens at `POST /v1/verify`, or [access tokens](access-tokens.md) at `POST /v1/access-tokens/verify`: JWTs, which are verified with keys, or opaque tokens, about which [the provider is asked](introspection.md). An issuer may have one entry of each kind."
    )

    /// Reads which kind of token is verified; see ``AccessTokenSupport``. Must come first, because a preset's rules
    /// differ by kind.
    ///
    /// - Returns: `nil` for ID Tokens; and whether access tokens are opaque.
    static func readTokens(
        _ section: Section, _ preset: ProviderPreset, _ arguments: PresetArguments
    ) -> (AccessTokenDialect?, areOpaque: Bool) {
        let given = tokens.read(section)
        let support = preset.facts(arguments).accessTokens
        if case .assertions = support {
            if given == nil { section.record(tokens.name, .scalar(TokenUse.access.rawValue), section.preset) }
            if let given, given != .access {
                section.refuse(
                    tokens.name,
                    "preset \(preset.name) verifies a gateway's assertions, which are neither ID Tokens nor opaque; remove tokens: \(given.rawValue)"
                )
            }
        } else {
            if given == nil { section.record(tokens.name, .scalar(TokenUse.id.rawValue), .default) }
            guard let given, given != .id else { return (nil, false) }
        }
        let areOpaque = given == .opaque
        let use = areOpaque ? "opaque" : "access"
        section.refuse(
            "nonce", if: section.node("nonce")?.mapping != nil,
            "nonce has rules for ID Tokens, but tokens: \(use) verifies access tokens; write required or off, for the nonces of DPoP proofs, or remove it"
        )
        for name in withoutEffect(areOpaque: areOpaque).filter(section.mentions) {
            section.refuse(
                name,
                "\(name) is only for ID Tokens, but tokens: \(use) verifies access tokens; remove it"
            )
        }
        if areOpaque { return (.opaque(support.dialect?.authorization ?? AuthorizationClaims()), true) }
        if case .unsupported(let reason) = support {
            section.refuse(tokens.name, "access tokens of preset \(preset.name) can't be verified: \(reason)")
        }
        return (support.dialect, false)
    }

    /// Settings without effect on access tokens.
    static func withoutEffect(areOpaque: Bool) -> [String] {
        areOpaque ? ofIDTokensOnly.filter { !["clients", "endpoints", "max_calls"].contains($0) } : ofIDTokensOnly
    }

    private static let ofIDTokensOnly = [
        "trusted_audiences", "refuse_access_tokens", "real_user_status", "notifications",
        "notifications_max_age", "clients", "endpoints", "quirks", "pkce", "allow_unbound_codes", "user_info",
        "max_calls",
    ]

    static let serviceTokens = Setting(
        "service_tokens", .boolean, defaultDescription: "`false`",
        "Accepts assertions with an empty `sub` that name a machine in another claim. Their subject is `common_name:` and the machine's name. Only for preset `cloudflare-access`."
    )

    @Sendable static func readServiceTokens(_ section: Section, _ provider: inout ProviderReading) {
        guard let isAccepted = serviceTokens.read(section) else { return }
        guard provider.accessTokens?.serviceNameClaim != nil else {
            return section.refuse(
                serviceTokens.name, "service_tokens is only for preset cloudflare-access; remove it")
        }
        provider.accessTokens?.acceptsServiceTokens = isAccepted
    }

    static let uncheckedBindings = Setting(
        "unchecked_bindings", .boolean, defaultDescription: "`false`",
        "Accepts access tokens that are [bound to a key](access-tokens.md#tokens-bound-to-a-key) (`cnf`), although nothing proves that the sender has the key; a proof that comes is checked. Only with `tokens: access` or `opaque`."
    )

    static let binding = Setting(
        "binding", ValueType<RequiredBinding>.word, defaultDescription: "none",
        "The [key that every access token must be bound to](access-tokens.md#tokens-bound-to-a-key): that of DPoP proofs, that of the client's certificate, or either. Other tokens are `binding_missing`. Only with `tokens: access` or `opaque`."
    )

    @Sendable static func readBindings(_ section: Section, _ provider: inout ProviderReading) {
        let areAccepted = uncheckedBindings.read(section)
        let required = binding.read(section)
        let passesOnce = ProofUseReader.replay.read(section)
        guard provider.accessTokens != nil else {
            guard !section.isFaulty(tokens.name) else { return }
            return section.refuse(
                [uncheckedBindings.name, binding.name, ProofUseReader.replay.name],
                "needs tokens: access or opaque, because ID Tokens are never bound to a key; remove it")
        }
        section.refuse(
            uncheckedBindings.name, if: areAccepted == true && required != nil,
            "unchecked_bindings accepts tokens whose binding is not proven, but binding demands the proof; remove one")
        provider.accessTokens?.acceptsUncheckedBindings = areAccepted ?? false
        provider.accessTokens?.requiredBinding = required
        provider.accessTokens?.proofUse.passesOnce = passesOnce
    }

    static let authorization = SettingDescription(
        section: "authorization", authorizationClaims.map(\.setting.description),
        "The claims of access tokens from which the response's `authorization` is read, if they differ from the preset's. Only with `tokens: access` or `opaque`."
    )

    private static let authorizationClaims: [(setting: Setting<ClaimPath>, path: AuthorizationPath)] = [
        (claim("roles"), \.roles), (claim("groups"), \.groups), (claim("entitlements"), \.entitlements),
    ]

    private typealias AuthorizationPath = any WritableKeyPath<AuthorizationClaims, ClaimPath> & Sendable

    private static func claim(_ name: String) -> Setting<ClaimPath> {
        Setting(
            name, .claim, defaultDescription: "the preset's, else `\(name)`",
            "The claim that supplies `authorization.\(name)`: a string, a list of strings, or an object, whose member names are used."
        )
    }

    @Sendable static func readAuthorization(_ parent: Section, _ provider: inout ProviderReading) {
        let section = parent.section("authorization")
        let claims = authorizationClaims.map { ($0.setting.read(section), $0) }
        section.finish()
        guard var dialect = provider.accessTokens else {
            if let (_, (setting, _)) = claims.first(where: { $0.0 != nil }), !parent.isFaulty(tokens.name) {
                section.refuse(
                    setting.name,
                    "authorization needs tokens: access or opaque, because ID Tokens grant nothing; remove it")
            }
            return
        }
        for (claim, (setting, path)) in claims {
            if let claim {
                dialect.authorization[keyPath: path] = claim
            } else {
                let claim = dialect.authorization[keyPath: path]
                let isUsual = claim == AuthorizationClaims()[keyPath: path]
                section.record(setting.name, setting.shown(claim), isUsual ? .default : section.preset)
            }
        }
        provider.accessTokens = dialect
    }
}

/// The notifications that a provider sends after sign-in.
extension ProviderReading {
    static let notificationKinds = Setting(
        "notifications", listOf: ValueType<NotificationKind>.word,
        "The kinds of notifications that `POST /v1/notifications/verify` accepts: Apple's server-to-server notifications, logout tokens of OpenID Connect Back-Channel Logout, security event tokens."
    )
    static let notificationAge = Setting(
        "notifications_max_age", .seconds(1...(90 * 86_400)),
        defaultDescription: "`7d` with `notifications`",
        "Maximum age of a notification since its `iat`.")

    /// Must come after the audiences.
    @Sendable static func readNotifications(_ section: Section, _ provider: inout ProviderReading) {
        let kinds = notificationKinds.read(section) ?? []
        let age = notificationAge.read(section)
        guard !kinds.isEmpty else {
            section.refuse(
                notificationAge.name, if: age != nil && !section.isFaulty(notificationKinds.name),
                "notifications_max_age has no effect without notifications; list the kinds there, or remove it")
            return
        }
        section.refuse(
            notificationKinds.name, if: provider.policy.audiences.isEmpty && section.isWord("none", "audiences"),
            "notifications need audiences, because only aud says that they are for you; replace audiences: none")
        var rules = provider.facts.notifications(kinds)
        rules.maximumAgeSeconds = section.given(age, notificationAge, else: rules.maximumAgeSeconds)
        provider.notifications = rules
    }
}

/// How access tokens that follow no specification are recognized.
extension ProviderReading {
    static let tokenTypes = Setting(
        "token_types", listOf: tokenType, refusesEmpty: "must name at least one",
        defaultDescription: "the preset's, else `[at+jwt]`",
        "The values of `typ` in the header of access tokens. `JWT` and `\"\"` (no `typ`) are also those of ID Tokens, and need `access_token_claim` unless the preset knows them. Only with `tokens: access`."
    )
    static let clientClaims = Setting(
        "client_claims", listOf: claimName, defaultDescription: "the preset's, else `[client_id]`",
        "The claims that can name the client of an access token; the first that has a value counts. `[]` if there is none: `authorization.client_id` is then `null`. Only with `tokens: access`."
    )
    static let accessTokenClaim = Setting(
        "access_token_claim", claimName, defaultDescription: "none",
        "A claim that this issuer's ID Tokens lack, such as `scope`. An access token must have it, unless its `typ` is `at+jwt`. Only with `tokens: access`."
    )

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
        let given = tokenTypes.read(section)
        let claims = clientClaims.read(section)
        let claim = accessTokenClaim.read(section)
        guard var dialect = provider.accessTokens, provider.introspection == nil, dialect.loadBalancer == nil else {
            guard !section.isFaulty(tokens.name) else { return }
            return section.refuse(
                [tokenTypes.name, clientClaims.name, accessTokenClaim.name],
                "needs tokens: access, and a preset other than aws-alb, whose tokens are known; remove it")
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
            section.refuseMissing(
                accessTokenClaim.name, if: claim == nil,
                "token_types allows the types of ID Tokens, so access_token_claim must name a claim that they lack, such as scope"
            )
            provider.policy.requiredClaims.removeAll { $0 == .tokenID }
        }
        section.refuse(
            accessTokenClaim.name, if: claim != nil && !isAmbiguous,
            "access_token_claim has no effect, because every token must have typ at+jwt (token_types); remove it")
    }

    private static func record(_ dialect: AccessTokenDialect, _ section: Section) {
        if section.source(tokenTypes.name) == nil {
            let isUsual = dialect.types == [.accessToken]
            let types = AccessTokenType.allCases.filter(dialect.types.contains)
            section.record(tokenTypes.name, tokenTypes.shown(types), isUsual ? .default : section.preset)
        }
        if section.source(clientClaims.name) == nil {
            let isUsual = dialect.clientClaims == [.clientID]
            section.record(
                clientClaims.name, clientClaims.shown(dialect.clientClaims), isUsual ? .default : section.preset)
        }
    }
}
