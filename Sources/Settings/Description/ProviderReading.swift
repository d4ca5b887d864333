internal import IDToken
internal import JOSE
internal import Keys
internal import OAuth
internal import Verification

/// An entry while it is read: what is known of its provider, and its settings so far.
@dynamicMemberLookup
struct ProviderReading {
    let preset: ProviderPreset
    let facts: ProviderFacts
    /// Whether the entry has a list of issuers, or any.
    let hasManyIssuers: Bool
    /// `nil`: none.
    var profile: SecurityProfile?
    /// At first the preset's. `readKeys` or `readIssuers` replaces the location of the keys.
    var settings: ProviderSettings

    /// - Parameters:
    ///   - arguments: values of the preset's parameters.
    ///   - areOpaque: whether the provider is asked about its access tokens.
    init(
        _ preset: ProviderPreset, _ arguments: PresetArguments, _ accessTokens: AccessTokenDialect?, areOpaque: Bool,
        hasManyIssuers: Bool
    ) {
        self.preset = preset
        self.hasManyIssuers = hasManyIssuers
        let facts = preset.facts(arguments)
        self.facts = accessTokens.map(facts.ofAccessTokens) ?? facts
        var policy = self.facts.policy
        if hasManyIssuers { policy.issuer = "" }
        settings = ProviderSettings(policy: policy, keys: .discovery(of: policy))
        settings.preset = preset.name
        settings.accessTokens = accessTokens
        settings.endpoints = facts.endpoints
        settings.quirks = facts.quirks
        settings.usesPKCE = facts.usesPKCE
        settings.refusesBrowserSignIns = facts.refusesBrowserSignIns
        settings.presetRefusesAccessTokens = facts.policy.refusesAccessTokens
        if areOpaque {
            settings.introspection = IntrospectionRules()
            settings.maximumCalls = Self.maximumQuestions
        }
    }

    subscript<Value>(dynamicMember path: any WritableKeyPath<ProviderSettings, Value> & Sendable) -> Value {
        get { settings[keyPath: path] }
        set { settings[keyPath: path] = newValue }
    }

    /// An entry without a preset and without settings.
    var unknown: ProviderReading {
        var policy = ProviderPolicy(id: settings.policy.id, issuer: "", audiences: [])
        policy.clockSkewSeconds = settings.policy.clockSkewSeconds
        var unknown = self
        unknown.settings = ProviderSettings(policy: policy, keys: settings.keys)
        return unknown
    }

    private var needsProofNonce: Bool? {
        get { settings.accessTokens?.proofUse.needsNonce }
        set { settings.accessTokens?.proofUse.needsNonce = newValue }
    }

    private var algorithms: [SignatureAlgorithm] {
        get { (settings.policy.algorithms?.names ?? []).sorted().compactMap(SignatureAlgorithm.init) }
        set { settings.policy.algorithms = SignatureAlgorithms(newValue) }
    }

    private var quirks: [ProviderQuirk] {
        get { settings.quirks.sorted { $0.rawValue < $1.rawValue } }
        set { settings.quirks = Set(newValue) }
    }

    static let algorithmsName = "algorithms"

    static let clockSkew = ValueType<Int64>.seconds(0...300)

