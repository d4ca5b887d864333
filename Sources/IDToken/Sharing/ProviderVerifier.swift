public import JOSE
private import Synchronization

/// Verifies the ID Tokens of one provider, from any thread or task.
///
/// Make one for each provider, and share it:
///
/// ```swift
/// let policy = ProviderPreset.apple.policy(
///     id: "apple", issuer: "https://appleid.apple.com", audiences: ["com.example.app"])
/// let verifier = try ProviderVerifier(policy)
/// let verified = try verifier.verify(
///     token, with: keys, expecting: VerificationParameters(nonce: rawNonce), now: now)
/// print(verified.identity.subject)
/// ```
///
/// It does no I/O and reads no clock. A verification doesn't wait for another one: each borrows one of the
/// ``IDTokenVerifier``s that belong to this verifier, and there are as many as verifications have run at the same time.
public final class ProviderVerifier: Sendable {
    /// What the provider's tokens must satisfy.
    public let policy: ProviderPolicy
    private let signatureCacheCapacity: Int
    private let maximumTokenLength: Int
    private let idle: Mutex<[Idle]>

    /// A verifier that nobody uses.
    private struct Idle: @unchecked Sendable {
        // Sendable, because whoever takes it out of `idle` is its only user.
        let verifier: IDTokenVerifier
    }

    /// - Parameters:
    ///   - policy: what the provider's tokens must satisfy; see ``ProviderPreset/policy(id:issuer:audiences:arguments:)``.
    ///   - signatureCacheCapacity: how many valid signatures each ``IDTokenVerifier`` remembers, so that the signature
    ///     of a repeated token is not verified again; 0 disables the cache. All other checks are made every time.
    ///   - maximumTokenLength: the length of the longest token that is read, in bytes.
    /// - Throws: ``Rejection/cryptographyUnavailable`` when out of memory.
    public init(
        _ policy: ProviderPolicy, signatureCacheCapacity: Int = 0,
        maximumTokenLength: Int = UnverifiedToken.maximumLength
    ) throws(Rejection) {
        self.policy = policy
        self.signatureCacheCapacity = signatureCacheCapacity
        self.maximumTokenLength = maximumTokenLength
        idle = Mutex([])
        // Fails here, rather than at the first token.
        try withVerifier { _ in }
    }

    /// Verifies a token: its form, header, algorithm, key, signature, then every claim. Throws at the first check that
    /// fails.
    ///
    /// - Parameters:
    ///   - token: the token as it was received.
    ///   - keys: the provider's keys.
    ///   - algorithms: the algorithms that the provider may sign with, unless the policy lists its own.
    ///   - parameters: what the relying party knows about this sign-in.
    ///   - now: the current time, for checks of the token's times.
    /// - Throws: ``Rejection``.
    /// - Source: OpenID Connect Core 1.0, 3.1.3.7; RFC 8725.
    public func verify(
        _ token: String, with keys: JWKSet, algorithms: SignatureAlgorithms = .all,
        expecting parameters: VerificationParameters = VerificationParameters(), now: UnixTime
    ) throws(Rejection) -> VerifiedIDToken {
        try withVerifier { verifier throws(Rejection) in
            try verifier.verify(
                verifier.read(Array(token.utf8)[...]), with: keys, algorithms: algorithms, under: policy,
                expecting: parameters, now: now)
        }
    }

    /// Verifies a token that was read before, for example to find its provider by
    /// ``UnverifiedToken/unverifiedIssuer``; otherwise like ``verify(_:with:algorithms:expecting:now:)-(String,_,_,_,_)``.
    ///
    /// - Throws: ``Rejection``.
    public func verify(
        _ token: UnverifiedToken, with keys: JWKSet, algorithms: SignatureAlgorithms = .all,
        expecting parameters: VerificationParameters = VerificationParameters(), now: UnixTime
    ) throws(Rejection) -> VerifiedIDToken {
        try withVerifier { verifier throws(Rejection) in
            try verifier.verify(
                token, with: keys, algorithms: algorithms, under: policy, expecting: parameters, now: now)
        }
    }

    /// Reads a token without verifying anything.
    ///
    /// - Throws: ``Rejection/tokenMalformed(_:)``.
    public func read(_ token: String) throws(Rejection) -> UnverifiedToken {
        try withVerifier { verifier throws(Rejection) in try verifier.read(Array(token.utf8)[...]) }
    }

    /// Lends a verifier that nobody else uses at the same time.
    ///
    /// - Throws: ``Rejection/cryptographyUnavailable`` when out of memory; errors of `body`.
    package func withVerifier<Result>(
        _ body: (IDTokenVerifier) throws(Rejection) -> Result
    ) throws(Rejection) -> Result {
        // The last one that was returned: its OpenSSL contexts for the provider's keys exist.
        let lent = if let last = idle.withLock({ $0.popLast() }) { last } else { try makeIdle() }
        defer { idle.withLock { $0.append(lent) } }
        return try body(lent.verifier)
    }

    private func makeIdle() throws(Rejection) -> Idle {
        Idle(
            verifier: try IDTokenVerifier(
                signatureCacheCapacity: signatureCacheCapacity, maximumTokenLength: maximumTokenLength))
    }
}
