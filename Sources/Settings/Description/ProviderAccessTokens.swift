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
        if section.node("nonce")?.mapping != nil {
            section.refuse(
                "nonce",
                "nonce has rules for ID Tokens, but tokens: \(use) verifies access tokens; write required or off, for the nonces of DPoP proofs, or remove it"
            )
        }
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
            let found = [
                areAccepted.map { _ in uncheckedBindings.name }, required.map { _ in binding.name },
                passesOnce.map { _ in ProofUseReader.replay.name },
            ]
            for case let setting? in found {
                section.refuse(
                    setting,
                    "\(setting) needs tokens: access or opaque, because ID Tokens are never bound to a key; remove it")
            }
            return
        }
        if areAccepted == true, required != nil {
            section.refuse(
                uncheckedBindings.name,
                "unchecked_bindings accepts tokens whose binding is not proven, but binding demands the proof; remove one"
            )
        }
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
            if age != nil, !section.isFaulty(notificationKinds.name) {
                section.refuse(
                    notificationAge.name,
                    "notifications_max_age has no effect without notifications; list the kinds there, or remove it")
            }
            return
        }
        if provider.policy.audiences.isEmpty, section.isWord("none", "audiences") {
            section.refuse(
                notificationKinds.name,
                "notifications need audiences, because only aud says that they are for you; replace audiences: none")
        }
        var rules = provider.facts.notifications(kinds)
        if let age {
            rules.maximumAgeSeconds = age
        } else {
            section.record(notificationAge.name, notificationAge.shown(rules.maximumAgeSeconds), .default)
        }
        provider.notifications = rules
    }
}
