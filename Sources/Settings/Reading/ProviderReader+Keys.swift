internal import IDToken
internal import KeySource

extension ProviderReader {
    /// Reads where the provider's keys come from.
    ///
    /// - Parameter published: where the preset says that they are.
    static func keys(
        _ section: Section, _ published: PublishedKeys, _ policy: ProviderPolicy, _ network: NetworkRules,
        _ usual: PresetDefaults
    ) -> KeyLocation {
        func address(_ name: String) -> String? {
            let schemes = network.allowHTTP ? ["https://", "http://"] : ["https://"]
            let hint = network.allowHTTP ? "" : " (http:// needs network.allow_http)"
            let expected = "a URL that begins with \(schemes.joined(separator: " or "))\(hint)"
            let url = section.scalar(name, expected) { text in
                schemes.contains { text.hasPrefix($0) } ? text : nil
            }
            if let url { check(url, section, name, network) }
            return url
        }
        let discovery = address("discovery_url")
        let jwks = address("jwks_uri")
        let certificates = address("certificates_uri")
        let file = section.text("jwks_file")
        var documentIssuer = section.text("discovery_issuer")
        if [discovery, jwks, certificates].count(where: { $0 != nil }) > 1 {
            section.refuse(nil, "only one of discovery_url, jwks_uri and certificates_uri can say where the keys are")
        }
        // Beside a URL that is written out, the file is what to fall back on; alone, it is where the keys are.
        let elsewhere: KeyLocation?
        var url = discovery
        if let jwks {
            elsewhere = .network(.jwkSet(address: jwks), fallbackFile: file)
        } else if let certificates {
            elsewhere = .network(.certificates(address: certificates), fallbackFile: file)
        } else if let file, discovery == nil {
            elsewhere = .file(path: file)
        } else {
            elsewhere = discovery == nil ? presetLocation(section, published, &url, usual) : nil
            if elsewhere == nil, case .discovery(_, let issuer) = published {
                documentIssuer = documentIssuer ?? issuer
            }
        }
        if let elsewhere {
            if documentIssuer != nil, !isUnsettled(section) {
                section.refuse(
                    "discovery_issuer", "discovery_issuer has no meaning where no discovery document is read")
            }
            return elsewhere
        }
        if let documentIssuer { section.recordUnset("discovery_issuer", documentIssuer, from: usual.preset) }
        if !isUnsettled(section) { checkDiscovery(section, url, documentIssuer, policy, network) }
        return .discovery(
            of: policy, url: url, issuer: documentIssuer, fallbackFile: discovery == nil ? nil : file)
    }

    /// Whether a fault leaves open where the keys are.
    private static func isUnsettled(_ section: Section) -> Bool {
        ["preset", "discovery_url", "jwks_uri", "certificates_uri", "jwks_file", "discovery_issuer", "network"]
            .contains(where: section.isFaulty)
    }

    /// Where the preset says that the keys are; `nil`: where a discovery document says, at `url` if that is set.
    private static func presetLocation(
        _ section: Section, _ published: PublishedKeys, _ url: inout String?, _ usual: PresetDefaults
    ) -> KeyLocation? {
        switch published {
        case .jwkSet(let address):
            section.recordUnset("jwks_uri", address, from: usual.preset)
            return .network(.jwkSet(address: address))
        case .certificates(let address):
            section.recordUnset("certificates_uri", address, from: usual.preset)
            return .network(.certificates(address: address))
        case .discovery(let address, _):
            if let address { section.recordUnset("discovery_url", address, from: usual.preset) }
            url = address
            return nil
        }
    }

    /// Refuses a URL that no fetch could ever use.
    private static func check(_ address: String, _ section: Section, _ name: String, _ network: NetworkRules) {
        do throws(FetchFailure) {
            _ = try FetchURL(address, allowingHTTP: network.allowHTTP)
        } catch {
            section.refuse(name, "\(name) can't be fetched from: \(error.message)")
        }
    }

    /// A discovery document must be to be found, and to be told from another issuer's.
    private static func checkDiscovery(
        _ section: Section, _ address: String?, _ issuer: String?, _ policy: ProviderPolicy, _ network: NetworkRules
    ) {
        let isTemplate = IssuerTemplate(policy.issuer) != nil
        if isTemplate, address == nil || issuer == nil {
            section.refuse(
                "issuer",
                "an issuer that differs by tenant has no discovery document of its own: give discovery_url and the issuer it names in discovery_issuer, or jwks_uri or jwks_file"
            )
        } else if address == nil, !network.allowHTTP, policy.issuer.hasPrefix("http://") {
            section.refuse(
                "issuer",
                "the discovery document of an http issuer is not fetched: use the https one, set network.allow_http for tests, or give discovery_url, jwks_uri or jwks_file"
            )
        } else if address == nil, !policy.issuer.hasPrefix("https://"),
            !(network.allowHTTP && policy.issuer.hasPrefix("http://"))
        {
            section.refuse(
                "issuer",
                "an issuer that is no https URL has no discovery document: give discovery_url, jwks_uri or jwks_file")
        }
        if address == nil, section.source("issuer") != nil, !section.isFaulty("issuer") {
            if policy.issuer.contains("?") {
                section.refuse(
                    "issuer", "an issuer with a query (?) has no discovery document: give discovery_url or jwks_uri")
            } else {
                check(ProviderMetadata.address(forIssuer: policy.issuer), section, "issuer", network)
            }
        }
    }
}

extension Section {
    /// Records what a preset says of a setting that neither the file nor the environment says.
    fileprivate func recordUnset(_ name: String, _ value: String, from preset: EffectiveSettings.Origin) {
        if source(name) == nil { otherwise(name, (), shown: value, from: preset) }
    }
}
