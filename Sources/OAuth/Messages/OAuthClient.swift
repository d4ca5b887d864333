private import Bytes
package import HTTP
package import IDToken
package import OpenSSL

/// A client that is registered with a provider.
package struct OAuthClient: Sendable, Equatable {
    package let id: String
    /// Compared byte for byte.
    package var redirectURIs: [String] = []
    /// Where the browser may come back to after the user has signed out. Compared byte for byte.
    package var postLogoutRedirectURIs: [String] = []
    /// The scopes to request if a sign-in names none.
    package var scopes: [String] = []
    /// Additional parameters of the authorization URL.
    package var authorizationParameters: [AuthorizationParameter] = []
    package var responseType = ResponseType.code
    /// How its authorization requests are sent; `nil`: as the discovery document requires.
    package var requestForm: AuthorizationRequestForm?
    /// The key of `client_keys` that signs its authorization requests if it has no key of its own; `nil`: the first.
    package var signingKey: String?
    /// `nil`: whoever has a token of the client may use it.
    package var senderConstraint: SenderConstraint?
    /// The origins, such as `https://api.example.com`, for which the backend may get proofs.
    package var proofOrigins: [String] = []
    /// Whether the client authenticates by a certificate.
    package var hasCertificate = false
    /// `nil`: none.
    package var profile: SecurityProfile?

    package init(id: String) { self.id = id }

    package func hasRedirectURI(_ uri: String) -> Bool { redirectURIs.containsExactly(uri) }

    package func hasPostLogoutRedirectURI(_ uri: String) -> Bool { postLogoutRedirectURIs.containsExactly(uri) }
}

/// What ties a client's tokens to it, so that a stolen one is of no use.
package enum SenderConstraint: String, Sendable, CaseIterable {
    /// Proofs by a key of each sign-in (RFC 9449).
    case dpop
    /// The certificate by which the client authenticates (RFC 8705, section 3).
    case certificate
}

/// What the authorization endpoint returns.
package enum ResponseType: String, Sendable, CaseIterable {
    case code
    /// An ID Token too, before the code is exchanged (OpenID Connect Core 1.0, section 3.3).
    case codeAndIDToken = "code id_token"

    package var hasIDToken: Bool { self == .codeAndIDToken }
}

