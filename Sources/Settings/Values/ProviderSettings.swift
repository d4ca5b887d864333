package import HTTP
package import IDToken
package import Keys
package import OAuth
package import Verification

/// One provider's validated settings: the rules for its tokens, and the location of its keys.
package struct ProviderSettings: Sendable, Equatable {
    package var policy: ProviderPolicy
    /// The name of its preset.
    package var preset = ProviderPreset.oidc.name
    /// How its access tokens are recognized and read; `nil` if its ID Tokens are verified.
    package var accessTokens: AccessTokenDialect?
    /// How it is asked about its access tokens, which are opaque; `nil` if its tokens are JWTs.
    package var introspection: IntrospectionRules?
    /// Whether the service can be ready without its keys.
    package var isOptional = false
    /// Whether nonces are single-use.
    package var usesNoncesOnce = false
    /// `nil` if no notifications are accepted.
    package var notifications: NotificationRules?
    /// `nil` if no encrypted tokens are opened.
    package var encryption: EncryptionRules?
    package var keys: KeyLocation
    /// `nil` if the entry has one issuer.
    package var issuers: EntryIssuers?
    /// The file that ``issuers`` are from.
    package var issuersFile: IssuersFile?
    /// The most issuers whose keys are kept.
    package var maximumIssuers = 0
    /// How many issuers of an entry with many may keep their keys; 0 for one with one.
    var maximumIssuersInUse: Int { min(issuers?.list?.count ?? maximumIssuers, maximumIssuers) }
    /// The network rules of key fetches and of calls to endpoints.
    package var network = NetworkRules()
    package var clients: [ClientSettings] = []
    /// What requests may name as their client; `nil` unless the provider has `issuers: any`.
    package var namedClients: NamedClientSettings?
    /// Whether the provider's endpoints are called.
    package var hasClients: Bool { !clients.isEmpty || namedClients != nil }
    /// Those of all its clients. With clients that requests name, each stands for one of every connection.
    var redirectURIs: Set<String> {
        Set(clients.flatMap(\.client.redirectURIs) + (namedClients?.rules.redirectURIs ?? []))
    }
    /// Whether the process holds clients' secrets or keys: from files, or from requests.
    package var handlesSecrets: Bool { namedClients != nil || clients.contains { $0.authentication != .none } }
    /// The maximum number of calls in flight.
    package var maximumCalls = ProviderSettings.defaultMaximumCalls
    /// How many idle connections to keep. Those of an entry with `issuers: any` lead to as many hosts as it has issuers.
    package var keptConnections: Int {
        namedClients == nil ? maximumCalls : min(maximumCalls, CallSlots.keptConnectionsOfOpenEntry)
    }
    package var endpoints = ProviderEndpoints()
    package var quirks: Set<ProviderQuirk> = []
    package var usesPKCE = true
    package var allowsUnboundCodes = false
    package var userInfo: UserInfoUse?
    /// Whether the preset rules out sign-ins in a browser.
    package var refusesBrowserSignIns = false
    /// Whether the preset refuses tokens that look like access tokens.
    var presetRefusesAccessTokens = false

    static let defaultMaximumCalls = 64

    package init(policy: ProviderPolicy, keys: KeyLocation) {
        self.policy = policy
        self.keys = keys
    }

    /// Whether the provider may sign access tokens with the relying party's own audience. `false` only for providers
    /// that are known not to.
    private var mayMeetAccessTokens: Bool {
        accessTokens == nil && (presetRefusesAccessTokens || policy.refusesAccessTokens)
    }

    /// Whether every token must have a claim that access tokens lack.
    private var requiresClaimsOfIDTokens: Bool {
        let kinds = ["typ", "token_use"].map(ClaimPath.init)
        return policy.requiredClaims.contains(where: TokenKind.idTokenClaims.contains)
            || policy.claimRules.contains { $0.kind == .oneOf && kinds.contains($0.claim) }
    }

    /// Whether an access token could pass as an ID Token in a verification that compares nonces.
    private var couldMistakeAccessTokens: Bool {
        mayMeetAccessTokens && !policy.nonce.isRequired && !requiresClaimsOfIDTokens
            && !policy.requiredClaims.contains(ClaimName("nonce"))
    }

    /// Whether an access token could pass as an ID Token in a gateway's request, which has no nonce to compare.
    var couldMistakeAccessTokensForGateways: Bool {
        mayMeetAccessTokens && !requiresClaimsOfIDTokens
    }

    /// The claims of ID Tokens that access tokens lack, as text for warnings.
    static let claimsOfIDTokens = TokenKind.idTokenClaims.map(\.string).joined(separator: ", ")

    var warnings: [String] {
        var warnings: [String] = []
        func warn(if isRisky: Bool = true, _ text: @autoclosure () -> String) {
            if isRisky { warnings.append("provider \(policy.id): \(text())") }
        }
        warn(
            if: policy.audiences.contains(ProviderPolicy.expoGoAudience),
            "\(ProviderPolicy.expoGoAudience) is the audience of every app in Expo Go, so other people's apps could sign users in to yours; remove it from audiences in production"
        )
        warn(
            if: accessTokens?.acceptsUncheckedBindings == true,
            "access tokens that are bound to a key pass without it, so a stolen one can be used (unchecked_bindings)")
        warn(if: network.allowHTTP, "keys may be fetched without TLS (allow_http)")
        warn(
            if: network.allowHTTP && hasClients,
            "client credentials, codes and tokens may be sent to its endpoints without TLS, and be read on the network (allow_http)"
        )
        warn(if: network.allowPrivateAddresses, "keys may be fetched from private addresses (allow_private_addresses)")
        warn(
            if: network.allowedAddresses.contains(where: \.isEverything),
            "allow_addresses allows all IPv4 or all IPv6 addresses")
        warn(
            if: policy.nonce.accepted.contains(.plain) && policy.nonce.accepted.count > 1,
            "nonce.match has plain in addition to a hash: an attacker who has only the token could send its nonce claim as the nonce; remove plain"
        )
        warn(if: !policy.nonce.isChecked, "nonces are not checked (nonce.check: off)")
        for uri in redirectURIs.sorted() where uri.isUnencryptedAddress {
            warn("\(uri) is not https: codes can be read on the network; use https")
        }
        warn(
            if: allowsUnboundCodes && !usesPKCE && !policy.nonce.isChecked,
            "neither PKCE nor a nonce ties a code to its sign-in (allow_unbound_codes): an attacker can sign a user in to another account"
        )
        for audience in policy.audiences {
            guard let advice = ProviderPreset.named(preset)?.adviceOnAudience(audience) else { continue }
            warn("audience \(audience): \(advice)")
        }
        warn(
            if: couldMistakeAccessTokens,
            "an access token could pass as an ID Token; require a nonce (nonce.required: true), or a claim that only ID Tokens have (required_claims: one of \(Self.claimsOfIDTokens))"
        )
        return warnings
    }
}

