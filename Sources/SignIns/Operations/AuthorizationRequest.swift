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

    /// The request, ready for the browser, or to be signed and pushed first.
    ///
    /// - Parameter keyThumbprint: `dpop_jkt`, to which the provider then binds the code (RFC 9449, section 10).
    /// - Throws: ``OpenSSLError`` when out of memory.
    func prepared(
        at endpoint: AuthorizationEndpoint, as form: AuthorizationRequestForm, for signIn: BrowserSignIn,
        maximumAge: Int64?, keyThumbprint: String?,
        hint: HintAnswer?, now: UnixTime, _ digests: borrowing DigestContext
    ) throws(OpenSSLError) -> PreparedRequest {
        if let way = UnsentRequest.Way(form) {
            var parameters = AuthorizationParameters()
            try write(to: &parameters, for: signIn, maximumAge, keyThumbprint, hint, digests)
            return .unsent(
                UnsentRequest(
                    parameters: parameters, way: way, client: client, endpoint: endpoint, issuer: issuer, madeAt: now))
        }
        var url = URLWithQuery(endpoint.url)
        url.add("response_type", client.responseType.rawValue)
        url.add("client_id", client.id)
        try write(to: &url, for: signIn, maximumAge, keyThumbprint, hint, digests)
        return .url(url.text)
    }

    /// Writes all parameters but the client's ID and the response type.
    ///
    /// - Throws: ``OpenSSLError`` when out of memory.
    private func write(
        to request: inout some ParameterWriter, for signIn: BrowserSignIn, _ maximumAge: Int64?,
        _ keyThumbprint: String?, _ hint: HintAnswer?, _ digests: borrowing DigestContext
    ) throws(OpenSSLError) {
        request.add("redirect_uri", browser.redirectURI)
        request.add("scope", scopes.isEmpty ? nil : scopes.joined(separator: " "))
        request.add("state", signIn.state.text)
        if let verifier = signIn.verifier {
            request.add("code_challenge", try verifier.challenge(digests))
            request.add("code_challenge_method", "S256")
        }
        request.add("dpop_jkt", keyThumbprint)
        if let nonce = signIn.nonce, let nonceForm { request.add("nonce", try nonce.text(as: nonceForm, digests)) }
        request.add("response_mode", responseMode?.rawValue)
        request.add("max_age", number: maximumAge)
        request.add("prompt", browser.prompt)
        request.add("login_hint", browser.loginHint)
        request.add("ui_locales", browser.uiLocales)
        request.add("acr_values", browser.acrValues)
        if let hint { request.add("id_token_hint", String(decoding: hint.text, as: UTF8.self)) }
        if let requested = browser.requested {
            request.add("claims", json: requested.claims)
            for resource in requested.resources { request.add("resource", resource) }
        }
        for parameter in client.authorizationParameters where browser.requested?.sets(parameter.name) != true {
            if parameter.isJSON {
                request.add(parameter.name, json: Array(parameter.value.utf8))
            } else {
                request.add(parameter.name, parameter.value)
            }
        }
    }
}

/// An authorization request: the URL for the browser, or what must be signed or pushed before there is one.
enum PreparedRequest {
    case url(String)
    case unsent(UnsentRequest)
}

/// Where the parameters of an authorization request are written.
protocol ParameterWriter {
    /// Adds a parameter; `nil` adds none.
    mutating func add(_ name: String, _ value: String?)
    /// Adds a number; `nil` adds none.
    mutating func add(_ name: String, number: Int64?)
    /// Adds well-formed JSON; `nil` adds none.
    mutating func add(_ name: String, json: [UInt8]?)
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
struct URLWithQuery: ParameterWriter {
    private(set) var text: String
    private var hasQuery: Bool

    /// - Parameter text: a URL; its own query is kept.
    init(_ text: String) {
        self.text = text
        hasQuery = text.utf8.contains(UInt8(ascii: "?"))
    }

    mutating func add(_ name: String, number: Int64?) { add(name, number.map(String.init)) }

    mutating func add(_ name: String, json: [UInt8]?) { add(name, json.map { String(decoding: $0, as: UTF8.self) }) }

    /// Whether a URL's own query has a parameter of one of these names, or one whose name can't be read.
    static func query(of url: String, hasAnyOf names: [String]) -> Bool {
        guard let query = url.split(separator: "?", maxSplits: 1).dropFirst().first else { return false }
        return query.split(separator: "&").contains { parameter in
            let name = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)[0]
            let decoded = percentDecoded(name.replacing("+", with: " ")).map { String(decoding: $0, as: UTF8.self) }
            return decoded.map(names.contains) ?? true
        }
    }

