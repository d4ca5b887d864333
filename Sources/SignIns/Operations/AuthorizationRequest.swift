private import Bytes
internal import IDToken
private import JOSE
package import OAuth
internal import OpenSSL
internal import Verification

/// A provider's authorization endpoint.
package struct AuthorizationEndpoint: Sendable {
    package let url: String
    /// Whether its responses name the issuer (RFC 9207, section 3).
    package let sendsResponseIssuer: Bool
    /// The form of requests that the discovery document requires; `nil` if it has not been read yet.
    let requiredForm: AuthorizationRequestForm?

    /// - Returns: `nil` if the URL's own query has a parameter that the request sets: the provider may take either.
    package init?(url: String, sendsResponseIssuer: Bool, requiredForm: AuthorizationRequestForm? = .plain) {
        guard !URLWithQuery.query(of: url, hasAnyOf: AuthorizationParameter.reserved) else { return nil }
        self.url = url
        self.sendsResponseIssuer = sendsResponseIssuer
        self.requiredForm = requiredForm
    }
}

/// How the provider returns the response to the redirect URI (OAuth 2.0 Multiple Response Type Encoding Practices).
enum ResponseMode: String {
    case query
    case formPost = "form_post"
    // JWT Secured Authorization Response Mode for OAuth 2.0, section 2.3.
    case signed = "jwt"
    case signedInQuery = "query.jwt"
    case signedByFormPost = "form_post.jwt"

    var isSigned: Bool {
        switch self {
        case .query, .formPost: false
        case .signed, .signedInQuery, .signedByFormPost: true
        }
    }
}

/// The members of a begin request that go into the authorization URL.
struct BrowserRequest {
    let redirectURI: String
    /// `nil`: the client's.
    let scopes: [String]?
    let responseMode: ResponseMode?
    let prompt: String?
    let loginHint: String?
    let uiLocales: String?
    let acrValues: String?
    /// `nil` for most.
    let requested: RequestedClaims?
}

/// An authorization request that the provider's settings allow (OpenID Connect Core 1.0, section 3.1.2.1).
struct AuthorizationRequest {
    let client: OAuthClient
    private let browser: BrowserRequest
    private let scopes: [String]
    private let responseMode: ResponseMode?
    /// `nil` if the provider's nonces are not checked.
    private let nonceForm: NonceMatch?
    private let usesPKCE: Bool
    private let issuer: String

    /// - Parameters:
    ///   - audience: one of the provider's; `nil`: the client that lists the redirect URI.
    ///   - rules: `nil` if the provider has no clients.
    /// - Throws: ``Problem/clientNotConfigured``, ``Problem/redirectURINotConfigured``,
    ///   ``Problem/signInNotSupported``, ``Problem/requestInvalid(_:)``.
    init(
        _ browser: BrowserRequest, audience: String?, under policy: ProviderPolicy, _ rules: GrantRules?
    ) throws(Problem) {
        guard let rules, let first = rules.clients.first else { throw .clientNotConfigured }
        if let audience {
            guard let client = rules.client(audience) else { throw .clientNotConfigured }
            self.client = client
        } else {
            client = rules.clients.first { $0.hasRedirectURI(browser.redirectURI) } ?? first
        }
        guard client.hasRedirectURI(browser.redirectURI) else { throw .redirectURINotConfigured }
        nonceForm = policy.nonce.isChecked ? policy.nonce.accepted.first : nil
        usesPKCE = rules.usesPKCE
        issuer = policy.issuer
        guard !rules.refusesBrowserSignIns,
            nonceForm != nil || usesPKCE || rules.allowsUnboundCodes
        else { throw .signInNotSupported }
        let asked = browser.scopes ?? client.scopes
        let knowsOpenID = !rules.quirks.contains(.noOpenIDScope)
        scopes = knowsOpenID && !asked.contains("openid") ? ["openid"] + asked : asked
        if rules.quirks.contains(.formPostForScopes), !scopes.isEmpty {
            guard browser.responseMode ?? .formPost == .formPost else {
                throw .requestInvalid(
                    "This provider sends its response by POST if scopes are requested; omit response_mode, or send an empty list as scopes."
                )
            }
            responseMode = .formPost
        } else if client.responseType.hasIDToken {
            // A query must not have an ID Token (OAuth 2.0 Multiple Response Type Encoding Practices, section 5).
            responseMode = browser.responseMode ?? .formPost
            guard responseMode == .formPost || responseMode == .signedByFormPost else {
                throw .requestInvalid(
                    "The client's response_type is code id_token, so response_mode must be form_post or form_post.jwt; send one of them, or omit it."
                )
            }
        } else {
            responseMode = browser.responseMode
        }
        self.browser = browser
    }

