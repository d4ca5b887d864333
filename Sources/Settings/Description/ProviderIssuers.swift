internal import HTTP
internal import IDToken
internal import Keys
internal import Verification

/// Entries with many issuers: a list, in the settings or in a file of its own, or any that a request names.
extension ProviderReading {
    static let issuers = Setting(
        "issuers", listOf: .text, orWord: anyIssuer, defaultDescription: "the entry has one `issuer`",
        "Several issuers with the same rules, instead of `issuer`; or `any`: each request names its own, as `connection`, `issuer` and `audience`. Their keys are fetched when requests need them."
    )
    static let issuersFile = Setting(
        "issuers_file", .file(.issuers), defaultDescription: "the entry has one `issuer`",
        "A file with several issuers, instead of `issuer`, watched for changes. Each line: `issuer audience [audience …] [@domain …]`; `-` as the only audience stands for `audiences`, and `@example.com` is a domain about whose addresses the issuer may be believed. `#` begins a remark."
    )
    static let maximumIssuers = Setting(
        "max_issuers", .integer(1...1_000_000), defaultDescription: "`10000`; `1000` for `issuers: any`",
        "The most issuers of this entry whose keys are kept. Beyond it, the one used longest ago loses them, and they are fetched again when needed."
    )
    private static let anyIssuer = "any"

    /// The settings that an entry with many issuers can't have: they are about one.
    private static let ofOneIssuer = [
        "issuer", "issuer_aliases", "tenants", "excluded_tenants", "key_issuers", "discovery_url", "discovery_issuer",
        "jwks_uri", "certificates_uri", "public_key_uri", "jwks_file",
    ]

    /// Whether a section is about an entry with many issuers.
    static func hasMany(_ section: Section) -> Bool {
        section.mentions(issuers.name) || section.source(issuers.name) != nil || section.source(issuersFile.name) != nil
    }

    /// Reads the issuers of an entry with many. Must come after the settings for network access and audiences.
    @Sendable static func readIssuers(_ section: Section, _ provider: inout ProviderReading) {
        guard provider.hasManyIssuers else {
            for name in [issuers.name, issuersFile.name] { section.record(name, nil, .default) }
            if maximumIssuers.read(section) != nil {
                section.refuse(
                    maximumIssuers.name, "max_issuers is only for entries with issuers or issuers_file; remove it")
            }
            return
        }
        for name in ofOneIssuer where section.source(name) != nil {
            section.refuse(name, "\(name) is about one issuer; remove it, or issuers and issuers_file")
        }
        provider.network.isOfManyIssuers = true
        // More than any provider is known to have, and little enough for thousands of issuers.
        provider.network.maximumBody = 256 * 1024
        provider.network.maximumKeys = 100
        provider.keys = .issuers(
            DiscoveryRules(
                readDiscoveryKind(section, provider, isLocated: false),
                isOfAccessTokens: provider.accessTokens != nil, namesAlgorithms: provider.policy.algorithms != nil))
        if section.isWord(anyIssuer, issuers.name) {
            readAnyIssuer(section, &provider)
        } else {
            readList(section, &provider)
        }
        let usual = provider.issuers?.isOpen == true ? 1000 : 10_000
        provider.maximumIssuers = maximumIssuers.read(section) ?? usual
        if section.source(maximumIssuers.name) == nil {
            section.record(maximumIssuers.name, maximumIssuers.shown(usual), .default)
        }
    }

    private static func readAnyIssuer(_ section: Section, _ provider: inout ProviderReading) {
        provider.network.requiresDefaultPort = true
        provider.network.maximumRedirects = 0
        if section.source(issuersFile.name) != nil {
            section.refuse(issuersFile.name, "set issuers: any or issuers_file, not both")
        }
        if section.source("audiences") != nil {
            section.refuse(
                "audiences",
                "audiences has no effect with issuers: any, where each request names its audience; remove it")
        }
        if provider.accessTokens != nil {
            section.refuse(
                "tokens",
                "an entry with issuers: any verifies ID Tokens only: whoever may choose the issuer chooses who they are; remove tokens, or list the issuers"
            )
        }
        // The other entries are not known yet.
        provider.issuers = .any(OpenIssuerRules(network: provider.network, others: [], listed: []))
    }

    private static func readList(_ section: Section, _ provider: inout ProviderReading) {
        let listed = issuers.read(section)
        let file = issuersFile.read(section)
        if section.source(issuers.name, keepsNull: true) != nil, section.source(issuersFile.name) != nil {
            section.refuse(issuersFile.name, "set issuers or issuers_file, not both")
        }
        var list = IssuerList([])
        if let listed {
            list = Self.list(of: listed, section, provider.network)
        } else if let file {
            if let read = Self.list(inFile: file, section, provider.network) {
                (list, provider.issuersFile) = read
            }
        }
        provider.issuers = .listed(list)
        if provider.policy.audiences.isEmpty, provider.policy.authorizedParties.isEmpty, list.usesEntryAudiences,
            !section.isFaulty("audiences")
        {
            section.refuseMissing(
                "audiences",
                "provider \(provider.policy.id) needs audiences: your client IDs at the issuers whose own are not listed"
            )
        }
        if section.mentions("clients") {
            section.refuse(
                "clients", "an entry with a list of issuers has no clients; remove them, or add an entry for the issuer"
            )
        }
    }

    private static func list(of issuers: [String], _ section: Section, _ network: NetworkRules) -> IssuerList {
        var seen: Set<[UInt8]> = []
        for issuer in issuers {
            if let refusal = network.refusal(ofIssuer: issuer) {
                section.refuse(Self.issuers.name, "issuers: \(ErrorValueText.of(issuer)): \(refusal)")
            }
            if !seen.insert(Array(issuer.utf8)).inserted {
                section.refuse(Self.issuers.name, "issuers: \(ErrorValueText.of(issuer)) is listed twice; remove one")
            }
        }
        return IssuerList(
            issuers.enumerated().map { ($1, IssuerList.Line(number: $0 + 1, audiences: nil, domains: [])) })
    }

    /// In bytes.
    static let maximumListSize = 32 * 1024 * 1024

    /// - Returns: `nil` if an error was reported.
    private static func list(
        inFile path: String, _ section: Section, _ network: NetworkRules
    ) -> (IssuerList, IssuersFile)? {
        do throws(SmallFile.Failure) {
            let file = try SmallFile(path: path, maximumSize: maximumListSize, followingLinks: true)
            do throws(IssuerList.Fault) {
                let list = try IssuerList(reading: file.bytes, refusing: network.refusal(ofIssuer:))
                return (list, IssuersFile(path: path, version: file.version))
            } catch {
                section.refuse(issuersFile.name, "issuers_file: \(path): line \(error.line): \(error.reason)")
            }
        } catch {
            section.refuse(issuersFile.name, "issuers_file: \(path): \(error.text(maximumSize: maximumListSize))")
        }
        return nil
    }
}