extension String {
    /// Whether the text is an http URL of another machine.
    var isUnencryptedAddress: Bool {
        let text = lowercased()
        guard text.hasPrefix("http://") else { return false }
        let authority = text.dropFirst("http://".count).prefix { !"/?".contains($0) }
        let local = ["localhost", "127.0.0.1", "[::1]"]
        return !local.contains { authority == $0 || authority.hasPrefix($0 + ":") }
    }
}

extension KeyLocation {
    /// The location in a discovery document.
    ///
    /// - Parameters:
    ///   - url: `nil`: below the issuer.
    ///   - kind: which document; `nil`: for access tokens, whichever there is.
    ///   - issuer: the document's issuer, if it differs from the tokens'.
    ///   - isOfAccessTokens: whether the keys are for access tokens.
    package static func discovery(
        of policy: ProviderPolicy, url: String? = nil, _ kind: DiscoveryDocument? = nil, issuer: String? = nil,
        fallbackFile: String? = nil, isOfAccessTokens: Bool = false
    ) -> KeyLocation {
        let rules = DiscoveryRules(
            kind, isOfAccessTokens: isOfAccessTokens, namesAlgorithms: policy.algorithms != nil)
        let location =
            if let url {
                Network.discovery(
                    address: url, issuer: issuer ?? policy.issuer, readsAlgorithms: rules.readsAlgorithms)
            } else {
                rules.location(ofIssuer: policy.issuer, documentIssuer: issuer)
            }
        return .network(location, fallbackFile: fallbackFile)
    }
}

/// A file with a list of issuers, as it was read.
package struct IssuersFile: Sendable, Equatable {
    package let path: String
    package let version: SmallFile.Version

    /// What it holds is compared as the list.
    package static func == (left: IssuersFile, right: IssuersFile) -> Bool { left.path == right.path }
}

/// A client's validated settings.
package struct ClientSettings: Sendable, Equatable {
    package var client: OAuthClient
    package var authentication: Authentication

    /// Whether a key of `client_keys` signs for it.
    package var needsOwnKey: Bool {
        switch authentication {
        case .signingKey: true
        case .privateKeyJWT: false
        case .secret, .apple, .certificate, .none: client.requestForm?.isSigned == true
        }
    }

    /// How the client authenticates to the provider.
    package enum Authentication: Sendable, Equatable {
        case secret(file: String, sentIn: ClientCredential.SecretPlace)
        case apple(teamID: String, keyID: String, keyFile: String)
        case privateKeyJWT(keyID: String, keyFile: String, certificateFile: String?, audience: String)
        /// By a key of `client_keys`.
        ///
        /// - Parameter id: `nil` for the first that signs.
        case signingKey(id: String?, audience: String)
        /// By the certificate of its connections.
        case certificate(file: String, keyFile: String)
        case none

        /// The files with secrets.
        package var secretFiles: [String] {
            switch self {
            case .secret(let file, _): [file]
            case .apple(_, _, let file), .privateKeyJWT(_, let file, _, _), .certificate(_, let file): [file]
            case .signingKey, .none: []
            }
        }
    }
}

/// The validated settings of clients that requests name.
package struct NamedClientSettings: Sendable, Equatable {
    package var rules: NamedClientRules
    /// The key that signs their assertions; `nil` without `private_key_jwt`.
    package var key: Key?

    package struct Key: Sendable, Equatable {
        package let id: String
        package let file: String
    }
}

extension ProviderSettings {
    /// Whether keys that were fetched under the other settings remain valid: they come from the same place, and can be
    /// trusted alike, whatever else differs.
    package func sharesKeys(with other: ProviderSettings) -> Bool {
        policy.id == other.policy.id && policy.issuer == other.policy.issuer && keys == other.keys
            && network == other.network && needsEndpoint == other.needsEndpoint
    }

    /// `nil` if its keys are always needed; otherwise whether its endpoint must be discovered.
    private var needsEndpoint: Bool? { introspection.map { $0.endpoint == nil } }
}