    /// All settings except `id`, `preset` and the preset's parameters.
    static let members: [Member<ProviderReading>] = [
        Member(
            [tokenTypes.description, clientClaims.description, accessTokenClaim.description], read: readDialect),
        Member(
            [
                issuer.description, issuerAliases.description, tenants.description, excludedTenants.description,
                keyIssuers.description,
            ], read: readIssuer),
        Member([profile.description], read: readProfile),
        Setting("trusted_audiences", listOf: .text, "Other client IDs that `aud` may contain besides yours.")
            .at(\.policy.trustedAudiences),
        Setting("authorized_parties", listOf: .text, defaultDescription: "any", "The values that `azp` may have.")
            .at(\.policy.authorizedParties),
        Member([requiredScopes.description], read: readRequiredScopes),
        Member([audiences.description], read: readAudiences),
        Setting(
            algorithmsName, listOf: ValueType<SignatureAlgorithm>.algorithm, refusesEmpty: "must name at least one",
            defaultDescription: "the preset's, else those of the discovery document, else all that are supported",
            "The signature algorithms to accept."
        ).at(\.algorithms),
        Member(
            section: "nonce", nonce, orWord: ProofUseReader.nonce, at: \.needsProofNonce,
            if: { $0.accessTokens != nil },
            "How to compare the nonce. With `tokens: access` or `opaque`, a word instead: whether a [DPoP proof](access-tokens.md#tokens-bound-to-a-key) must have a nonce (`required` or `off`), if not as in `dpop.nonce`.",
            check: checkNonce),
        Setting("clock_skew", clockSkew, "How far this provider's clock may differ from this machine's.")
            .at(\.policy.clockSkewSeconds),
        Member([maxTokenAge.description], read: readMaxTokenAge),
        Member([requiredClaims.description], read: readRequiredClaims),
        Member([claimValues, refusedClaimValues, refusedClaims.description], read: readClaimRules),
        Member(section: "service_accounts", serviceAccounts, "Refuses tokens of service accounts."),
        Setting(
            "refuse_access_tokens", .boolean,
            "Refuses a token without a nonce that [looks like an access token](providers.md#access-tokens)."
        ).at(\.policy.refusesAccessTokens),
        Member(
            section: "identity", of: IdentityMember.allCases.map(\.setting.description),
            "The claims from which members of the identity are read, if the provider uses other names: `{ preferred_username: login }`. [Identity](providers.md#identity) lists the defaults.",
            read: readIdentity),
        Setting(
            "real_user_status", .boolean,
            "Whether to report the claim `real_user_status` as `identity.real_user_status`."
        ).at(\.policy.reportsRealUserStatus),
        Member(section: "email", email, "How far to trust the provider about email addresses."),
        Setting(
            "private_email_domains", listOf: .text,
            "Domains of relay addresses, which forward to a private address."
        ).at(\.policy.email.privateDomains),
        Member([notificationKinds.description, notificationAge.description], read: readNotifications),
        Member([encryption], read: readEncryption),
        Member([authorization], read: readAuthorization),
        Member([serviceTokens.description], read: readServiceTokens),
        Member(
            [uncheckedBindings.description, binding.description, ProofUseReader.replay.description],
            read: readBindings),
        Member(
            section: networkName, network,
            "Restrictions on connections to this provider, for key fetches and for calls to its endpoints."),
        Member(
            [discoveryURL.description, discovery.description]
                + [discoveryIssuer, jwksURI, certificatesURI, publicKeyURI, jwksFile].map(\.description),
            read: readKeys),
        Setting(
            "quirks", listOf: ValueType<ProviderQuirk>.word,
            "How the provider's endpoints differ from the protocol. `revoked_is_invalid_request`: for a refresh, `invalid_request` means that the token was revoked. `refresh_tokens_stay`: a refresh token stays valid after use. `no_openid_scope`: `openid` is not added to the scopes. `form_post_for_scopes`: if scopes are requested, the response is a form POST. `scope_is_list`: the token endpoint returns the granted scopes as a list. `no_token_type`: the token endpoint returns no `token_type`."
        ).at(\.quirks),
        Member([endpoints], read: readEndpoints),
        Member([issuers.description, issuersFile.description, maximumIssuers.description], read: readIssuers),
        Member(ofClients, read: readClients),
        Member([], read: checkProfile),
        Member([introspectionSettings], read: readIntrospection),
        Setting("optional", .boolean, "Whether `/readyz` ignores this provider.").at(\.isOptional),
    ]

    private static let nonce: [Member<ProviderReading>] = [
        Setting(
            "match", listOf: ValueType<NonceMatch>.word, refusesEmpty: "must name at least one form",
            "The form of the nonce in the token: the nonce of the request itself (`plain`), or its SHA-256."
        ).at(\.policy.nonce.accepted),
        Setting("required", .boolean, "Refuses tokens and requests without a nonce.").at(\.policy.nonce.isRequired),
        Setting("check", .onOff, "Whether to compare nonces; set `off` only for providers that don't return them.")
            .at(\.policy.nonce.isChecked),
        Member([singleUse.description], read: readSingleUse),
    ]

    private static let singleUse = Setting(
        "single_use", .boolean,
        "Accepts each nonce once: a second use is `nonce_replayed`. Implies `required: true`, and limits `max_token_age` to 24 h, which is then its default. Used nonces are recorded in `sign_ins.store`; without `sign_ins`, each instance remembers them in its own memory, until a restart."
    )

    private static func readSingleUse(_ section: Section, _ provider: inout ProviderReading) {
        guard let isSingleUse = singleUse.read(section) else {
            return section.record(singleUse.name, .scalar("false"), .default)
        }
        provider.usesNoncesOnce = isSingleUse
        guard isSingleUse else { return }
        guard provider.policy.nonce.isChecked else {
            return section.refuse(singleUse.name, "single_use needs nonce checks, but check is off; remove one of them")
        }
        if section.scalarText("required") == "false" {
            section.refuse("required", "single_use needs a nonce in every request; remove required: false")
        }
        provider.policy.nonce.isRequired = true
        if section.source("required") == nil {
            section.record("required", .scalar("true"), section.origin(of: singleUse.name))
        }
    }