    /// A sign-in with new secrets.
    ///
    /// - Throws: ``OpenSSLError`` if the random generator can't be seeded.
    func begun(at endpoint: AuthorizationEndpoint) throws(OpenSSLError) -> BrowserSignIn {
        BrowserSignIn(
            state: try .random(), nonce: nonceForm == nil ? nil : try .random(),
            verifier: usesPKCE ? try .random() : nil, redirectURI: browser.redirectURI,
            issuer: issuer,
            // The profile's clients need it even if the document does not promise it (FAPI 2.0 Security Profile, section
            // 5.3.3.2).
            requiresResponseIssuer: endpoint.sendsResponseIssuer || client.profile != nil, profile: client.profile,
            requested: requestedChecks)
    }

    /// How the request is to be sent; `nil` if that is not known yet.
    func form(at endpoint: AuthorizationEndpoint) -> AuthorizationRequestForm? {
        client.requestForm ?? endpoint.requiredForm
    }

    private var requestedChecks: RequestedChecks? {
        let responseIsSigned = responseMode?.isSigned == true
        guard browser.requested != nil || responseIsSigned || client.responseType.hasIDToken else { return nil }
        let checks = RequestedChecks(
            contextClasses: browser.requested?.contextClasses ?? [],
            requiresAuthenticationTime: browser.requested?.requiresAuthenticationTime == true,
            resources: browser.requested?.resources ?? [], responseIsSigned: responseIsSigned,
            hasFrontToken: client.responseType.hasIDToken)
        return checks == RequestedChecks() ? nil : checks
    }

    /// The request of a sign-in.
    ///
    /// - Parameter keyThumbprint: `dpop_jkt`, to which the provider then binds the code (RFC 9449, section 10).
    /// - Throws: ``OpenSSLError`` when out of memory.
    func prepared(
        at endpoint: AuthorizationEndpoint, as form: AuthorizationRequestForm, for signIn: BrowserSignIn,
        maximumAge: Int64?, keyThumbprint: String?, hint: HintAnswer?, now: UnixTime,
        _ digests: borrowing DigestContext
    ) throws(OpenSSLError) -> PreparedRequest {
        var parameters = AuthorizationParameters()
        func add(_ name: String, _ text: String?) { if let text { parameters.add(name, .text(text)) } }
        add("redirect_uri", browser.redirectURI)
        add("scope", scopes.isEmpty ? nil : scopes.joined(separator: " "))
        add("state", signIn.state.text)
        if let verifier = signIn.verifier {
            add("code_challenge", try verifier.challenge(digests))
            add("code_challenge_method", "S256")
        }
        add("dpop_jkt", keyThumbprint)
        if let nonce = signIn.nonce, let nonceForm { add("nonce", try nonce.text(as: nonceForm, digests)) }
        add("response_mode", responseMode?.rawValue)
        if let maximumAge { parameters.add("max_age", .number(maximumAge)) }
        add("prompt", browser.prompt)
        add("login_hint", browser.loginHint)
        add("ui_locales", browser.uiLocales)
        add("acr_values", browser.acrValues)
        if let hint { add("id_token_hint", String(decoding: hint.text, as: UTF8.self)) }
        if let requested = browser.requested {
            if let claims = requested.claims { parameters.add("claims", .json(claims)) }
            for resource in requested.resources { add("resource", resource) }
        }
        for parameter in client.authorizationParameters where browser.requested?.sets(parameter.name) != true {
            parameters.add(
                parameter.name, parameter.isJSON ? .json(Array(parameter.value.utf8)) : .text(parameter.value))
        }
        return PreparedRequest(
            parameters: parameters, form: form, client: client, endpoint: endpoint, issuer: issuer, madeAt: now)
    }
}

extension Nonce {
    /// The nonce in the form that the provider receives.
    ///
    /// - Throws: ``OpenSSLError`` when out of memory.
    func text(as form: NonceMatch, _ digests: borrowing DigestContext) throws(OpenSSLError) -> String {
        if form == .plain { return text }
        let digest = try digests.digest(Array(text.utf8).span, with: .sha256)
        return form == .sha256Hex
            ? String(hexadecimal: digest.span) : String(decoding: Base64URL.encode(digest), as: UTF8.self)
    }
}

/// Builds the query of a URL.
struct URLWithQuery {
    private(set) var text: String
    private var hasQuery: Bool

