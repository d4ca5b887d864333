public import IDToken
public import JOSE
internal import OpenSSL

/// Describes the checks of one verification: what each one compared, and why it failed.
///
/// It decides nothing: the verifier determines which checks fail. To diagnose a failure, it repeats a check with a
/// likely mistake undone.
struct CheckDescriptions {
    let token: UnverifiedToken
    let kind: ExpectedKind
    let policy: ProviderPolicy
    var parameters = VerificationParameters()
    /// Whether the provider's nonces are single-use.
    var usesNoncesOnce = false
    /// Whether the provider's keys are fetched only for tokens that could pass.
    let fetchesLazily: Bool
    let keys: ExplainedKeys?
    /// The policies of all other configured providers.
    let others: [ProviderPolicy]
    /// The provider that verifies access tokens from the token's issuer.
    var accessTokens: AccessTokenEntry?
    let now: UnixTime
    let checker: SignatureChecker
    /// The signature that was verified; `nil` if none was.
    var jws: VerifiedJWS?
    /// How the nonce matched; `nil` if it did not.
    var nonceMatch: NonceMatch?

    var claims: Claims { token.claims }

    /// Describes the checks of the verifier's list.
    func checks(_ outcomes: [(name: CheckName, outcome: CheckRecorder.Outcome)]) -> [Check] {
        var checks: [Check] = []
        for (name, outcome) in outcomes {
            if name == .signature {
                // How the key is described depends on whether the algorithm was refused.
                let isRefused = checks.contains { $0.name == .algorithm && $0.refusal != nil }
                checks += keyAndSignature(outcome, isAlgorithmRefused: isRefused)
                continue
            }
            let description: Check =
                switch outcome {
                case .notAsked: .notAsked(name, reasonNotAsked(name), found: hashNotAsked(name))
                case .notReached: .notReached(name, "Not reached: \(reasonNotReached(name)).")
                case .passed: check(name, nil)
                case .failed(let rejection): check(name, rejection)
                }
            checks.append(description)
        }
        return checks
    }

    /// Describes a check that ran.
    ///
    /// - Parameter rejection: `nil` if it passed.
    private func check(_ name: CheckName, _ rejection: Rejection?) -> Check {
        let special: Check? =
            switch kind {
            case .idToken: nil
            case .accessToken(let dialect, let scopes): accessTokenCheck(name, rejection, dialect, scopes)
            case .notification(let rules): notificationCheck(name, rejection, rules)
            }
        if let special { return special }
        return switch name {
        case .header: header(rejection)
        case .algorithm: algorithm(rejection)
        case .issuer: issuer(rejection)
        case .keyIssuer: keyIssuer(rejection)
        case .audience: audience(rejection)
        case .authorizedParty: authorizedParty(rejection)
        case .expiry: expiry(rejection)
        case .notBefore: notBefore(rejection)
        case .issuedAt: issuedAt(rejection)
        case .tokenAge: tokenAge(rejection)
        case .authTime: authTime(rejection)
        case .authenticatedAfter: authenticatedAfter(rejection)
        case .subject: subject(rejection)
        case .events: events(rejection)
        case .requiredClaims: requiredClaims(rejection)
        case .claimValues: claimValues(rejection)
        case .serviceAccount: serviceAccount(rejection)
        case .identity: identity(rejection)
        case .nonce: nonce(rejection)
        case .tokenKind: tokenKind(rejection)
        case .atHash: atHash(rejection)
        case .cHash: cHash(rejection)
        case .expectedSubject: expectedSubject(rejection)
        // Not in the verifier's list, or described elsewhere.
        case .tokenForm, .provider, .active, .key, .signature, .signer, .client, .tokenID, .binding, .scopes,
            .policyScopes, .policyClaims, .policyEmail, .policyAge, .policyHeaders:
            made(name, rejection, passed: "The check passed.", failed: Diagnosis("The check failed."))
        }
    }

    /// The description of a check that ran.
    ///
    /// - Parameters:
    ///   - rejection: `nil` if it passed. `passed` then explains why.
    ///   - diagnosis: why it failed, unless the rejection alone explains it.
    func made(
        _ name: CheckName, _ rejection: Rejection?, passed: @autoclosure () -> String,
        failed diagnosis: @autoclosure () -> Diagnosis, expected: String? = nil, found: String? = nil
    ) -> Check {
        guard let rejection else { return .passed(name, passed(), expected: expected, found: found) }
        return .failed(
            name, rejection, Diagnosis(rejection, of: kind, otherwise: diagnosis()), expected: expected, found: found)
    }