    private static let maxTokenAge = Setting(
        "max_token_age", .seconds(1...(366 * 86400)), defaultDescription: "none; `24h` with `nonce.single_use`",
        "Maximum age of a token since its `iat`, even if its `exp` is later.")

    /// The longest time for which a used nonce is remembered, in seconds.
    private static let longestSingleUse: Int64 = 86400

    private static func readMaxTokenAge(_ section: Section, _ provider: inout ProviderReading) {
        provider.policy.maximumTokenAgeSeconds = maxTokenAge.read(section)
        section.refuse(
            maxTokenAge.name,
            if: provider.accessTokens?.loadBalancer != nil && provider.policy.maximumTokenAgeSeconds != nil,
            "max_token_age needs iat, which a load balancer's assertions don't have; remove it: exp limits their age")
        guard provider.usesNoncesOnce, !section.isFaulty(maxTokenAge.name) else { return }
        guard let age = provider.policy.maximumTokenAgeSeconds else {
            provider.policy.maximumTokenAgeSeconds = longestSingleUse
            let origin = section.section("nonce").origin(of: singleUse.name)
            return section.record(maxTokenAge.name, maxTokenAge.shown(longestSingleUse), origin)
        }
        guard age > longestSingleUse else { return }
        section.refuse(
            maxTokenAge.name,
            "max_token_age must be at most 24h with nonce.single_use, because used nonces are kept no longer; found \(age)s"
        )
    }

    private static let serviceAccounts: [Member<ProviderReading>] = [
        Setting("refuse_azp_equal_to_sub", .boolean, "Refuses a token whose `azp` is its `sub`.")
            .at(\.policy.serviceAccounts.refusesAzpEqualToSub),
        Setting(
            "refuse_email_domains", listOf: .text,
            "Refuses a token with an email address in one of these domains or their subdomains."
        ).at(\.policy.serviceAccounts.emailDomains),
    ]

    private static let email: [Member<ProviderReading>] = [
        Setting(
            "verified_claim", verifiedClaim,
            "The claim that says whether an email address is verified; `none` if the provider verifies none."
        ).at(\.policy.email.verification),
        Setting("authoritative_domains", listOf: .text, "Domains whose mailboxes the provider hosts.")
            .at(\.policy.email.authoritativeDomains),
        Setting(
            "trust_hosted_domain", .boolean,
            "Whether the claim `hd` names a domain whose mailboxes the provider hosts."
        ).at(\.policy.email.trustsHostedDomain),
    ]

    static let networkName = "network"
    static let allowHTTP = Setting(
        "allow_http", .boolean, "Allows connections over plain HTTP. For tests only; logs a start-up warning.")
    private static let network: [Member<ProviderReading>] = [
        allowHTTP.at(\.network.allowHTTP),
        Setting(
            "allow_private_addresses", .boolean,
            "Allows connections to private, loopback and all other addresses that are not on the public Internet. For tests only; logs a start-up warning."
        ).at(\.network.allowPrivateAddresses),
        Setting("allow_addresses", listOf: addressBlock, "Private addresses and blocks that connections may go to.")
            .at(\.network.allowedAddresses),
        Setting("ca_file", .file(.authorities), "Additional CA certificates (PEM) to trust for this provider.")
            .ifSet(\.network.caFile),
    ]

    private static let addressBlock = ValueType(
        expected: "an address or a block such as 10.0.0.0/8, with no host bits set", form: .text(),
        parse: { AddressBlock($0) }, text: \.text)

    private static let verifiedClaim = ValueType<EmailRule.Verification>(expected: "a string", form: .text()) { text in
        switch text {
        case "": nil
        case "none": .nothing
        case "email_verified": .emailVerified
        default: .claim(ClaimPath(text))
        }
    } text: { rule in
        switch rule {
        case .emailVerified: "email_verified"
        case .claim(let path): path.name.string
        case .nothing: "none"
        }
    }

    private static func checkNonce(_ section: Section, _ provider: ProviderReading) {
        if !provider.policy.nonce.isChecked, provider.policy.nonce.isRequired {
            section.refuse("required", "required: true has no effect with check: off; remove one of them")
        }
    }
}
