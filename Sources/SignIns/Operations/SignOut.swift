private import Bytes
package import HTTP
internal import IDToken
package import JOSE
internal import Keys
internal import OAuth
internal import OpenSSL
package import Verification

/// The body of `POST /v1/sign-outs`.
package struct SignOutRequest {
    let provider: String
    /// For a provider with `issuers: any`; `nil` for all others.
    let connection: Connection?
    private let audience: String?
    let idTokenHint: ArraySlice<UInt8>?
    let redirectURI: String?
    let logoutHint: String?
    let uiLocales: String?

    /// - Throws: ``Problem/requestInvalid(_:)``.
    init(_ object: JSONObject) throws(Problem) {
        connection = try Connection(of: object, beside: Names.all)
        provider = try object.provider()
        if connection == nil, object[MemberNames.issuer] != nil {
            throw .requestInvalid(
                "issuer is only valid together with connection, for a provider with issuers: any; omit it.")
        }
        audience = try object.string(MemberNames.audience, characters: MemberBounds.audience)
        idTokenHint = try object.token(Names.idTokenHint)
        redirectURI = try object.string(Names.redirectURI, characters: 1...2048)
        logoutHint = try object.string(Names.logoutHint, characters: 0...255)
        uiLocales = try object.string(Names.uiLocales, characters: 0...255)
    }

    /// The client that the user signs out from: that of the audience, or else the first that lists the address, or else
    /// the first.
    ///
    /// - Parameter rules: `nil` if the provider has no clients.
    /// - Throws: ``Problem/audienceNotConfigured``, ``Problem/clientNotConfigured``,
    ///   ``Problem/postLogoutRedirectURINotConfigured``.
    func client(under policy: ProviderPolicy, _ rules: GrantRules?) throws(Problem) -> OAuthClient {
        if let audience, !policy.audiences.containsExactly(audience) { throw .audienceNotConfigured }
        guard let rules, let first = rules.clients.first else { throw .clientNotConfigured }
        let client: OAuthClient
        if let audience {
            guard let named = rules.client(audience) else { throw .clientNotConfigured }
            client = named
        } else if let redirectURI {
            client = rules.clients.first { $0.hasPostLogoutRedirectURI(redirectURI) } ?? first
        } else {
            client = first
        }
        if let redirectURI, !client.hasPostLogoutRedirectURI(redirectURI) {
            throw .postLogoutRedirectURINotConfigured
        }
        return client
    }

    private enum Names {
        static let idTokenHint: JSONName = "id_token_hint"
        static let redirectURI: JSONName = "post_logout_redirect_uri"
        static let logoutHint: JSONName = "logout_hint"
        static let uiLocales: JSONName = "ui_locales"
        static let all = [
            MemberNames.provider, MemberNames.audience, MemberNames.issuer, idTokenHint, redirectURI, logoutHint,
            uiLocales,
        ]
    }
}

/// Where to send a browser so that its user signs out at the provider.
///
/// - Source: RP-Initiated Logout 1.0, section 2.
package struct SignOut {
    private let endpoint: String
    private let parameters: [(name: StaticString, value: String)]
    /// `nil` if the browser does not come back.
    private let state: String?
    /// `nil` if the parameters only fit into a form.
    private let url: String?

    /// The longest URL that all browsers, proxies and servers take.
    private static let longestURL = 2000

    /// - Parameters:
    ///   - hint: `nil` if the request had none.
    ///   - state: `nil` if the request names no address to come back to.
    init(_ request: SignOutRequest, by client: OAuthClient, at endpoint: String, _ hint: HintAnswer?, state: String?) {
        let members: [(name: StaticString, value: String?)] = [
            ("id_token_hint", hint.map { String(decoding: $0.text, as: UTF8.self) }),
            ("logout_hint", request.logoutHint), ("client_id", client.id),
            ("post_logout_redirect_uri", request.redirectURI), ("state", state), ("ui_locales", request.uiLocales),
        ]
        parameters = members.compactMap { name, value in value.map { (name, $0) } }
        self.endpoint = endpoint
        self.state = state
        var url = URLWithQuery(endpoint)
        for (name, value) in parameters { url.add("\(name)", value) }
        let isShown = hint?.wasEncrypted != true && url.text.utf8.count <= Self.longestURL
        self.url = isShown ? url.text : nil
    }

    /// The names of parameters that the endpoint's own query must not have: the provider may take either.
    static let reserved = [
        "id_token_hint", "logout_hint", "client_id", "post_logout_redirect_uri", "state", "ui_locales",
    ]

    /// Writes the response as a JSON object with every member.
    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("logout_url", url)
            json.member("endpoint", endpoint)
            json.name("parameters")
            json.object { json in
                for (name, value) in parameters { json.member(name, value) }
            }
            json.member("state", state)
        }
    }
}

extension Operation {
    /// Makes the URL at which a user signs out: at once, unless the hint or the provider's document must be waited for.
    package func signOut(_ body: JSONObject) throws(Problem) -> Reply<SignOut, Problem> {
        let request = try SignOutRequest(body)
        let provider = try provider(named: request.provider)
        if provider.issuers?.list != nil { throw .signOutNotSupported }
        try choose(request.connection, of: provider)
        let client = try request.client(under: policy(of: provider), grantRules(of: provider))
        guard request.idTokenHint != nil || connection != nil && discovered == nil else {
            return .now(try signOut(request, provider, client, nil))
        }
        // What no document would change is refused at once.
        if connection == nil { _ = try endSessionEndpoint(of: provider) }
        return .later { () async throws(Problem) in
            try await self.requireDocument()
            _ = try self.endSessionEndpoint(of: provider)
            var hint: HintAnswer?
            if let text = request.idTokenHint { hint = try await self.verify(hint: text, clientID: client.id) }
            return try self.signOut(request, provider, client, hint)
        }
    }

    private func signOut(
        _ request: SignOutRequest, _ provider: Provider, _ client: OAuthClient, _ hint: HintAnswer?
    ) throws(Problem) -> SignOut {
        let endpoint = try endSessionEndpoint(of: provider)
        let state = request.redirectURI == nil ? nil : try openSSL(State.random().text)
        return SignOut(request, by: client, at: endpoint, hint, state: state)
    }

    /// - Throws: ``Problem/signOutNotSupported``, ``Problem/endpointUnknown``.
    private func endSessionEndpoint(of provider: Provider) throws(Problem) -> String {
        guard let grants = provider.grants else { throw .clientNotConfigured }
        switch grants.endpoint(.endSession, discovered) {
        case .known(let url):
            guard !URLWithQuery.query(of: url.text, hasAnyOf: SignOut.reserved) else { throw .signOutNotSupported }
            return url.text
        case .unknown: throw .endpointUnknown
        case .none: throw .signOutNotSupported
        }
    }
}