    /// Adds a parameter; `nil` adds none.
    mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        text += (hasQuery ? "&" : "?") + percentEncoded(name) + "=" + percentEncoded(value)
        hasQuery = true
    }
}

/// An authorization request that is signed or pushed before there is a URL.
struct UnsentRequest {
    /// All but the client's ID and the response type.
    let parameters: AuthorizationParameters
    let way: Way
    let client: OAuthClient
    let endpoint: AuthorizationEndpoint
    /// The provider's.
    let issuer: String
    let madeAt: UnixTime

    /// How it reaches the provider.
    enum Way {
        case signed
        case pushed(isSigned: Bool)

        /// - Returns: `nil` for a plain request.
        init?(_ form: AuthorizationRequestForm) {
            switch form {
            case .plain: return nil
            case .signed: self = .signed
            case .pushed, .signedAndPushed: self = .pushed(isSigned: form.isSigned)
            }
        }
    }

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

    /// The URL of a request that was pushed (RFC 9126, section 4).
    fileprivate func url(_ reference: PushedReference) -> String {
        var url = URLWithQuery(endpoint.url)
        url.add("client_id", client.id)
        url.add("request_uri", reference.uri)
        return url.text
    }

    /// The URL of a signed request. OpenID Connect requires some parameters outside too, with the same values (Core 1.0,
    /// section 6.1).
    fileprivate func url(withObject object: [UInt8]) -> String {
        var url = URLWithQuery(endpoint.url)
        url.add("response_type", client.responseType.rawValue)
        url.add("client_id", client.id)
        url.add("scope", parameters.text("scope"))
        url.add("request", String(decoding: object, as: UTF8.self))
        return url.text
    }
}

/// An authorization request that the browser can take to the provider, until it expires.
struct SentRequest {
    let url: String
    let expiresAt: UnixTime
}

extension Operation {
    /// Signs an authorization request, pushes it, or both.
    ///
    /// - Parameter authentication: how the client of a connection authenticates.
    /// - Throws: ``Problem``. Nothing has begun then.
    func send(
        _ request: UnsentRequest, authenticatedBy authentication: RequestAuthentication?, to provider: Provider
    ) async throws(Problem) -> SentRequest {
        let objectEnd = request.madeAt.advanced(bySeconds: RequestObject.lifetimeSeconds)
        func calls(authenticates: Bool) throws(Problem) -> GrantCalls {
            try GrantCalls(
                of: self, to: provider, by: request.client.id, authentication, authenticates: authenticates)
        }
        switch request.way {
        case .signed:
            let object = try await signed(request, try calls(authenticates: false))
            return SentRequest(url: request.url(withObject: object), expiresAt: objectEnd)
        case .pushed(let isSigned):
            let calls = try calls(authenticates: true)
            // Before anything is signed.
            let (address, slot) = (try calls.pushedRequestEndpoint(), try calls.slot())
            let content: PushedAuthorization =
                isSigned
                ? .object(try await signed(request, calls), of: request.formParameters)
                : .parameters(request.formParameters)
            switch await calls.push(content, at: address, slot) {
            case .success(let reference):
                let end = request.madeAt.advanced(bySeconds: reference.lifetimeSeconds)
                return SentRequest(url: request.url(reference), expiresAt: isSigned ? min(end, objectEnd) : end)
            case .failure(let failure): throw Problem(failure)
            }
        }
    }

    /// - Throws: ``Problem/requestKeyMissing``, and ``Problem/rejected(_:of:)`` if OpenSSL fails.
    private func signed(_ request: UnsentRequest, _ calls: GrantCalls) async throws(Problem) -> [UInt8] {
        switch await calls.object(of: request) {
        case .success(let object): return object
        case .failure(.noKey): throw .requestKeyMissing
        case .failure(.cryptographyUnavailable): throw .rejected(.cryptographyUnavailable)
        }
    }
}

extension AuthorizationParameters: ParameterWriter {
    mutating func add(_ name: String, _ value: String?) { if let value { add(name, Value.text(value)) } }
    mutating func add(_ name: String, number: Int64?) { if let number { add(name, Value.number(number)) } }
    mutating func add(_ name: String, json: [UInt8]?) { if let json { add(name, Value.json(json)) } }
}
