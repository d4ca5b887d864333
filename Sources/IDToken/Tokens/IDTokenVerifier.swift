public import JOSE

/// Verifies ID Tokens: the whole of OpenID Connect Core 3.1.3.7, without I/O and without a clock.
///
/// Not `Sendable`: make one for each thread and keep it, or use ``ProviderVerifier``, which threads share.
///
/// ```swift
/// let policy = ProviderPreset.apple.policy(id: "apple", audiences: ["com.example.app"])
/// let verifier = try IDTokenVerifier()
/// let token = try verifier.read(text)
/// var signIn = VerificationParameters()
/// signIn.nonce = rawNonce
/// let verified = try verifier.verify(token, with: keys, under: policy, expecting: signIn, now: now)
/// print(verified.identity.subject)
/// ```
public final class IDTokenVerifier {
    package let jwsVerifier: JWSVerifier
    /// The length of the longest token that is read, in bytes.
    package let maximumTokenLength: Int

    /// - Parameters:
    ///   - signatureCacheCapacity: how many valid signatures to remember, so that the signature of a repeated token is
    ///     not verified again; 0 disables the cache. All other checks are made every time.
    ///   - maximumTokenLength: the length of the longest token that is read, in bytes.
    /// - Throws: ``Rejection/cryptographyUnavailable`` when out of memory.
    public init(
        signatureCacheCapacity: Int = 0, maximumTokenLength: Int = UnverifiedToken.maximumLength
    ) throws(Rejection) {
        self.maximumTokenLength = maximumTokenLength
        do throws(JWSError) {
            jwsVerifier = try JWSVerifier(signatureCacheCapacity: signatureCacheCapacity)
        } catch {
            throw Rejection(error)
        }
    }

    /// Reads a token without verifying anything; see ``UnverifiedToken/init(_:)``.
    ///
    /// - Throws: ``Rejection/tokenMalformed(_:)``.
    public func read(_ text: ArraySlice<UInt8>) throws(Rejection) -> UnverifiedToken {
        try UnverifiedToken(text, upTo: maximumTokenLength, headerCache: jwsVerifier.headerCache)
    }

    /// Reads a token of another maximum length, in bytes.
    ///
    /// - Throws: ``Rejection/tokenMalformed(_:)``.
    package func read(_ text: ArraySlice<UInt8>, upTo limit: Int) throws(Rejection) -> UnverifiedToken {
        try UnverifiedToken(text, upTo: limit, headerCache: jwsVerifier.headerCache)
    }

    /// Verifies a token: header, algorithm, key, signature, then every claim. Throws at the first check that fails.
    ///
    /// - Parameters:
    ///   - token: a token that ``read(_:)`` has read.
    ///   - keys: the provider's keys.
    ///   - algorithms: the algorithms that the provider may sign with, unless the policy lists its own.
    ///   - policy: what the provider's tokens must satisfy.
    ///   - parameters: what the relying party knows about this sign-in.
    ///   - now: the current time, for checks of the token's times.
    /// - Throws: ``Rejection``.
    /// - Source: OpenID Connect Core 1.0, 3.1.3.7; RFC 8725.
    public func verify(
        _ token: UnverifiedToken, with keys: JWKSet, algorithms: SignatureAlgorithms = .all,
        under policy: ProviderPolicy, expecting parameters: VerificationParameters, now: UnixTime
    ) throws(Rejection) -> VerifiedIDToken {
        try runChecks(
            on: token, with: keys, algorithms: algorithms, under: policy, expecting: parameters, now: now,
            watchedBy: FirstFailure()
        ).verified()
    }

    /// Runs the checks that need no keys: the header, and the algorithm if the policy lists its own.
    ///
    /// - Throws: ``Rejection/headerUnsupported``, ``Rejection/algorithmNotAllowed``.
    public func checkHeader(_ token: UnverifiedToken, under policy: ProviderPolicy) throws(Rejection) {
        _ = try jwsVerifier.runHeaderChecks(
            on: token, allowing: policy.algorithms ?? .all, type: checkTokenType, watchedBy: FirstFailure())
    }
}

/// An ID Token that passed every check. Only ``IDTokenVerifier`` creates one.
public final class VerifiedIDToken: Sendable {
    /// The user who signed in.
    public let identity: Identity
    /// `aud`; empty only for providers whose tokens are checked by `azp` instead.
    public let audiences: [String]
    /// `azp`.
    public let authorizedParty: String?
    /// `iat`, in whole seconds.
    public let issuedAt: UnixTime
    /// `exp`.
    public let expiresAt: UnixTime
    /// `nbf`.
    public let notBefore: UnixTime?
    /// `auth_time`.
    public let authTime: UnixTime?
    /// `jti`.
    public let tokenID: String?
    /// `sid`.
    public let sessionID: String?
    /// `acr`.
    public let authenticationContextClass: String?
    /// `amr`; empty if the token has none.
    public let authenticationMethods: [String]
    /// The signature algorithm.
    public let algorithm: SignatureAlgorithm
    /// The header's `kid`.
    public let keyID: String?
    /// How the nonce matched; `nil` if none was compared.
    public let nonceMatch: NonceMatch?
    /// The verified payload as JSON text, byte for byte.
    public let claimsText: ArraySlice<UInt8>

    init(
        identity: Identity, audiences: [String], authorizedParty: String?, expiresAt: UnixTime, notBefore: UnixTime?,
        issuedAt: UnixTime, authTime: UnixTime?, claims: Claims, jws: VerifiedJWS, nonceMatch: NonceMatch?
    ) {
        self.identity = identity
        self.audiences = audiences
        self.authorizedParty = authorizedParty
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.notBefore = notBefore
        self.authTime = authTime
        (tokenID, sessionID, authenticationContextClass, authenticationMethods) = claims.session
        algorithm = jws.algorithm
        keyID = jws.header.keyID
        self.nonceMatch = nonceMatch
        claimsText = jws.payload[...]
    }
}