/// A parameter of the authorization URL that Assay does not set itself.
package struct AuthorizationParameter: Sendable, Equatable {
    package let name: String
    package let value: String

    /// Parameters that Assay or a request sets, those that would replace them (OpenID Connect Core 1.0, section 6), and
    /// the client's credentials, which stand beside them in a pushed request (RFC 9126, section 2.1).
    package static let reserved = [
        "response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method",
        "nonce", "response_mode", "max_age", "prompt", "login_hint", "ui_locales", "acr_values", "request",
        "request_uri", "dpop_jkt", "id_token_hint", "client_secret", "client_assertion", "client_assertion_type",
    ]

    /// Parameters that are objects or arrays, which are members of a request object as they are (RFC 9101, section 4).
    private static let object = "claims"
    package static let list = "authorization_details"

    /// Whether the value is well-formed JSON.
    package var isJSON: Bool { name == Self.object || name == Self.list }

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// A provider's clients, and how its endpoints are used.
package struct GrantRules: Sendable, Equatable {
    package var clients: [OAuthClient]
    /// What requests may name as their client; `nil` if the clients are those of the settings.
    package var named: NamedClientRules?
    package var quirks: Set<ProviderQuirk>
    /// Whether authorization requests use PKCE.
    package var usesPKCE = true
    /// Whether a browser sign-in may begin even if neither nonce nor PKCE ties the code to it.
    package var allowsUnboundCodes = false
    /// How identities are completed from the UserInfo endpoint; `nil` if they are not.
    package var userInfo: UserInfoUse?
    /// Whether the ID Tokens of sign-ins in a browser can't be verified.
    package var refusesBrowserSignIns = false

    package init(clients: [OAuthClient], quirks: Set<ProviderQuirk>) {
        self.clients = clients
        self.quirks = quirks
    }

    package func client(_ id: String) -> OAuthClient? { clients.first { $0.id.isExactly(id) } }
}

/// The credential by which a client authenticates to its provider.
package enum ClientCredential: Sendable {
    /// `client_secret_basic` or `client_secret_post`.
    case secret(SecretBytes, sentIn: SecretPlace)
    /// `private_key_jwt`. The thumbprint is the SHA-256 of the certificate in DER, for `x5t#S256`.
    case key(ClientSigningKey, certificateThumbprint: [UInt8]?, audience: String)
    /// `private_key_jwt` by a key of the relying party that serves other clients too.
    ///
    /// - Parameter id: `nil` for the first.
    case ownKey(ClientKeys, id: String?, audience: String)
    /// Apple's client secret, made from a key when needed.
    case apple(AppleClientKey)
    /// `tls_client_auth`: the certificate of the connection (RFC 8705, section 2.1).
    case certificate(TLSIdentity)
    /// A public client.
    case none

    package enum SecretPlace: String, Sendable {
        case basic = "client_secret_basic"
        case post = "client_secret_post"
    }

    /// The credential as an endpoint accepts it: as configured, or else by the first listed method that a secret can be
    /// sent by.
    ///
    /// - Parameter methods: the endpoint's authentication methods (RFC 8414, section 2); `nil` if they are not known.
    func accepted(by methods: [String]?) -> ClientCredential {
        guard case .secret(let secret, _) = self, let other = otherPlace(acceptedBy: methods) else { return self }
        return .secret(secret, sentIn: other)
    }

    /// Where an endpoint with these methods accepts a secret; `nil` if it accepts the configured method, or none that a
    /// secret can be sent by.
    func otherPlace(acceptedBy methods: [String]?) -> SecretPlace? {
        guard case .secret(_, let place) = self, let methods, !methods.contains(place.rawValue) else { return nil }
        return methods.lazy.compactMap(SecretPlace.init).first
    }
}

/// The client that makes a call.
package enum CallingClient: Sendable {
    /// A client of the settings, by its ID.
    case configured(String)
    /// A client that the request names, for an entry with `issuers: any`.
    case named(NamedClient)

    /// `nil` for a client that a request names.
    var configuredID: String? { if case .configured(let id) = self { id } else { nil } }

    /// The issuer that the request names.
    package var issuer: String? {
        switch self {
        case .configured: nil
        case .named(let client): client.issuer
        }
    }
}

/// A client of a customer's provider, as one request names it. Nothing refers to its secret after the request.
package struct NamedClient: Sendable {
    package let id: String
    package let issuer: String
    package let authentication: RequestAuthentication

    package init(id: String, issuer: String, _ authentication: RequestAuthentication) {
        self.id = id
        self.issuer = issuer
        self.authentication = authentication
    }
}

/// How a client that a request names authenticates.
package enum RequestAuthentication: Sendable {
    case secret(SecretBytes, sentIn: ClientCredential.SecretPlace)
    /// `private_key_jwt`, by the key of the settings.
    case key
    case none

    package var method: Method {
        switch self {
        case .secret(_, .basic): .basic
        case .secret(_, .post): .post
        case .key: .key
        case .none: .none
        }
    }

    /// The values of `auth`.
    package enum Method: String, Sendable, CaseIterable {
        case basic = "client_secret_basic"
        case post = "client_secret_post"
        case key = "private_key_jwt"
        case none
    }
}

extension ClientSigningKey {
    /// The credential of a client that a request names. The audience is the issuer alone: the key is the same for all
    /// customers, so one customer's token endpoint must not be able to use an assertion at another's.
    func credential(at issuer: String) -> ClientCredential {
        .key(self, certificateThumbprint: nil, audience: issuer)
    }
}

/// What requests for an entry with `issuers: any` may name as their client.
package struct NamedClientRules: Sendable, Equatable {
    package var methods: [RequestAuthentication.Method]
    /// Each has ``placeholder`` in its path or query, so that each connection has redirect URIs of its own.
    package var redirectURIs: [String]
    /// How authorization requests are sent; `nil`: as each discovery document requires.
    package var requestForm: AuthorizationRequestForm?
    package var responseType = ResponseType.code
    /// Those to which the browser may come back after the user has signed out. They may have ``placeholder``, too.
    package var postLogoutRedirectURIs: [String] = []

    package static let placeholder = "{connection}"

    package init(methods: [RequestAuthentication.Method], redirectURIs: [String]) {
        self.methods = methods
        self.redirectURIs = redirectURIs
    }

    /// Whether a redirect URI is that of some connection.
    package static func isOfConnection(_ uri: String, template: String) -> Bool {
        let parts = template.split(separator: placeholder, omittingEmptySubsequences: false)
        let length = uri.utf8.count - parts.reduce(0) { $0 + $1.utf8.count }
        guard parts.count > 1, length > 0, length.isMultiple(of: parts.count - 1) else { return false }
        let connection = uri.utf8.dropFirst(parts[0].utf8.count).prefix(length / (parts.count - 1))
        return connection.allSatisfy(isPercentEncoded)
            && template.replacing(placeholder, with: String(Substring(connection))).isExactly(uri)
    }

    /// Whether percent-encoding leaves a byte as it is, or makes it.
    private static func isPercentEncoded(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || "-._~%".utf8.contains(byte)
    }

    /// The client of a connection.
    fileprivate func client(_ id: String, ofConnection connection: String) -> OAuthClient {
        var client = OAuthClient(id: id)
        client.requestForm = requestForm
        client.responseType = responseType
        func own(_ uri: String) -> String { uri.replacing(Self.placeholder, with: percentEncoded(connection)) }
        client.redirectURIs = redirectURIs.map(own)
        client.postLogoutRedirectURIs = postLogoutRedirectURIs.map(own)
        return client
    }
}

extension GrantRules {
    /// The rules of one connection, whose only client is the one that requests name; the same rules if the clients are
    /// those of the settings.
    package func ofConnection(_ connection: String, clientID: String) -> GrantRules {
        guard let named else { return self }
        var rules = self
        rules.clients = [named.client(clientID, ofConnection: connection)]
        return rules
    }
}
