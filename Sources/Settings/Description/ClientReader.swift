private import Bytes
internal import IDToken
private import JOSE
internal import OAuth

/// Reads a provider's `clients`.
enum ClientReader {
    /// The values of `auth`.
    private enum Method: String, CaseIterable, Sendable {
        case apple
        case clientSecretBasic = "client_secret_basic"
        case clientSecretPost = "client_secret_post"
        case privateKeyJWT = "private_key_jwt"
        case tlsClientAuth = "tls_client_auth"
        case none

        /// The members that it needs.
        var required: [String] {
            switch self {
            case .apple: ["team_id", "key_id", "key_file"]
            case .clientSecretBasic, .clientSecretPost: ["secret_file"]
            case .tlsClientAuth: ["certificate_file", "key_file"]
            case .privateKeyJWT, .none: []
            }
        }

        var optional: [String] {
            guard self == .privateKeyJWT else { return [] }
            return ["key_id", "key_file", "signing_key", "certificate_file", "assertion_audience"]
        }

        static func with(_ member: String) -> String {
            allCases.filter { ($0.required + $0.optional).contains(member) }.map(\.rawValue)
                .joined(separator: " and ")
        }
    }

    private static let id = Setting(
        "id", .text, isRequired: true, "The client ID: one of the provider's `audiences`; any with `tokens: opaque`.")
    private static let auth = Setting(
        "auth", ValueType<Method>.word, isRequired: true,
        "How the client authenticates to the provider. `apple`: with a client secret that Assay generates from the key. `none`: a public client."
    )
    /// The name of `auth`.
    static var authName: String { auth.name }
    private static let secretFile = Setting(
        "secret_file", .file(.secret), "A file with the client secret, re-read when it changes.")
    private static let teamID = Setting("team_id", .text, "Apple's Team ID: ten characters.")
    private static let keyID = Setting(
        "key_id", .text, "The key's ID at the provider; Apple's Key ID has ten characters.")
    private static let keyFile = Setting(
        "key_file", .file(.privateKey),
        "A file with the private key (PEM, PKCS#8), for `apple`, `private_key_jwt` and `tls_client_auth`. Re-read when it changes."
    )
    private static let signingKey = Setting(
        "signing_key", .text, defaultDescription: "the first of `client_keys` with `use: signature`",
        "The key of `client_keys` that signs for the client, if it has no `key_file` and has `auth: private_key_jwt` or signed requests. The audience of its assertions is the issuer."
    )
    private static let certificateFile = Setting(
        "certificate_file", .file(.certificate),
        "A file with the certificate (PEM) of the key. `private_key_jwt` sends its thumbprint as `x5t#S256`; with `tls_client_auth`, connections present it (RFC 8705), with the certificates that follow it in the file. Re-read when it changes."
    )
    static let assertionAudience = Setting(
        "assertion_audience", ValueType<AssertionAudience>.word,
        defaultDescription: "`issuer`; the preset `microsoft` has `token_endpoint`, unless there is a `profile`",
        "The audience of assertions: the issuer, or `endpoints.token`.")
    static let redirectURIs = Setting(
        "redirect_uris", listOf: redirectURI,
        "The redirect URIs of the client. The `redirect_uri` of a request must be one of these, byte for byte.")

    static let postLogoutRedirectURIs = Setting(
        "post_logout_redirect_uris", listOf: redirectURI,
        "Where the provider may send the browser after the user has signed out there, as registered at the provider. The `post_logout_redirect_uri` of `POST /v1/sign-outs` must be one of these, byte for byte."
    )

    private static let scopes = Setting(
        "scopes", listOf: .scope,
        "The scopes that a sign-in in a browser requests, unless `POST /v1/sign-ins` names others. `openid` is added, except at Apple."
    )

    static let senderConstraint = Setting(
        "sender_constraint", ValueType<SenderConstraint>.word, defaultDescription: "none",
        "Ties the client's grants to it, so that a stolen token is of no use. `dpop`: each sign-in has a key of its own, and each request with its tokens a proof by that key (RFC 9449); the backend keeps `grant.binding` beside the refresh token. Needs `sign_ins`, whose key files seal it. `certificate`: the provider binds them to the certificate of `auth: tls_client_auth`, which the UserInfo endpoint then needs too."
    )

