internal import IDToken
internal import KeySource

extension ProviderReader {
    /// Reads where the provider's keys come from.
    ///
    /// - Parameter published: where the preset says that they are.
    static func keys(
        _ section: Section, _ published: PublishedKeys, _ policy: ProviderPolicy, _ network: NetworkRules
    ) throws(SettingsError) -> ProviderSettings.KeyPlace {
        func url(_ name: String) throws(SettingsError) -> String? {
            let schemes = network.allowHTTP ? ["https://", "http://"] : ["https://"]
            return try section.scalar(name, "a URL that begins with \(schemes.joined(separator: " or "))") { text in
                schemes.contains { text.hasPrefix($0) } ? text : nil
            }
        }
        let discovery = try url("discovery_url")
        let jwks = try url("jwks_uri")
        let certificates = try url("certificates_uri")
        let file = try section.text("jwks_file")
        var documentIssuer = try section.text("discovery_issuer")
        guard [discovery, jwks, certificates].count(where: { $0 != nil }) <= 1 else {
            throw section.error(
                nil, "only one of discovery_url, jwks_uri and certificates_uri can say where the keys are")
        }
        let place: ProviderSettings.KeyPlace
        // Beside a URL that is written out, the file is what to fall back on; alone, it is where the keys are.
        if let jwks {
            place = .jwksURI(jwks, fallbackFile: file)
        } else if let certificates {
            place = .certificates(certificates, fallbackFile: file)
        } else if let discovery {
            if case .discovery(_, let issuer) = published { documentIssuer = documentIssuer ?? issuer }
            place = .discovery(url: discovery, issuer: documentIssuer, fallbackFile: file)
        } else if let file {
            place = .file(file)
        } else {
            switch published {
            case .jwkSet(let address): place = .jwksURI(address)
            case .certificates(let address): place = .certificates(address)
            case .discovery(let url, let issuer):
                documentIssuer = documentIssuer ?? issuer
                place = .discovery(url: url, issuer: documentIssuer)
            }
        }
        guard case .discovery(let address, let issuer, _) = place else {
            guard documentIssuer == nil else {
                throw section.error(
                    "discovery_issuer", "discovery_issuer has no meaning where no discovery document is read")
            }
            return place
        }
        try checkDiscovery(section, address, issuer, policy, network)
        return place
    }

    /// A discovery document must be to be found, and to be told from another issuer's.
    private static func checkDiscovery(
        _ section: Section, _ address: String?, _ issuer: String?, _ policy: ProviderPolicy, _ network: NetworkRules
    ) throws(SettingsError) {
        let isTemplate = IssuerTemplate(policy.issuer) != nil
        guard !isTemplate || (address != nil && issuer != nil) else {
            throw section.error(
                "issuer",
                "an issuer that differs by tenant has no discovery document of its own: give discovery_url and the issuer it names in discovery_issuer, or jwks_uri or jwks_file"
            )
        }
        guard
            address != nil || policy.issuer.hasPrefix("https://")
                || (network.allowHTTP && policy.issuer.hasPrefix("http://"))
        else {
            throw section.error(
                "issuer",
                "an issuer that is no https URL has no discovery document: give discovery_url, jwks_uri or jwks_file")
        }
    }
}
