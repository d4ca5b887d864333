internal import IDToken
private import JOSE
private import Keys
internal import OAuth

/// `profile`, and what it demands of an entry's other settings.
extension ProviderReading {
    static let profile = Setting(
        "profile", ValueType<SecurityProfile>.word, defaultDescription: "none",
        "A profile that the entry's clients keep to. `fapi2`: the FAPI 2.0 Security Profile. Requests are pushed, `iss` must be in each response, grants are bound to the client, and signatures are PS256, ES256 or EdDSA; settings that contradict it are refused. See [FAPI 2.0](fapi.md)."
    )

    /// Must come after the issuer, and before everything that the profile changes.
    @Sendable static func readProfile(_ section: Section, _ provider: inout ProviderReading) {
        guard let profile = profile.read(section) else { return }
        func refuse(_ text: String) { section.refuse(Self.profile.name, "profile: \(profile.rawValue) " + text) }
        guard provider.accessTokens == nil, provider.introspection == nil else {
            return refuse("is about sign-ins, but this entry verifies access tokens (tokens); remove profile")
        }
        guard !provider.hasManyIssuers else {
            return refuse(
                "needs clients with a sender_constraint, which an entry with many issuers can't have; remove profile, or give the issuer an entry of its own"
            )
        }
        guard !provider.policy.hasTemplateIssuer else {
            return refuse(
                "needs one issuer, the audience of what clients sign, but this entry's differs by tenant; use preset: oidc with the issuer of one tenant, or remove profile"
            )
        }
        guard !provider.facts.refusesBrowserSignIns else {
            return refuse(
                "is about sign-ins in a browser, which the preset \(provider.preset.name) has none of; remove profile")
        }
        let usual = provider.policy.algorithms
        let allowed = usual?.intersection(profile.algorithms) ?? profile.algorithms
        guard !allowed.isEmpty || section.source(algorithmsName) != nil else {
            return refuse(
                "allows only the algorithms \(SecurityProfile.algorithmNames), but the preset has \((usual?.names ?? []).joined(separator: ", ")); set algorithms to what the provider signs with, or remove profile"
            )
        }
        provider.profile = profile
        provider.policy.algorithms = allowed
    }

    /// Must come after everything that the profile changes.
    @Sendable static func checkProfile(_ section: Section, _ provider: inout ProviderReading) {
        guard let profile = provider.profile else { return }
        let prefix = "but profile: \(profile.rawValue)"
        checkMetadata(section, provider, prefix)
        let others = (provider.policy.algorithms?.elements ?? []).filter { !profile.algorithms.contains($0) }
        if !others.isEmpty {
            let names = others.map(\.rawValue).joined(separator: ", ")
            section.refuse(
                algorithmsName,
                "algorithms has \(names), \(prefix) allows only \(SecurityProfile.algorithmNames); remove \(names)")
        }
        provider.policy.algorithms = provider.policy.algorithms?.intersection(profile.algorithms)
        if section.source(algorithmsName) == nil {
            let names = provider.policy.algorithms?.names ?? []
            section.record(algorithmsName, .list(names), section.origin(of: Self.profile.name))
        }
        if provider.clients.isEmpty {
            guard !section.isFaulty(ClientReader.setting.name) else { return }
            section.refuse(
                Self.profile.name,
                "profile: \(profile.rawValue) says what clients do, but there are none; add clients, or remove profile")
        } else if !provider.usesPKCE {
            let preset = section.source(pkce.name) == nil ? " (preset \(provider.preset.name))" : ""
            section.refuse(pkce.name, "pkce is off\(preset), \(prefix) demands PKCE; set pkce: on, or remove profile")
        }
    }
}

extension ProviderReading {
    /// What is known of the provider must come from its discovery document, over TLS.
    ///
    /// - Source: FAPI 2.0 Security Profile, sections 5.2.1 and 5.3.3.1.
    private static func checkMetadata(_ section: Section, _ provider: ProviderReading, _ prefix: String) {
        let issuer = provider.policy.issuer
        let isOnThisMachine = issuer.hasPrefix("http://") && !issuer.isUnencryptedAddress
        section.section(networkName).refuse(
            allowHTTP.name, if: provider.network.allowHTTP && !isOnThisMachine,
            "allow_http is on, \(prefix) demands TLS; remove it (for tests, it is allowed with an issuer on localhost, 127.0.0.1 or [::1])"
        )
        let demand =
            "\(prefix) takes endpoints and keys from the discovery document alone; remove it, or remove profile"
        let locations = [jwksURI, certificatesURI, publicKeyURI, jwksFile].map(\.name)
        section.refuse(locations, "says where the keys are, \(demand)")
        section.refuse(
            profile.name, if: locations.allSatisfy({ section.source($0) == nil }) && !provider.keys.readsDiscovery,
            "the preset \(provider.preset.name) names keys, \(prefix) takes endpoints and keys from the discovery document alone; use preset: oidc with the issuer, or remove profile"
        )
        section.section(endpoints.name).refuse(endpointNames, "names an endpoint, \(demand)")
    }
}

extension ProviderReading {
    /// The audience of assertions, if a client sets none.
    var usualAudience: AssertionAudience { profile == nil ? facts.assertionAudience : .issuer }
}

/// What a profile demands of a client.
enum ProfileReader {
    /// Sets the defaults that the profile changes, and refuses what contradicts it.
    static func apply(
        _ profile: SecurityProfile, to settings: inout ClientSettings, _ element: Section, _ provider: ProviderReading
    ) {
        let (id, name) = (settings.client.id, profile.rawValue)
        func refuse(_ setting: String, _ found: String, _ demanded: String, _ remedy: String) {
            element.refuse(
                setting,
                "the client \(id) has \(found), but profile: \(name) demands \(demanded); \(remedy), or remove profile")
        }
        settings.client.profile = profile
        switch settings.authentication {
        case .certificate, .signingKey: break
        case .privateKeyJWT(_, _, _, let audience):
            if audience != provider.policy.issuer {
                refuse(
                    ClientReader.assertionAudience.name, "assertion_audience: token_endpoint",
                    "the issuer as the audience of assertions", "remove assertion_audience")
            }
        case .secret, .apple, .none:
            refuse(
                ClientReader.authName, "auth: \(element.scalarText(ClientReader.authName) ?? "")",
                "private_key_jwt or tls_client_auth", "set one of them")
        }
        let form = settings.client.requestForm ?? .pushed
        settings.client.requestForm = form
        if !form.isPushed {
            refuse(
                ClientReader.request.name, "request: \(form.rawValue)", "requests that are pushed",
                "set pushed or signed_pushed")
        }
        if settings.client.responseType != .code {
            refuse(
                ClientReader.responseType.name, "response_type: \(settings.client.responseType.rawValue)", "code",
                "remove response_type")
        }
        if settings.client.senderConstraint == nil {
            refuse(
                ClientReader.senderConstraint.name, "no sender_constraint", "grants that are bound to the client",
                settings.client.hasCertificate
                    ? "set sender_constraint: certificate or dpop" : "set sender_constraint: dpop")
        }
        if let uri = settings.client.redirectURIs.first(where: \.isUnencryptedAddress) {
            refuse(
                ClientReader.redirectURIs.name, "the redirect URI \(uri)",
                "responses that nobody on the network can read",
                "use https")
        }
    }
}
