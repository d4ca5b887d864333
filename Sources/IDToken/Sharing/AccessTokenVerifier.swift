public import JOSE

/// Verifies the JWT access tokens of one provider, from any thread or task.
///
/// Make one for each provider, and share it. Besides what a token is, a request may need scopes, and a token that is bound
/// to a key needs the proof that the sender has it:
///
/// ```swift
/// guard
///     let policy = ProviderPreset.oidc.accessTokenPolicy(
///         id: "sso", issuer: "https://sso.example", audiences: ["https://api.example.com"])
/// else { throw Unsupported() }
/// let verifier = try AccessTokenVerifier(policy)
/// let verified = try verifier.verify(
///     token, with: keys, expecting: AccessTokenParameters(scopes: ["orders:read"]), now: now)
/// print(verified.identity.subject, verified.authorization.scopes)
/// ```
///
/// It does no I/O and reads no clock.
public final class AccessTokenVerifier: SharedVerifier {
    /// The rules for the provider's access tokens.
    public let policy: AccessTokenPolicy
    package let verifiers: VerifierPool
    package var provider: ProviderPolicy { policy.provider }

    /// - Parameters:
    ///   - policy: what the tokens must satisfy; see ``ProviderPreset/accessTokenPolicy(id:issuer:audiences:arguments:)``.
    ///   - signatureCacheCapacity: how many valid signatures to remember for each verification that runs at the same
    ///     time, so that the signature of a repeated token is not verified again; 0 disables the cache. All other
    ///     checks are made every time.
    ///   - maximumTokenLength: the length of the longest token that is read, in bytes.
    /// - Throws: ``Rejection/cryptographyUnavailable`` when out of memory.
    public init(
        _ policy: AccessTokenPolicy, signatureCacheCapacity: Int = 0,
        maximumTokenLength: Int = UnverifiedToken.maximumLength
    ) throws(Rejection) {
        self.policy = policy
        verifiers = try VerifierPool(
            signatureCacheCapacity: signatureCacheCapacity, maximumTokenLength: maximumTokenLength)
    }

    /// Verifies a token: its form, header, algorithm, key, signature, then every claim, its binding and its scopes. Throws
    /// at the first check that fails.
    ///
    /// The policy's audiences are the API's own identifiers, and its authorized parties are clients.
    ///
    /// - Parameters:
    ///   - token: the token as it was received.
    ///   - keys: the provider's keys.
    ///   - algorithms: the algorithms that the provider may sign with, unless the policy lists its own.
    ///   - parameters: what the request needs, and what it has besides the token.
    ///   - now: the current time, for checks of the times in the token and in its proof.
    /// - Throws: ``Rejection``.
    /// - Source: RFC 9068, section 4; RFC 9449, section 7.1; RFC 8705, section 3.
    public func verify(
        _ token: String, with keys: JWKSet, algorithms: SignatureAlgorithms = .all,
        expecting parameters: AccessTokenParameters = AccessTokenParameters(), now: UnixTime
    ) throws(Rejection) -> VerifiedAccessToken {
        try verify(text: token, with: keys, algorithms: algorithms, expecting: parameters, now: now)
    }

    package func read(_ text: ArraySlice<UInt8>, by verifier: IDTokenVerifier) throws(Rejection) -> UnverifiedToken {
        guard policy.dialect.loadBalancer == nil else {
            return try UnverifiedToken(padded: text, upTo: verifier.maximumTokenLength)
        }
        return try verifier.read(text)
    }

    package func verify(
        _ token: UnverifiedToken, with keys: JWKSet, algorithms: SignatureAlgorithms,
        expecting parameters: AccessTokenParameters, now: UnixTime, by verifier: IDTokenVerifier
    ) throws(Rejection) -> VerifiedAccessToken {
        try verifier.jwsVerifier.verifyAccessToken(
            token, with: keys, algorithms: algorithms, under: policy.provider, policy.dialect, expecting: parameters,
            now: now)
    }

    package func checkHeader(_ token: UnverifiedToken, by verifier: IDTokenVerifier) throws(Rejection) {
        try verifier.jwsVerifier.checkAccessTokenHeader(
            token, allowing: policy.provider.algorithms ?? .all, policy.dialect)
    }

    package func checkClaims(_ token: UnverifiedToken, now: UnixTime) throws(Rejection) {
        try token.checkClaims(ofAccessTokenUnder: policy.provider, policy.dialect, now: now)
    }
}

/// An API's rules for the JWT access tokens of one provider.
public struct AccessTokenPolicy: Sendable, Equatable {
    /// Issuer, audiences and claims. The audiences are the API's own identifiers, and the authorized parties are the
    /// clients whose tokens are accepted, unless there are none.
    public var provider: ProviderPolicy
    /// How the tokens are recognized and read.
    package var dialect: AccessTokenDialect

    /// The key that every token must be bound to; `nil`: tokens may be bound to none.
    public var requiredBinding: RequiredBinding? {
        get { dialect.requiredBinding }
        set { dialect.requiredBinding = newValue }
    }

    /// Whether a token that is bound to its client's key is accepted although nothing proves that the sender has the key.
    /// A stolen token is then as good as any other.
    public var acceptsUncheckedBindings: Bool {
        get { dialect.acceptsUncheckedBindings }
        set { dialect.acceptsUncheckedBindings = newValue }
    }
}

extension ProviderPreset {
    /// The policy of an API that adds its identifiers and changes nothing else.
    ///
    /// - Parameters:
    ///   - id: the API's own name for the provider.
    ///   - issuer: if given, replaces the preset's issuer.
    ///   - audiences: the API's identifiers, as the provider writes them into `aud`.
    ///   - arguments: values for the preset's ``parameters``. If one is missing, the policy rejects every token.
    /// - Returns: `nil` if the provider's access tokens can't be verified; ``ProviderFacts/accessTokens`` says why.
    public func accessTokenPolicy(
        id: String, issuer: String? = nil, audiences: [String], arguments: PresetArguments = PresetArguments()
    ) -> AccessTokenPolicy? {
        let facts = facts(arguments)
        guard let dialect = facts.accessTokens.dialect else { return nil }
        var policy = facts.ofAccessTokens(dialect).policy
        policy.id = id
        policy.audiences = audiences
        if let issuer { policy.issuer = issuer }
        return AccessTokenPolicy(provider: policy, dialect: dialect)
    }
}