    private func reasonNotAsked(_ name: CheckName) -> String {
        switch name {
        case .keyIssuer: "Keys are not restricted by issuer (key_issuers)."
        case .signer: "The provider is not a load balancer (signer)."
        case .issuedAt: "The assertion has no iat, and nothing depends on it."
        case .expiry: "The notification has no exp, and need not have one: its iat limits its age."
        case .nonce: "Apple's notifications are told from ID Tokens by their events."
        case .tokenAge: "The settings don't limit a token's age (max_token_age)."
        case .requiredClaims: "The settings require no additional claims (required_claims)."
        case .claimValues: "The settings don't restrict the values of claims (claim_values)."
        case .serviceAccount: "Service accounts are not refused (service_accounts)."
        case .tokenKind where !policy.refusesAccessTokens:
            "Access tokens are not detected (refuse_access_tokens: false)."
        case .tokenKind: "The token has a nonce, and access tokens have none."
        case .atHash: "The request has no access_token."
        case .cHash: "The request has no code."
        case .authenticatedAfter: "The request has no authenticated_after."
        case .expectedSubject: "The request has no subject."
        default: "Neither the settings nor the request enable it."
        }
    }

    /// The text after "Not reached: ".
    func reasonNotReached(_ name: CheckName) -> String {
        switch name {
        case .algorithm: "the header is not supported"
        case .key where token.jws.header.hasUnsupportedParameter: "the header is not supported"
        case .key: "there is no algorithm with which to choose a key"
        case .signer: "the provider is not a load balancer"
        case .keyIssuer: "no key is known to have signed the token"
        case .tokenAge, .authenticatedAfter: "the token's iat can't be read"
        case .expectedSubject: "the identity in the token can't be read"
        case .subject: "the events can't be read"
        case .authTime: "the token has neither auth_time nor an iat that can be read"
        case .atHash, .cHash: "the hash function depends on the token's algorithm"
        default: "it depends on an earlier check that failed"
        }
    }

    /// Whether a token without a nonce is an ID Token rather than an access token.
    func tokenKind(_ rejection: Rejection?) -> Check {
        let suspicious = TokenKind.accessTokenClaims.filter(claims.contains).map(\.string)
        let found = suspicious.isEmpty ? nil : suspicious.joined(separator: ", ")
        let markers = TokenKind.idTokenClaims.map(\.string).joined(separator: ", ")
        return .checked(
            .tokenKind, rejection, passed: "The token does not look like an access token.",
            failed: Diagnosis(
                """
                The token is probably an access token: it has \(suspicious.joined(separator: " and ")), but no nonce \
                and none of \(markers).
                """,
                fix: """
                    Send the id_token of the provider's response, not the access_token. If this is the id_token, use a \
                    nonce, or set refuse_access_tokens: false for the provider \(policy.id).
                    """),
            expected: "none of scope, scp and client_id, or one of \(markers)", found: found)
    }
}

/// A provider's keys, and their origin as far as it is known. An empty ``set`` means that there are none.
public struct ExplainedKeys: Sendable {
    public var set: JWKSet
    /// The algorithms that the provider may sign with, unless the policy lists its own.
    public var algorithms: SignatureAlgorithms
    /// When they were fetched, by this machine's clock.
    public var fetchedAt: UnixTime?
    public var nextFetchAt: UnixTime?
    /// The minimum number of seconds by which the provider's clock was ahead of this machine's when the keys were
    /// fetched; `nil` if the response had no date.
    public var clockOffsetSeconds: Int64?
    /// Why the last fetch failed; `nil` if it did not.
    public var fetchFailure: String?
    /// What to do about ``fetchFailure``.
    package var fetchAdvice: String?
    /// Whether a fetch was needed to find the token's key, and failed.
    public var isMissingKey: Bool

    public init(
        set: JWKSet, algorithms: SignatureAlgorithms = .all, fetchedAt: UnixTime? = nil,
        nextFetchAt: UnixTime? = nil, clockOffsetSeconds: Int64? = nil, fetchFailure: String? = nil,
        isMissingKey: Bool = false
    ) {
        self.set = set
        self.algorithms = algorithms
        self.fetchedAt = fetchedAt
        self.nextFetchAt = nextFetchAt
        self.clockOffsetSeconds = clockOffsetSeconds
        self.fetchFailure = fetchFailure
        self.isMissingKey = isMissingKey
    }
}

extension ProviderPolicy {
    /// Whose audiences a token's are compared with.
    var audienceOwner: String {
        switch origin {
        case .entry: "the provider \(id)"
        case .line: "this issuer's line of the provider \(id)"
        case .connection: "the request's connection"
        }
    }

    /// Where they are written.
    var audiencePlace: String {
        switch origin {
        case .entry: "the audiences of the provider \(id)"
        case .line: "this issuer's line in the issuers_file of the provider \(id)"
        case .connection: "the audience of the request's connection"
        }
    }

    /// How to accept an audience that is one's own: the end of a sentence.
    var audienceAdvice: String {
        origin == .connection ? "correct \(audiencePlace)" : "add it to \(audiencePlace)"
    }
}
