private import Bytes
internal import IDToken

/// An authorization request, checked as the provider checks it before anyone signs in.
struct AuthorizationRequest {
    let client: DevClient
    let redirectURI: String
    let mode: ResponseMode
    /// Whether an ID Token is requested in addition to the code.
    let wantsIDToken: Bool
    let scopes: [String]
    let state: String?
    let nonce: String?
    /// PKCE's challenge; its method is S256.
    let challenge: String?
    let loginHint: String?
    /// Whether no page may be shown to the person (`prompt=none`). Scripts sign in this way.
    let isSilent: Bool

    enum ResponseMode: String, Sendable, CaseIterable {
        case query, fragment
        /// OAuth 2.0 Form Post Response Mode.
        case form = "form_post"
    }

    /// - Throws: ``DevRequestError`` if a provider would show an error page instead of redirecting.
    init(_ query: FormParameters, to provider: EmulatedProvider) throws {
        guard let id = query["client_id"] else { throw DevRequestError("client_id is missing") }
        guard let client = provider.client(id) else {
            throw DevRequestError(
                "client_id is \(id), which is not registered; the settings list \(provider.audiences.joined(separator: ", "))"
            )
        }
        self.client = client
        guard let redirectURI = query["redirect_uri"] else { throw DevRequestError("redirect_uri is missing") }
        guard client.allows(redirectURI) else {
            throw DevRequestError(
                "redirect_uri is \(redirectURI), which is not registered for \(id); add it to redirect_uris, or use a loopback or .test host"
            )
        }
        self.redirectURI = redirectURI
        let types = (query["response_type"] ?? "").split(separator: " ")
        guard types.contains("code"), types.allSatisfy({ $0 == "code" || $0 == "id_token" }) else {
            throw DevRequestError("response_type must be code, or code id_token")
        }
        wantsIDToken = types.contains("id_token")
        let mode = query["response_mode"].map(ResponseMode.init) ?? (wantsIDToken ? .fragment : .query)
        guard let mode else { throw DevRequestError("response_mode must be query, fragment or form_post") }
        guard mode != .query || !wantsIDToken else {
            throw DevRequestError("response_mode query can't carry an ID Token; use fragment or form_post")
        }
        scopes = (query["scope"] ?? "").split(separator: " ").map(String.init)
        if provider.settings.quirks.contains(.formPostForScopes), mode != .form, !scopes.isEmpty {
            throw DevRequestError("response_mode must be form_post, because scopes are requested")
        }
        self.mode = mode
        challenge = query["code_challenge"]
        guard challenge == nil || query["code_challenge_method"] == "S256" else {
            throw DevRequestError("code_challenge_method must be S256")
        }
        if case .none = client.authentication, challenge == nil {
            throw DevRequestError("code_challenge is missing; a client without a secret needs it")
        }
        state = query["state"]
        nonce = query["nonce"]
        loginHint = query["login_hint"]
        isSilent = query["prompt"] == "none"
    }
}

extension DevClient {
    /// Whether this redirect URI is allowed: the settings list it, or its host is loopback or reserved for tests.
    fileprivate func allows(_ uri: String) -> Bool {
        guard uri.utf8.count <= 2048, uri.utf8.allSatisfy(\.isVisibleASCII), !uri.contains("#") else {
            return false
        }
        return redirectURIs.contains(uri) || HostName(ofURL: uri)?.isOfDevelopment == true
    }
}
