private import Bytes

/// What is known about a provider before any settings are read: facts that one would otherwise copy from its manual.
///
/// To add a provider, add its preset to a file of `Providers/`, and to that file's list; the verifier does not change.
public struct ProviderPreset: Sendable {
    public let name: String
    /// A one-line description.
    public let summary: String
    /// The values that a relying party must provide.
    public let parameters: [PresetParameter]
    /// What is wrong with an audience that people are known to write, and that no token has; `nil`: nothing is known.
    public let adviceOnAudience: @Sendable (String) -> String?
    /// The provider's facts for some arguments.
    public let facts: @Sendable (PresetArguments) -> ProviderFacts

    init(
        name: String, summary: String, parameters: [PresetParameter] = [],
        adviceOnAudience: @escaping @Sendable (String) -> String? = { _ in nil },
        facts: @escaping @Sendable (PresetArguments) -> ProviderFacts
    ) {
        self.name = name
        self.summary = summary
        self.parameters = parameters
        self.adviceOnAudience = adviceOnAudience
        self.facts = facts
    }

    /// A provider with the same issuer for everyone.
    init(
        name: String, summary: String, issuer: String,
        adviceOnAudience: @escaping @Sendable (String) -> String? = { _ in nil },
        adjust: @escaping @Sendable (inout ProviderFacts) -> Void
    ) {
        self.init(name: name, summary: summary, adviceOnAudience: adviceOnAudience) { _ in
            var facts = ProviderFacts(issuer: issuer)
            adjust(&facts)
            return facts
        }
    }

    /// Every preset, in alphabetical order.
    public static let all: [ProviderPreset] = [
        [apple], gateways, identityPlatforms, ofGoogle, ofMicrosoft, selfHostedProviders, socialAndNational, workloads,
    ].joined().sorted { $0.name < $1.name }

    /// The issuer of a preset without parameters that differs from `issuer` only by a slash at the end; `nil`: there is
    /// none. Issuers compare byte for byte, so no token has `issuer`.
    public static func issuer(besides issuer: String) -> String? {
        let issuers = all.filter(\.parameters.isEmpty).map { $0.facts([:]).policy.issuer }
        return issuers.first { $0 + "/" == issuer || $0 == issuer + "/" }
    }

    /// The policies of all presets; the issuer of one with parameters that are part of it is no issuer.
    package static let allPolicies = all.map { $0.facts([:]).policy }

    /// The preset of this name; `nil` if there is none.
    public static func named(_ name: String) -> ProviderPreset? { all.first { $0.name == name } }

    /// The policy of a relying party that adds its client IDs and changes nothing else.
    ///
    /// - Parameters:
    ///   - id: the relying party's own name for the provider.
    ///   - issuer: if given, replaces the preset's issuer.
    ///   - audiences: the relying party's client IDs.
    ///   - arguments: values for the preset's ``parameters``. If one is missing, the policy rejects every token.
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

/// A provider according to a preset: what its tokens contain, and where it publishes its keys.
public struct ProviderFacts: Sendable, Equatable {
    /// Its ``ProviderPolicy/id`` is empty, and so are its audiences unless they are known.
    public var policy: ProviderPolicy
    public var keys = PublishedKeys.discovery()
    /// Spellings of the issuer that only its notifications have.
    public internal(set) var notificationIssuers: [String] = []
    /// Whether its logout tokens lack the `exp` that Back-Channel Logout requires.
    public internal(set) var logoutTokensLackExpiration = false
    /// What the relying party must restrict; `nil` if checking the audience is enough.
    public private(set) var callers: CallerRestriction?

    public var endpoints = ProviderEndpoints()
    public var quirks: Set<ProviderQuirk> = []
    public var assertionAudience = AssertionAudience.issuer
    /// Whether the token endpoint accepts a PKCE verifier.
    public var usesPKCE = true
    /// Whether the ID Tokens of sign-ins in a browser can't be verified, or there are no such sign-ins.
    public var refusesBrowserSignIns = false
    /// Whether the provider's access tokens can be verified, and by which rules.
    public var accessTokens = AccessTokenSupport.opaque

    init(issuer: String) {
        policy = ProviderPolicy(id: "", issuer: issuer, audiences: [])
        // The presets of known providers recognize access tokens by their claims and audiences.
        policy.refusesAccessTokens = false
    }
}

/// For a provider that issues tokens to anyone, for any audience: how the relying party restricts who may call.
public struct CallerRestriction: Sendable, Equatable {
    /// Whose tokens would be accepted without a rule. Completes the sentence "the tokens of …".
    public let everyone: String
    /// Claims that can identify the relying party's own callers. A rule on one of them is enough.
    public let claims: [ClaimPath]
}

extension ProviderFacts {
    /// Requires a rule on one of the given claims. Until the settings have one, no token passes: the first claim must
    /// equal a placeholder that no token contains.
    mutating func requireClaimRule(on claims: String..., against everyone: String) {
        callers = CallerRestriction(everyone: everyone, claims: claims.map(ClaimPath.init))
        policy.claimRules.append(ClaimRule(ClaimPath(claims[0]), .oneOf, ["<\(claims[0])>"]))
    }

