internal import IDToken
internal import OAuth

/// Reads `clients` of a provider with `issuers: any`, whose requests name their client.
enum NamedClientReader {
    /// The values of `from`.
    private enum Origin: String, CaseIterable, Sendable {
        case request
    }

    private static let from = Setting(
        "from", ValueType<Origin>.word, isRequired: true,
        "Only with `issuers: any`: `request`, because each request names its client: the `audience` is its ID, and `client` says how it authenticates."
    )
    private static let auth = Setting(
        "auth", listOf: ValueType<RequestAuthentication.Method>.word,
        "The ways to authenticate that a request may name in `client.auth`.")
    private static let redirectURIs = Setting(
        "redirect_uris", listOf: ClientReader.redirectURI,
        "The redirect URIs of every connection, with `{connection}` in the path or the query. Each connection needs its own: otherwise an attacker's provider could receive the codes of another."
    )
    private static let postLogoutRedirectURIs = Setting(
        "post_logout_redirect_uris", listOf: ClientReader.redirectURI,
        "Where the providers may send the browser after the user has signed out there. `{connection}` in one stands for the connection's ID."
    )
    private static let keyID = Setting("key_id", .text, "The ID of the key at the customers' providers.")
    private static let keyFile = Setting(
        "key_file", .file(.privateKey),
        "A file with the private key (PEM, PKCS#8) for `private_key_jwt`, one for all connections. Re-read when it changes."
    )
    private static let request = Setting(
        ClientReader.request.name, ValueType<AuthorizationRequestForm>.word,
        defaultDescription: "what each provider's discovery document requires, else `plain`",
        "How authorization requests reach the providers. `plain`: as parameters of the URL. `pushed`: sent to the provider by Assay, so that the URL has only a reference (RFC 9126). `signed`: in the URL, as a JWT signed by `key_file` or the first key of `client_keys` (RFC 9101). `signed_pushed`: both. See [Pushed and signed requests](authorization-requests.md)."
    )
    private static let assertionAudience = Setting(
        "assertion_audience", ValueType<AssertionAudience>.word, defaultDescription: "`issuer`",
        "The audience of assertions: always the issuer, because the key is the same for all connections.")

    static let descriptions = [
        from.description, auth.description, redirectURIs.description, postLogoutRedirectURIs.description,
        keyID.description, keyFile.description, assertionAudience.description, request.description,
        ClientReader.responseType.description,
    ]

    /// - Returns: `nil` if an error was reported.
    static func read(_ section: Section, _ policy: ProviderPolicy) -> NamedClientSettings? {
        let own = section.section(ClientReader.setting.name)
        defer { own.finish() }
        let from = from.read(own)
        let methods = auth.read(own)
        let uris = redirectURIs.read(own) ?? []
        let postLogoutURIs = postLogoutRedirectURIs.read(own) ?? []
        let (keyID, keyFile) = (keyID.read(own), keyFile.read(own))
        let request = request.read(own)
        let responseType = ClientReader.readResponseType(own, policy)
        if from == nil {
            own.refuseMissing(self.from.name, "clients of a provider with issuers: any need from: request")
        }
        if methods?.isEmpty != false {
            own.refuseMissing(auth.name, "clients of a provider with issuers: any need auth, a list")
        }
        if let uri = uris.first(where: { !hasPlace(forConnection: $0) }) {
            own.refuse(
                redirectURIs.name,
                "\(uri) needs {connection} in its path or query: with one address for all connections, an attacker's provider could receive the codes of another"
            )
        }
        if assertionAudience.read(own) == .tokenEndpoint {
            own.refuse(
                assertionAudience.name,
                "assertion_audience must be issuer: the key is the same for all connections, so one customer's token endpoint could use the assertion at another's"
            )
        }
        guard from != nil, let methods, !methods.isEmpty else { return nil }
        var rules = NamedClientRules(methods: methods, redirectURIs: uris)
        rules.requestForm = request
        rules.responseType = responseType
        rules.postLogoutRedirectURIs = postLogoutURIs
        guard methods.contains(.key) else {
            for (name, isThere) in [(self.keyID.name, keyID != nil), (self.keyFile.name, keyFile != nil)] where isThere
            {
                own.refuse(name, "\(name) only has an effect with auth: private_key_jwt; remove it")
            }
            return NamedClientSettings(rules: rules)
        }
        guard let keyID, let keyFile else {
            own.refuseMissing(
                keyID == nil ? self.keyID.name : self.keyFile.name, "auth: private_key_jwt needs key_id and key_file")
            return nil
        }
        return NamedClientSettings(rules: rules, key: NamedClientSettings.Key(id: keyID, file: keyFile))
    }

    /// Whether each `{connection}` of a redirect URI is in its path or query, and there is one.
    private static func hasPlace(forConnection uri: String) -> Bool {
        let placeholder = NamedClientRules.placeholder
        let rest = uri.drop { $0 != ":" }.dropFirst()
        let local = rest.hasPrefix("//") ? rest.dropFirst(2).drop { !"/?".contains($0) } : rest
        let count = uri.ranges(of: placeholder).count
        return count > 0 && local.ranges(of: placeholder).count == count
            && !uri.replacing(placeholder, with: "").contains { "{}".contains($0) }
    }
}