    /// - Parameter text: a URL; its own query is kept.
    init(_ text: String) {
        self.text = text
        hasQuery = text.utf8.contains(UInt8(ascii: "?"))
    }

    /// Whether a URL's own query has a parameter of one of these names, or one whose name can't be read.
    static func query(of url: String, hasAnyOf names: [String]) -> Bool {
        guard let query = url.split(separator: "?", maxSplits: 1).dropFirst().first else { return false }
        return query.split(separator: "&").contains { parameter in
            let name = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)[0]
            let decoded = percentDecoded(name.replacing("+", with: " ")).map { String(decoding: $0, as: UTF8.self) }
            return decoded.map(names.contains) ?? true
        }
    }

    mutating func add(_ name: String, _ value: String) {
        text += (hasQuery ? "&" : "?") + percentEncoded(name) + "=" + percentEncoded(value)
        hasQuery = true
    }
}

/// An authorization request, before the browser takes it to the provider.
struct PreparedRequest {
    /// All but the client's ID and the response type.
    let parameters: AuthorizationParameters
    /// How it reaches the provider.
    let form: AuthorizationRequestForm
    let client: OAuthClient
    let endpoint: AuthorizationEndpoint
    /// The provider's.
    let issuer: String
    let madeAt: UnixTime

    /// The parameters of a form in which the client authenticates, and which names it.
    fileprivate var formParameters: AuthorizationParameters {
        var all = parameters
        all.add("response_type", .text(client.responseType.rawValue))
        return all
    }

    var objectParameters: AuthorizationParameters {
        var all = formParameters
        all.add("client_id", .text(client.id))
        return all
    }

    /// The URL of a plain request.
    var url: String {
        url(
            with: [("response_type", client.responseType.rawValue), ("client_id", client.id)]
                + parameters.all.map { ($0.name, $0.value.text) })
    }

    /// The URL of a request that was pushed (RFC 9126, section 4).
    fileprivate func url(_ reference: PushedReference) -> String {
        url(with: [("client_id", client.id), ("request_uri", reference.uri)])
    }

    /// The URL of a signed request. OpenID Connect requires some parameters outside too, with the same values (Core 1.0,
    /// section 6.1).
    fileprivate func url(withObject object: [UInt8]) -> String {
        url(with: [
            ("response_type", client.responseType.rawValue), ("client_id", client.id),
            ("scope", parameters.text("scope")), ("request", String(decoding: object, as: UTF8.self)),
        ])
    }

    private func url(with parameters: [(name: String, value: String?)]) -> String {
        var url = URLWithQuery(endpoint.url)
        for case (let name, let value?) in parameters { url.add(name, value) }
        return url.text
    }
}

extension Operation {
    /// Signs an authorization request, pushes it, or both.
    ///
    /// - Parameter authentication: how the client of a connection authenticates.
    /// - Returns: the URL that the browser can take to the provider, and until when.
    /// - Throws: ``Problem``. Nothing has begun then.
    func send(
        _ request: PreparedRequest, authenticatedBy authentication: RequestAuthentication?, to provider: Provider
    ) async throws(Problem) -> (url: String, expiresAt: UnixTime) {
        let form = request.form
        let calls = try GrantCalls(
            of: self, to: provider, by: request.client.id, authentication, authenticates: form.isPushed)
        let objectEnd = request.madeAt.advanced(bySeconds: RequestObject.lifetimeSeconds)
        guard form.isPushed else {
            return (request.url(withObject: try await signed(request, calls)), expiresAt: objectEnd)
        }
        // Before anything is signed.
        let (address, slot) = (try calls.pushedRequestEndpoint(), try calls.slot())
        let content: PushedAuthorization =
            form.isSigned
            ? .object(try await signed(request, calls), of: request.formParameters)
            : .parameters(request.formParameters)
        switch await calls.push(content, at: address, slot) {
        case .success(let reference):
            let end = request.madeAt.advanced(bySeconds: reference.lifetimeSeconds)
            return (request.url(reference), expiresAt: form.isSigned ? min(end, objectEnd) : end)
        case .failure(let failure): throw Problem(failure)
        }
    }

    /// - Throws: ``Problem/requestKeyMissing``, and ``Problem/rejected(_:of:)`` if OpenSSL fails.
    private func signed(_ request: PreparedRequest, _ calls: GrantCalls) async throws(Problem) -> [UInt8] {
        switch await calls.object(of: request) {
        case .success(let object): return object
        case .failure(.noKey): throw .requestKeyMissing
        case .failure(.cryptographyUnavailable): throw .rejected(.cryptographyUnavailable)
        }
    }
}