    /// The policy's rules, without the placeholder for the required one.
    public var ownClaimRules: [ClaimRule] {
        guard let demanded = callers?.claims.first else { return policy.claimRules }
        return policy.claimRules.filter { $0.claim != demanded }
    }
}

/// Where a provider publishes its keys.
public enum PublishedKeys: Sendable, Equatable {
    /// Where its discovery document says.
    ///
    /// - `url`: the address of the document; `nil`: below the issuer.
    /// - `issuer`: the document's issuer, if it differs from the tokens'.
    case discovery(url: String? = nil, issuer: String? = nil)
    /// A JWK Set at this address.
    case jwkSet(String)
    /// A JSON object at this address that maps each `kid` to a certificate in PEM.
    case certificates(String)
    /// One public key in PEM for each `kid`, at this address with `{kid}` replaced; `nil`: the settings must say where.
    case publicKeys(String?)
}

/// A value that a preset needs from the relying party.
public struct PresetParameter: Sendable {
    /// The name in the settings.
    public let name: String
    /// A description that completes the sentence "must be …".
    public let meaning: String
    /// Stands in for a value that is not known.
    public let placeholder: String
    public let isOptional: Bool
    /// What is wrong with a value that people are known to write; `nil`: nothing is known.
    public let advice: @Sendable (String) -> String?
    private let isWellFormed: @Sendable (String) -> Bool

    init(
        _ name: String, _ meaning: String, placeholder: String? = nil, isOptional: Bool = false,
        advice: @escaping @Sendable (String) -> String? = { _ in nil },
        isWellFormed: @escaping @Sendable (String) -> Bool
    ) {
        self.name = name
        self.meaning = meaning
        self.placeholder = placeholder ?? "<\(name)>"
        self.isOptional = isOptional
        self.advice = advice
        self.isWellFormed = isWellFormed
    }

    /// Whether a value has the right form.
    public func accepts(_ argument: String) -> Bool { isWellFormed(argument) }

    /// The issuer itself, for self-hosted software.
    ///
    /// - Parameter form: the form of such an issuer.
    static func issuer(_ form: String) -> PresetParameter {
        PresetParameter("issuer", "the issuer exactly as in its tokens, such as \(form)", placeholder: form) {
            !$0.isEmpty
        }
    }

    static func host(_ meaning: String, placeholder: String? = nil) -> PresetParameter {
        PresetParameter("domain", meaning, placeholder: placeholder, advice: adviceOnHost, isWellFormed: isHost)
    }

    /// A name that consists of letters, digits, hyphens and underscores.
    static func word(
        _ name: String, _ meaning: String, placeholder: String? = nil, isOptional: Bool = false
    ) -> PresetParameter {
        PresetParameter(name, meaning, placeholder: placeholder, isOptional: isOptional, isWellFormed: isWord)
    }

    static func isWord(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    }

    /// For a URL in a host's place.
    @Sendable private static func adviceOnHost(_ text: String) -> String? {
        guard let scheme = text.firstRange(of: "://") else { return nil }
        let host = String(text[scheme.upperBound...].prefix { $0 != "/" })
        return isHost(host) ? "write \(host)" : nil
    }

    /// A host name with at least two labels and an optional port.
    @Sendable static func isHost(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard let name = parts.first, parts.count <= 2, parts.dropFirst().allSatisfy({ UInt16($0) != nil }) else {
            return false
        }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        return labels.count >= 2
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count)
                    && label.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
            }
    }
}

/// A relying party's values for a preset's parameters.
public struct PresetArguments: Sendable, ExpressibleByDictionaryLiteral {
    private var values: [String: String] = [:]

    public init() {}

    public init(dictionaryLiteral elements: (String, String)...) {
        values = Dictionary(elements, uniquingKeysWith: { $1 })
    }

    /// The value given for a parameter.
    public subscript(name: String) -> String? {
        get { values[name] }
        set { values[name] = newValue }
    }

    /// The value given for a parameter, or its placeholder.
    subscript(parameter: PresetParameter) -> String { values[parameter.name] ?? parameter.placeholder }
}

/// A provider's endpoints for codes and tokens; `nil` for those that its discovery document names.
public struct ProviderEndpoints: Sendable, Equatable {
    public var authorization: String?
    public var token: String?
    public var revocation: String?
    public var userInfo: String?
    /// For authorization requests that are sent before the browser (RFC 9126).
    public var pushedRequest: String?

    public init(
        authorization: String? = nil, token: String? = nil, revocation: String? = nil, userInfo: String? = nil,
        pushedRequest: String? = nil
    ) {
        self.authorization = authorization
        self.userInfo = userInfo
        self.token = token
        self.revocation = revocation
        self.pushedRequest = pushedRequest
    }
}

/// A deviation of a provider's endpoints from the protocol.
public enum ProviderQuirk: String, Sendable, CaseIterable {
    /// It responds `invalid_request` if a refresh token was revoked.
    case revokedIsInvalidRequest = "revoked_is_invalid_request"
    /// A refresh token stays valid after it was used.
    case refreshTokensStay = "refresh_tokens_stay"
    /// It does not know the scope `openid`, and sends ID Tokens without it.
    case noOpenIDScope = "no_openid_scope"
    /// If scopes are requested, it sends its response only as a form POST.
    case formPostForScopes = "form_post_for_scopes"
    /// Its token endpoint returns the granted scopes as a list of strings, not as one string.
    case scopeIsList = "scope_is_list"
    /// Its token endpoint returns no `token_type`.
    case noTokenType = "no_token_type"
}

/// The audience of the assertions by which clients authenticate (`private_key_jwt`).
public enum AssertionAudience: String, Sendable, CaseIterable {
    case issuer
    case tokenEndpoint = "token_endpoint"
}
