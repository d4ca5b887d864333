private import Bytes
internal import IDToken
internal import OAuth
internal import Verification

/// Reads `forward_auth`, after the providers that its policies name.
enum ForwardAuthReader {
    static let member = Member<Settings>(
        section: "forward_auth", of: timeouts.flatMap(\.descriptions) + [policies],
        "Turns on `/v1/forward-auth/{policy}`, which [gateways](gateways.md) ask whether a request may pass."
    ) { top, settings in
        let section = top.section("forward_auth")
        let isOn = top.mentions("forward_auth") || section.hasAny(of: timeouts)
        for member in timeouts { member.read(section, &settings, nil) }
        if !isOn { section.recordNoDefaults(of: timeouts) }
        let providers = ProvidersByID(settings)
        let read = section.mappings(policies.name, expected: "a mapping with id and providers") { [settings] in
            PolicyReader.read($0, settings, providers)
        }
        if let read {
            checkDiffer(read, section)
            settings.forwardAuth.policies = read
        }
        if isOn, read?.isEmpty != false {
            section.refuseMissing(policies.name, "forward_auth needs policies: a list with at least one policy")
        }
        section.finish()
    }.comparing(\.forwardAuth)

    private static let timeouts: [Member<Settings>] = [
        Setting(
            "keys_timeout", .milliseconds(10...10_000), defaultDescription: "`100ms`",
            "How long a request from a gateway waits for keys before the response is 503."
        ).at(\.forwardAuth.keysTimeoutMilliseconds),
        Setting(
            "timeout", .milliseconds(10...10_000), defaultDescription: "`150ms`",
            "How long a request from a gateway waits in all: for keys, and for the store of DPoP proofs. Gateways must wait longer; the configurations in `deploy/gateways` wait for 1.2 s."
        ).at(\.forwardAuth.timeoutMilliseconds),
        Setting(
            "introspection_timeout", .milliseconds(10...10_000), defaultDescription: "`1000ms`",
            "How long a request from a gateway waits for a provider's answer about an opaque token before the response is 503. Gateways must wait longer: 200 ms more than this, as the configurations in `deploy/gateways` do."
        ).at(\.forwardAuth.introspectionTimeoutMilliseconds),
    ]

    private static let policies = SettingDescription(
        name: "policies", expected: "a list of mappings",
        form: .list(of: .section(PolicyReader.descriptions), isNeverEmpty: true),
        help: "The policies, each for one path.", isRequired: true)

    private static func checkDiffer(_ read: [ForwardAuthPolicy], _ section: Section) {
        var ids: Set<String> = []
        for policy in read where !ids.insert(policy.id).inserted {
            section.refuse(policies.name, "the policy \(policy.id) is listed twice; rename one")
        }
    }
}

/// Reads a policy's `require`.
enum RequirementReader {
    private enum Trust: String, CaseIterable, Sendable {
        case verified, authoritative

        var value: Identity.EmailTrust { self == .verified ? .verified : .authoritative }
    }

    private static let scopes = Setting(
        "scopes",
        listOf: .scope,
        refusesEmpty: "must name at least one scope; remove it to require none",
        "Scopes, all of which the access token must grant.")
    private static let claimValues = SettingDescription(
        name: "claim_values", expected: "a mapping of claims to a value or a list of values",
        form: .mapping(of: .either(.either(.text(), .boolean), .list(of: .either(.text(), .boolean)))),
        help: "Values that claims must have, in addition to the provider's rules: `{ hd: [example.com] }`.")
    private static let emailDomains = Setting(
        "email_domains",
        listOf: .text("a domain such as example.com") { $0.isName(upTo: 253) },
        refusesEmpty: "must name at least one domain; remove it to accept any",
        "The domains that the email address may have; their subdomains are other domains. The address must be verified."
    )
    private static let emailTrust = Setting(
        "email_trust", ValueType<Trust>.word, defaultDescription: "`verified` with `email_domains`, else none",
        "The lowest `email_trust` that is enough.")
    private static let maximumAge = Setting(
        "max_age", .seconds(1...(366 * 86400)),
        "Maximum age of the user's authentication, by `auth_time`, or by `iat` if the token has none.")

    static let description = SettingDescription(
        section: "require",
        [
            scopes.description, claimValues, emailDomains.description, emailTrust.description, maximumAge.description,
        ], "What a token must have, in addition to being valid. Otherwise the response is 403.")

    /// - Parameter providers: those of the policy.
    static func read(_ element: Section, _ providers: [ProviderSettings]) -> Requirements {
        let section = element.section("require")
        var requirements = Requirements()
        requirements.scopes = scopes.read(section) ?? []
        requirements.claimRules = section.namedTexts(claimValues.name).map { name, values in
            if values.isEmpty { section.refuse(claimValues.name, "\(name) must have at least one value") }
            return ClaimRule(ClaimPath(name), .oneOf, values)
        }
        requirements.emailDomains = emailDomains.read(section) ?? []
        requirements.emailTrust = emailTrust.read(section)?.value
        requirements.maximumAgeSeconds = maximumAge.read(section)
        if !requirements.scopes.isEmpty, let provider = providers.first(where: { $0.accessTokens == nil }) {
            section.refuse(
                scopes.name,
                "\(provider.policy.id) verifies ID Tokens, which grant no scopes; remove scopes, or the provider")
        }
        section.finish()
        return requirements
    }
}
