internal import IDToken
internal import JOSE
internal import Keys
internal import Verification

/// The location of a provider's keys.
extension ProviderReading {
    static let discoveryURL = Setting(
        "discovery_url", urlType(NetworkRules()), defaultDescription: "the preset's, else below the issuer",
        "The URL of the discovery document.")
    static let discovery = Setting(
        "discovery", ValueType<DiscoveryDocument>.word, defaultDescription: "whichever the server has",
        "The document with the location of the keys and endpoints: OpenID Connect Discovery (`openid`), or the metadata of an OAuth authorization server (`oauth`, RFC 8414). Only with `tokens: access` or `opaque`."
    )
    static let discoveryIssuer = Setting(
        "discovery_issuer", .text, defaultDescription: "the preset's, else the issuer",
        "The issuer in the discovery document, if it differs from the issuer in tokens.")
    static let jwksURI = Setting(
        "jwks_uri", urlType(NetworkRules()), defaultDescription: "the preset's, else as discovered",
        "The URL of the JWK Set. No discovery document is then fetched.")
    static let certificatesURI = Setting(
        "certificates_uri", urlType(NetworkRules()), defaultDescription: "the preset's",
        "The URL of the keys as PEM certificates by `kid`, instead of a JWK Set.")
    static let publicKeyURI = Setting(
        "public_key_uri", urlType(NetworkRules()), defaultDescription: "the preset's",
        "The URL of a public key in PEM, with `{kid}` in place of the key's ID. Each key is fetched when a token first names it. Only for preset `aws-alb`."
    )
    static let jwksFile = Setting(
        "jwks_file", .file(.keySet),
        "A file with a JWK Set, watched for changes. If `jwks_uri`, `certificates_uri` or `discovery_url` is set explicitly, the file is used while no keys from that URL are available. Otherwise it is the only source of keys, whatever the preset."
    )

    static func urlType(_ network: NetworkRules) -> ValueType<String> {
        let schemes = network.allowHTTP ? ["https://", "http://"] : ["https://"]
        let hint = network.allowHTTP ? "" : " (http:// needs network.allow_http)"
        return .text(
            "a URL that begins with \(schemes.joined(separator: " or "))\(hint)", pattern: "^https?://"
        ) { text in
            schemes.contains { text.hasPrefix($0) }
        }
    }

    /// Reads the location of the keys. Must come after the settings for network access.
    @Sendable static func readKeys(_ section: Section, _ provider: inout ProviderReading) {
        guard !provider.hasManyIssuers else { return }
        let network = provider.network
        func address(_ setting: Setting<String>) -> String? {
            let url = section.scalar(setting.name, urlType(network))
            if let url { check(url, section, setting.name, network) }
            return url
        }
        var url = address(discoveryURL)
        let jwks = address(jwksURI)
        let certificates = address(certificatesURI)
        let publicKeys = address(publicKeyURI)
        let file = jwksFile.read(section)
        let kind = readDiscoveryKind(
            section, provider, isLocated: [url, jwks, certificates, publicKeys, file].contains { $0 != nil })
        var documentIssuer = discoveryIssuer.read(section)
        if [url, jwks, certificates, publicKeys].count(where: { $0 != nil }) > 1 {
            section.refuse(nil, "set only one of discovery_url, jwks_uri, certificates_uri and public_key_uri")
        }
        if let publicKeys { checkPublicKeys(publicKeys, hasFile: file != nil, section, provider) }
        // With an explicit URL, the file is the fallback. Otherwise, it is the source of the keys.
        let fallback = url == nil ? nil : file
        var location: KeyLocation?
        if let jwks {
            location = .network(.jwkSet(address: jwks), fallbackFile: file)
        } else if let certificates {
            location = .network(.certificates(address: certificates), fallbackFile: file)
        } else if let publicKeys {
            location = .network(.publicKeys(address: publicKeys))
        } else if let file, url == nil {
            location = .file(path: file)
        } else if url == nil {
            switch provider.facts.keys {
            case .jwkSet(let address):
                section.recordPreset(jwksURI, address)
                location = .network(.jwkSet(address: address))
            case .certificates(let address):
                section.recordPreset(certificatesURI, address)
                location = .network(.certificates(address: address))
            case .publicKeys(let address):
                if let address {
                    section.recordPreset(publicKeyURI, address)
                } else {
                    section.refuseMissing(
                        publicKeyURI.name,
                        "provider \(provider.policy.id) needs public_key_uri: the address of public keys in the signer's partition is not known"
                    )
                }
                location = .network(.publicKeys(address: address ?? ""))
            case .discovery(let address, _):
                if let address { section.recordPreset(discoveryURL, address) }
                url = address
            }
        }
        if location != nil {
            section.refuse(
                "discovery_issuer", if: documentIssuer != nil && !isUnsettled(section),
                "discovery_issuer has no effect without a discovery document; remove it")
        } else {
            if documentIssuer == nil, case .discovery(_, let issuer?) = provider.facts.keys {
                documentIssuer = issuer
                section.recordPreset(discoveryIssuer, issuer)
            }
            if !isUnsettled(section) { checkDiscovery(section, url, documentIssuer, provider) }
        }
        provider.keys =
            location
            ?? .discovery(
                of: provider.policy, url: url, kind, issuer: documentIssuer, fallbackFile: fallback,
                isOfAccessTokens: provider.accessTokens != nil)
    }

