/// What is known of a provider before a relying party says anything: the facts one would otherwise copy from its manual.
///
/// To add a provider, add a file to `Providers/` and its preset to ``all``; the verifier does not change.
public struct ProviderPreset: Sendable {
    public let name: String
    /// What it is for, in one line.
    public let summary: String
    /// What a relying party has to say of its own part of the provider.
    public let parameters: [PresetParameter]
    /// The provider that some arguments mean.
    public let facts: @Sendable (PresetArguments) -> ProviderFacts

    init(
        name: String, summary: String, parameters: [PresetParameter] = [],
        facts: @escaping @Sendable (PresetArguments) -> ProviderFacts
    ) {
        self.name = name
        self.summary = summary
        self.parameters = parameters
        self.facts = facts
    }

    /// A provider with the same issuer for everyone.
    init(
        name: String, summary: String, issuer: String, adjust: @escaping @Sendable (inout ProviderFacts) -> Void
    ) {
        self.init(name: name, summary: summary) { _ in
            var facts = ProviderFacts(issuer: issuer)
            adjust(&facts)
            return facts
        }
    }

    /// Every preset, in alphabetical order.
    public static let all: [ProviderPreset] = [
        .apple, .auth0, .azureB2C, .clerk, .cognito, .dex, .entraExternal, .facebookLimitedLogin, .firebase,
        .firebaseSessionCookie, .gitHubActions, .gitLab, .google, .kakao, .keycloak, .kubernetes, .line, .linkedIn,
        .loginGov, .microsoft, .microsoftVersion1, .oidc, .okta, .ory, .salesforce, .slack, .supabase, .twitch,
        .yahooJapan, .zitadel,
    ]

    public static func named(_ name: String) -> ProviderPreset? { all.first { $0.name == name } }

    /// The policy of a relying party that adds its client IDs and changes nothing.
    ///
    /// - Parameters:
    ///   - issuer: if given, what stands in place of the preset's.
    ///   - arguments: for the preset's ``parameters``. No token passes a policy that lacks one.
    public func policy(
        id: String, issuer: String? = nil, audiences: [String], arguments: PresetArguments = PresetArguments()
    ) -> ProviderPolicy {
        var policy = facts(arguments).policy
        policy.id = id
        policy.audiences = audiences
        if let issuer { policy.issuer = issuer }
        return policy
    }
}

/// A provider as a preset describes it: what its tokens are, and where it publishes its keys.
public struct ProviderFacts: Sendable, Equatable {
    /// Its ``ProviderPolicy/id`` is empty, and its audiences too, where they can't be known.
    public var policy: ProviderPolicy
    public var keys = PublishedKeys.discovery()
    /// What the relying party has to say of whose tokens it takes; `nil` where the audience says enough.
    public private(set) var callers: CallerRestriction?

    init(issuer: String) {
        policy = ProviderPolicy(id: "", issuer: issuer, audiences: [])
        // Known providers are told by their own claims and audiences.
        policy.refusesAccessTokens = false
    }
}

/// What narrows down who may call, of a provider that gives anyone a token for whatever audience they name.
public struct CallerRestriction: Sendable, Equatable {
    /// Whose tokens are taken without a rule, in the words that follow "the tokens of".
    public let everyone: String
    /// Claims of which one, by its value, tells the relying party's own callers.
    public let claims: [ClaimPath]
}

extension ProviderFacts {
    /// Demands a rule on one of some claims. Until there is one, no token passes: the first claim must have a value that none
    /// has, its placeholder.
    mutating func requireClaimRule(on claims: String..., against everyone: String) {
        callers = CallerRestriction(everyone: everyone, claims: claims.map(ClaimPath.init))
        policy.claimRules.append(ClaimRule(ClaimPath(claims[0]), .oneOf, ["<\(claims[0])>"]))
    }

    /// The rules of the policy without the placeholder of the one that is demanded.
    public var ownClaimRules: [ClaimRule] {
        guard let demanded = callers?.claims.first else { return policy.claimRules }
        return policy.claimRules.filter { $0.claim != demanded }
    }
}

/// Where a provider publishes its keys.
public enum PublishedKeys: Sendable, Equatable {
    /// Where its discovery document says.
    ///
    /// - `url`: where the document is; `nil`: below the issuer.
    /// - `issuer`: what the document names as issuer, where that is not what tokens name.
    case discovery(url: String? = nil, issuer: String? = nil)
    /// A JWK Set at this address.
    case jwkSet(String)
    /// A JSON object at this address, of certificates in PEM by `kid`.
    case certificates(String)
}