    private static let proofOrigins = Setting(
        "dpop_origins", listOf: .origin,
        "The origins of the APIs that the backend calls with this client's access tokens: `POST /v1/grants/proof` makes proofs for their URLs, and for the UserInfo endpoint. Only with `sender_constraint: dpop`."
    )

    static let redirectURI = ValueType<String>.text(
        "an absolute URI without a fragment, at most 1024 visible ASCII characters, with a scheme other than javascript, file and the like"
    ) { text in
        guard text.utf8.count <= 1024, text.utf8.allSatisfy(\.isVisibleASCII), !text.contains("#"),
            let colon = text.firstIndex(of: ":"), text.first?.isLetter == true
        else { return false }
        return text[..<colon].allSatisfy { $0.isLetter || $0.isNumber || "+-.".contains($0) }
            && !["about", "blob", "data", "file", "javascript", "vbscript"].contains(text[..<colon].lowercased())
            && text.index(after: colon) < text.endIndex
    }

    static let request = Setting(
        "request", ValueType<AuthorizationRequestForm>.word,
        defaultDescription:
            "what the provider's discovery document requires, else `plain`; `pushed` with `profile: fapi2`",
        "How authorization requests reach the provider. `plain`: as parameters of the URL. `pushed`: sent to the provider by Assay, so that the URL has only a reference (RFC 9126). `signed`: in the URL, as a JWT signed by the client's `key_file` or `signing_key` (RFC 9101). `signed_pushed`: both. See [Pushed and signed requests](authorization-requests.md)."
    )

    static let responseType = Setting(
        "response_type", ValueType<ResponseType>.word, defaultDescription: "`code`",
        "What the authorization endpoint returns. `code id_token`: an ID Token with the code, verified before the code is exchanged; the response comes by POST. It needs a nonce."
    )

    /// What it does in sign-ins.
    private static let ofSignIns: [Member<OAuthClient>] = [
        redirectURIs.at(\.redirectURIs), postLogoutRedirectURIs.at(\.postLogoutRedirectURIs), scopes.at(\.scopes),
        senderConstraint.ifSet(\.senderConstraint), proofOrigins.at(\.proofOrigins),
        Member([AuthorizationParameterReader.setting]) { element, client in
            client.authorizationParameters = AuthorizationParameterReader.read(element)
        },
        request.ifSet(\.requestForm),
        Member([]) { element, client in
            element.refuse(
                proofOrigins.name, if: element.source(proofOrigins.name) != nil && client.senderConstraint != .dpop,
                "dpop_origins only has an effect with sender_constraint: dpop; remove it, or set that")
        },
        responseType.at(\.responseType),
    ]

    private static let descriptions =
        [
            id.description, auth.description, secretFile.description, teamID.description, keyID.description,
            keyFile.description, signingKey.description, certificateFile.description, assertionAudience.description,
        ] + ofSignIns.flatMap(\.descriptions)

    static let setting = SettingDescription(
        name: "clients", expected: "a list of mappings; with `issuers: any`, a mapping",
        form: .either(.list(of: .section(descriptions)), .section(NamedClientReader.descriptions)),
        help:
            "The OAuth clients for which Assay exchanges codes, refreshes and revokes tokens, and begins sign-ins in a browser. Turns on `POST /v1/grants/refresh`, `POST /v1/grants/revoke`, `POST /v1/grants/proof` and `POST /v1/sign-outs`."
    )

    /// - Returns: `nil` if there is no list, or an error was reported.
    static func read(_ section: Section, _ provider: ProviderReading) -> [ClientSettings]? {
        let clients = section.mappings(setting.name, expected: "a mapping with id and auth") {
            read(element: $0, provider)
        }
        guard let clients else { return nil }
        var ids: Set<String> = []
        for client in clients.map(\.client) where !ids.insert(client.id).inserted {
            section.refuse(setting.name, "the client \(client.id) is listed twice; list it once")
        }
        return clients
    }

