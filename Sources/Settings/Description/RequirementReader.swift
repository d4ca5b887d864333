internal import Gateway
internal import Grants
internal import IDToken

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