    /// - Parameter isLocated: whether another setting says where the keys are.
    static func readDiscoveryKind(
        _ section: Section, _ provider: ProviderReading, isLocated: Bool
    ) -> DiscoveryDocument? {
        guard let kind = discovery.read(section) else { return nil }
        let isBelowIssuer = if case .discovery(nil, _) = provider.facts.keys { true } else { false }
        if provider.accessTokens == nil {
            section.refuse(
                discovery.name,
                "discovery needs tokens: access or opaque, because ID Tokens come from OpenID Providers, which have openid; remove it"
            )
        } else if isLocated || !isBelowIssuer {
            section.refuse(
                discovery.name,
                "discovery has no effect, because another setting or the preset locates the keys; remove it")
        }
        return kind
    }

    /// Whether an error leaves the location of the keys unknown.
    private static func isUnsettled(_ section: Section) -> Bool {
        [
            "preset", "discovery_url", "jwks_uri", "certificates_uri", "public_key_uri", "jwks_file",
            "discovery_issuer", "network",
        ]
        .contains(where: section.isFaulty)
    }

    /// Rejects URLs that a fetch would always refuse.
    static func check(_ address: String, _ section: Section, _ name: String, _ network: NetworkRules) {
        do throws(FetchFailure) {
            _ = try FetchURL(address, allowingHTTP: network.allowHTTP)
        } catch {
            section.refuse(name, "\(name) is not a URL that keys can be fetched from: \(error.message)")
        }
    }

    /// Checks that public keys can be fetched one by one, at their own URLs.
    private static func checkPublicKeys(
        _ address: String, hasFile: Bool, _ section: Section, _ provider: ProviderReading
    ) {
        let name = publicKeyURI.name
        if case .publicKeys = provider.facts.keys {
            if address.split(separator: KeyLocation.Network.keyIDPlaceholder, omittingEmptySubsequences: false).count
                != 2
            {
                section.refuse(name, "public_key_uri must contain {kid} once, in place of the key's ID")
            }
            if hasFile { section.refuse("jwks_file", "set public_key_uri or jwks_file, not both") }
        } else {
            section.refuse(
                name, "public_key_uri is only for preset aws-alb, whose kids are UUIDs; set jwks_uri instead")
        }
    }

    /// Checks that a discovery document can be located, and that its issuer can be verified.
    private static func checkDiscovery(
        _ section: Section, _ address: String?, _ issuer: String?, _ provider: ProviderReading
    ) {
        let (policy, network) = (provider.policy, provider.network)
        let isTemplate = IssuerTemplate(policy.issuer) != nil
        // Only the first of these is reported.
        section.refuse(
            "issuer", if: isTemplate && (address == nil || issuer == nil),
            "an issuer with a claim in braces has no discovery document of its own: set discovery_url, and discovery_issuer to the issuer in that document; or set jwks_uri or jwks_file"
        )
        guard address == nil else { return }
        let isHTTP = policy.issuer.hasPrefix("http://")
        section.refuse(
            "issuer", if: isHTTP && !network.allowHTTP,
            "discovery does not use http: write the issuer with https, set network.allow_http for tests, or set discovery_url, jwks_uri or jwks_file"
        )
        let url = policy.issuer.contains("://") ? nil : "https://\(policy.issuer)"
        let correction = url.map { "write \($0) if that is iss in its tokens; otherwise, " } ?? ""
        section.refuse(
            "issuer", if: !isHTTP && !policy.issuer.hasPrefix("https://"),
            "an issuer that is not an https URL has no discovery document: \(correction)set discovery_url, jwks_uri or jwks_file"
        )
        if section.source("issuer") != nil, !section.isFaulty("issuer") {
            if policy.issuer.contains("?") {
                section.refuse(
                    "issuer", "an issuer with a query (?) has no discovery document: set discovery_url or jwks_uri")
            } else {
                check(ProviderMetadata.address(forIssuer: policy.issuer), section, "issuer", network)
            }
        }
    }
}

/// Encrypted tokens.
extension ProviderReading {
    private static let encryptionKeys = Setting(
        "keys", listOf: .text, refusesEmpty: "must name at least one", defaultDescription: "all with `use: encryption`",
        "The keys of `client_keys` that open this provider's tokens.")
    private static let encryptionAlgorithms = Setting(
        "algorithms", listOf: ValueType<KeyManagementAlgorithm>.word, refusesEmpty: "must name at least one",
        defaultDescription: "all", "The values of `alg` to accept in encrypted tokens.")
    private static let encryptionContent = Setting(
        "content", listOf: ValueType<ContentAlgorithm>.word, refusesEmpty: "must name at least one",
        defaultDescription: "all", "The values of `enc` to accept in encrypted tokens.")
    private static let encryptionRequired = Setting(
        "required", listOf: ValueType<EncryptionRules.Kind>.word, defaultDescription: "none",
        "What this provider must encrypt: a plain one is `encryption_required`. Gateways open no encrypted tokens, so they accept none of a provider that must encrypt ID Tokens."
    )

    static let encryption = SettingDescription(
        section: "encryption",
        [
            encryptionKeys.description, encryptionAlgorithms.description, encryptionContent.description,
            encryptionRequired.description,
        ],
        "Opens tokens that the provider encrypts to a key of `client_keys`. `encryption: {}` is enough. See [Encrypted tokens](encrypted-tokens.md)."
    )

    @Sendable static func readEncryption(_ section: Section, _ provider: inout ProviderReading) {
        let own = section.section(encryption.name)
        var rules = EncryptionRules()
        rules.keys = encryptionKeys.read(own)
        rules.algorithms = encryptionAlgorithms.read(own) ?? rules.algorithms
        rules.content = encryptionContent.read(own) ?? rules.content
        rules.required = Set(encryptionRequired.read(own) ?? [])
        own.finish()
        guard section.mentions(encryption.name) || rules != EncryptionRules() else { return }
        guard provider.accessTokens == nil else {
            section.refuse(
                encryption.name, "encryption is for ID Tokens, but this entry verifies access tokens; remove it")
            return
        }
        provider.encryption = rules
    }
}