    private static func read(element: Section, _ provider: ProviderReading) -> ClientSettings? {
        let id = id.read(element)
        let method = auth.read(element)
        var client = OAuthClient(id: id ?? "")
        for member in ofSignIns { member.read(element, &client, nil) }
        let isSigned = client.requestForm?.isSigned == true
        checkNonce(client.responseType, element, provider.policy)
        element.require([Self.id.name, auth.name], "a client needs id and auth")
        if provider.introspection != nil {
            var names = [redirectURIs.name, postLogoutRedirectURIs.name, scopes.name, senderConstraint.name]
            // No parameters, and the usual type, say nothing of sign-ins.
            if !client.authorizationParameters.isEmpty { names.append(AuthorizationParameterReader.setting.name) }
            names.append(request.name)
            if client.responseType != .code { names.append(responseType.name) }
            element.refuse(names, "is only for sign-ins, which tokens: opaque has none of; remove it")
        } else if let id, !provider.policy.audiences.contains(id) {
            element.refuse("id", "\(id) is not one of the provider's audiences; add it to them, or correct it")
        }
        element.refuse(
            request.name, if: isSigned && provider.policy.hasTemplateIssuer,
            "the issuer differs by tenant, so it can't be the audience of a signed request; set request: plain or pushed"
        )
        let authentication = authentication(method, signsRequests: isSigned, element, provider)
        element.finish()
        guard let id, let authentication else { return nil }
        element.recordLines([secretFile, keyFile, certificateFile].map(\.name), ofElement: id)
        client.signingKey = signingKey.read(element)
        if case .certificate = authentication {
            client.hasCertificate = true
        } else if client.senderConstraint == .certificate {
            element.refuse(
                senderConstraint.name,
                "sender_constraint: certificate needs auth: tls_client_auth, whose certificate it is; set that, or sender_constraint: dpop"
            )
        }
        var settings = ClientSettings(client: client, authentication: authentication)
        if let profile = provider.profile { ProfileReader.apply(profile, to: &settings, element, provider) }
        return settings
    }

    static func checkNonce(_ type: ResponseType, _ section: Section, _ policy: ProviderPolicy) {
        section.refuse(
            responseType.name, if: type.hasIDToken && !policy.nonce.isChecked,
            "response_type: code id_token needs a nonce, which the provider's nonce.check: off leaves out; check nonces, or set response_type: code"
        )
    }

    /// - Parameter method: `nil` if it is unknown. The other members are then read, but not compared with it.
    private static func authentication(
        _ method: Method?, signsRequests: Bool, _ element: Section, _ provider: ProviderReading
    ) -> ClientSettings.Authentication? {
        let texts = Dictionary(
            uniqueKeysWithValues: [secretFile, teamID, keyID, keyFile, signingKey, certificateFile].map {
                ($0.name, $0.read(element))
            })
        let audience = assertionAudience.read(element)
        guard let method else { return nil }
        for name in texts.keys.sorted() + [assertionAudience.name] {
            let isThere = element.source(name) != nil
            if name == signingKey.name, signsRequests { continue }
            if isThere, !(method.required + method.optional).contains(name) {
                element.refuse(
                    name,
                    "\(name) only has an effect with auth: \(Method.with(name))"
                        + (name == signingKey.name ? ", or with signed requests" : "") + "; remove it")
            } else if !isThere, method.required.contains(name) {
                element.refuseMissing(name, "auth: \(method.rawValue) needs \(name)")
            }
        }
        func text(_ setting: Setting<String>) -> String? { texts[setting.name].flatMap(\.self) }
        switch method {
        case .none: return ClientSettings.Authentication.none
        case .tlsClientAuth:
            guard let certificate = text(certificateFile), let keyFile = text(keyFile) else { return nil }
            return .certificate(file: certificate, keyFile: keyFile)
        case .clientSecretBasic, .clientSecretPost:
            return text(secretFile).map { .secret(file: $0, sentIn: method == .clientSecretBasic ? .basic : .post) }
        case .apple:
            for setting in [teamID, keyID] {
                guard let text = text(setting), !AppleClientKey.isIdentifier(text) else { continue }
                let parts = text.split { !$0.isLetter && !$0.isNumber }.map(String.init)
                let meant = parts.filter(AppleClientKey.isIdentifier)
                element.refuse(
                    setting.name,
                    "\(setting.name) must be ten capital letters and digits, as Apple shows it; found \(ErrorValueText.of(text))"
                        + (meant.count == 1 ? "; did you mean \(meant[0])?" : ""))
            }
            guard let teamID = text(teamID), let keyID = text(keyID), let keyFile = text(keyFile) else { return nil }
            return .apple(teamID: teamID, keyID: keyID, keyFile: keyFile)
        case .privateKeyJWT:
            guard let keyFile = text(keyFile) else { return ownKey(text(signingKey), element, provider) }
            element.refuseMissing(
                Self.keyID.name, if: text(Self.keyID) == nil, "auth: private_key_jwt with key_file needs key_id")
            element.refuse(
                signingKey.name, if: text(signingKey) != nil,
                "the client has a key_file, so signing_key has no effect; remove one of them")
            guard let keyID = text(keyID),
                let audience = assertionText(audience ?? provider.usualAudience, element, provider)
            else { return nil }
            return .privateKeyJWT(
                keyID: keyID, keyFile: keyFile, certificateFile: text(certificateFile), audience: audience)
        }
    }

