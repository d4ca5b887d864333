import ArgumentParser
import IDToken
import JOSE
import OAuth
import Settings
import Verification

/// `assay client-registration`.
struct ClientRegistration: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what to register at a provider.",
        discussion: """
            Prints the metadata of a provider's client by the settings, as JSON (RFC 7591), for a registration endpoint or \
            for the provider's form. The base URL is where providers reach GET /v1/jwks.

              assay client-registration bank --base-url https://app.example.com/assay
            """)

    @OptionGroup var file: ConfigurationFile

    @Argument(help: "The id of the provider in the settings.")
    var provider: String

    @Option(help: ArgumentHelp("Where the service listener is published, without /v1/jwks.", valueName: "url"))
    var baseURL: String

    @Option(help: ArgumentHelp("The client, if the provider has several.", valueName: "client-id"))
    var audience: String?

    func validate() throws {
        guard baseURL.hasPrefix("https://"), !baseURL.contains(where: { "?# ".contains($0) }) else {
            throw ValidationError("--base-url must be an https URL without a query, such as https://app.example.com")
        }
    }

    func run() throws {
        let settings = try file.settings()
        guard let entry = settings.providers.first(where: { $0.policy.id == provider }) else {
            throw ConfigurationError(
                "no provider has the id \(provider); the settings have "
                    + settings.providers.map(\.policy.id).joined(separator: ", "))
        }
        let clients = entry.clients.filter { audience == nil || $0.client.id == audience }
        guard clients.count == 1, let client = clients.first else {
            throw ConfigurationError(
                entry.clients.isEmpty
                    ? "provider \(provider) has no clients; add the client that you register"
                    : "provider \(provider) has the clients \(entry.clients.map(\.client.id).joined(separator: ", ")); name one of them with --audience"
            )
        }
        var json = JSONWriter()
        json.object { write(client, of: entry, settings.clientKeys, to: &$0) }
        print(String(decoding: json.bytes, as: UTF8.self))
    }

    private func write(
        _ client: ClientSettings, of entry: ProviderSettings, _ keys: [ClientKeySettings], to json: inout JSONWriter
    ) {
        json.array("redirect_uris", client.client.redirectURIs)
        if !client.client.postLogoutRedirectURIs.isEmpty {
            json.array("post_logout_redirect_uris", client.client.postLogoutRedirectURIs)
        }
        let hasIDToken = client.client.responseType.hasIDToken
        json.array("response_types", [client.client.responseType.rawValue])
        json.array("grant_types", ["authorization_code", "refresh_token"] + (hasIDToken ? ["implicit"] : []))
        if !client.client.scopes.isEmpty { json.member("scope", client.client.scopes.joined(separator: " ")) }
        if !keys.isEmpty {
            json.member("jwks_uri", (baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL) + "/v1/jwks")
        }
        json.member("token_endpoint_auth_method", client.authentication.registeredMethod)
        func writeAlgorithm(_ name: StaticString, ofKey id: String?) {
            let key = keys.first { $0.use.isSignature && (id == nil || $0.id == id) }
            if case .signature(let algorithm)? = key?.use { json.member(name, algorithm.rawValue) }
        }
        if case .signingKey(let id, _) = client.authentication {
            writeAlgorithm("token_endpoint_auth_signing_alg", ofKey: id)
        }
        if client.client.profile != nil {
            // The default is RS256 (OpenID Connect Registration 1.0, section 2), which the profile refuses.
            json.member("id_token_signed_response_alg", entry.policy.algorithms?.names.first)
        }
        if let form = client.client.requestForm {
            if form.isPushed { json.member("require_pushed_authorization_requests", true) }
            if form.isSigned { json.member("require_signed_request_object", true) }
            if form.isSigned, client.needsOwnKey {
                writeAlgorithm("request_object_signing_alg", ofKey: client.client.signingKey)
            }
        }
        switch client.client.senderConstraint {
        case .dpop: json.member("dpop_bound_access_tokens", true)
        case .certificate: json.member("tls_client_certificate_bound_access_tokens", true)
        case nil: break
        }
        if entry.userInfo == .signed {
            let algorithm = SignatureAlgorithm.allCases.first { entry.policy.algorithms?.contains($0) ?? true }
            json.member("userinfo_signed_response_alg", algorithm?.rawValue)
        }
        if let encryption = entry.encryption, let algorithm = encryption.registered(keys)?.algorithm {
            for kind in EncryptionRules.Kind.allCases where encryption.required.contains(kind) || kind == .idToken {
                guard let (algorithmName, contentName) = kind.registeredNames else { continue }
                json.member(algorithmName, algorithm.rawValue)
                json.member(contentName, encryption.content.first?.rawValue)
            }
        }
    }
}

extension ClientSettings.Authentication {
    /// The name of the method in a client's metadata (OpenID Connect Registration 1.0, section 2).
    var registeredMethod: String {
        switch self {
        case .secret(_, let place): place.rawValue
        case .apple: ClientCredential.SecretPlace.post.rawValue
        case .privateKeyJWT, .signingKey: "private_key_jwt"
        case .certificate: "tls_client_auth"
        case .none: "none"
        }
    }
}

extension EncryptionRules {
    /// The first key that is offered and accepted, and its first algorithm.
    func registered(_ settings: [ClientKeySettings]) -> (keyID: String, algorithm: KeyManagementAlgorithm)? {
        for key in settings where key.isPublished && (keys?.contains(key.id) ?? true) {
            guard case .encryption(let own) = key.use else { continue }
            if let algorithm = own.first(where: algorithms.contains) { return (key.id, algorithm) }
        }
        return nil
    }
}

extension EncryptionRules.Kind {
    /// The client's metadata for the algorithms (OpenID Connect Registration 1.0, section 2; JARM, section 3).
    fileprivate var registeredNames: (algorithm: StaticString, content: StaticString)? {
        switch self {
        case .idToken: ("id_token_encrypted_response_alg", "id_token_encrypted_response_enc")
        case .userInfo: ("userinfo_encrypted_response_alg", "userinfo_encrypted_response_enc")
        case .response: ("authorization_encrypted_response_alg", "authorization_encrypted_response_enc")
        case .notification: nil
        }
    }
}