    /// A client that signs with a key of `client_keys`, which serves other clients too: only the issuer as the audience
    /// tells their assertions apart.
    private static func ownKey(
        _ name: String?, _ element: Section, _ provider: ProviderReading
    ) -> ClientSettings.Authentication? {
        for setting in [keyID, certificateFile] where element.source(setting.name) != nil {
            element.refuse(
                setting.name,
                "auth: private_key_jwt with \(setting.name) needs key_file; set it, or remove \(setting.name)")
        }
        element.refuse(
            assertionAudience.name,
            if: element.scalarText(assertionAudience.name) == AssertionAudience.tokenEndpoint.rawValue,
            "assertion_audience: token_endpoint needs a key_file, because the keys of client_keys serve other clients too; set it"
        )
        guard !provider.policy.hasTemplateIssuer else {
            element.refuse(
                auth.name,
                "auth: private_key_jwt needs key_id and key_file for this provider: its issuer differs by tenant, so it can't be the audience of an assertion"
            )
            return nil
        }
        return .signingKey(id: name, audience: provider.policy.issuer)
    }

    private static func assertionText(
        _ audience: AssertionAudience, _ element: Section, _ provider: ProviderReading
    ) -> String? {
        switch audience {
        case .issuer:
            guard !provider.policy.hasTemplateIssuer else {
                element.refuse(
                    assertionAudience.name,
                    "the issuer differs by tenant, so it can't be the audience of an assertion; set assertion_audience: token_endpoint"
                )
                return nil
            }
            return provider.policy.issuer
        case .tokenEndpoint:
            // Never a discovered one: whoever can change the document could collect assertions for another server.
            guard let token = provider.endpoints.token else {
                element.refuse(
                    assertionAudience.name, "assertion_audience: token_endpoint needs endpoints.token; set it")
                return nil
            }
            return token
        }
    }
}

/// Reads a client's `authorization_parameters`.
enum AuthorizationParameterReader {
    static let setting = SettingDescription(
        name: "authorization_parameters", expected: "a mapping of names to strings",
        form: .mapping(of: .either(.text(), .boolean)),
        help:
            "Additional parameters of the authorization URL, such as `{ access_type: offline }` for Google's refresh tokens. `claims` is a JSON object, and `authorization_details` a JSON array (RFC 9396), in quotes. Parameters that Assay sets itself are refused.",
        defaultDescription: "none")

    /// - Returns: in the order of the settings.
    static func read(_ element: Section) -> [AuthorizationParameter] {
        element.namedTexts(setting.name).compactMap { name, values in
            guard !AuthorizationParameter.reserved.contains(name) else {
                element.refuse(setting.name, "\(name) is set by Assay or by the request; remove it")
                return nil
            }
            guard values.count == 1, !name.isEmpty, name.utf8.allSatisfy(\.isVisibleASCII) else {
                element.refuse(setting.name, "\(name) must be a parameter's name, with one value")
                return nil
            }
            let parameter = AuthorizationParameter(name: name, value: values[0])
            if parameter.isJSON, !isStructure(parameter) {
                let isList = name == AuthorizationParameter.list
                element.refuse(
                    setting.name,
                    "\(name) must be a JSON \(isList ? "array (RFC 9396, section 2)" : "object (OpenID Connect Core 1.0, section 5.5)") in quotes; found \(ErrorValueText.of(values[0]))"
                )
            }
            return parameter
        }
    }

    private static func isStructure(_ parameter: AuthorizationParameter) -> Bool {
        let text = "{\"value\":" + parameter.value + "}"
        guard let members = (try? JSONTree(readingObject: Array(text.utf8)))?.object, members.count == 1 else {
            return false
        }
        return parameter.name == AuthorizationParameter.list
            ? members["value"]?.array != nil : members["value"]?.object != nil
    }
}
