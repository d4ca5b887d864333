public import JOSE
private import Synchronization

/// Verifies the ID Tokens of one provider, from any thread or task.
///
/// Make one for each provider, and share it:
///
/// ```swift
/// let policy = ProviderPreset.apple.policy(id: "apple", audiences: ["com.example.app"])
/// let verifier = try ProviderVerifier(policy)
/// let verified = try verifier.verify(
///     token, with: keys, expecting: VerificationParameters(nonce: rawNonce), now: now)
/// print(verified.identity.subject)
/// ```
///
/// It does no I/O and reads no clock. A verification doesn't wait for another one: each borrows one of the
/// ``IDTokenVerifier``s that belong to this verifier, and there are as many as verifications have run at the same time.
public final class ProviderVerifier: SharedVerifier {
    /// The rules for the provider's tokens.
    public let policy: ProviderPolicy
    package let verifiers: VerifierPool
    package var provider: ProviderPolicy { policy }

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
        verifiers = try VerifierPool(
            signatureCacheCapacity: signatureCacheCapacity, maximumTokenLength: maximumTokenLength)
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
        try verify(text: token, with: keys, algorithms: algorithms, expecting: parameters, now: now)
    }

    /// Verifies a token that was read before, for example to find its provider by
    /// ``UnverifiedToken/unverifiedIssuer``; otherwise like ``verify(_:with:algorithms:expecting:now:)-(String,_,_,_,_)``.
    ///
    /// - Throws: ``Rejection``.
    public func verify(
        _ token: UnverifiedToken, with keys: JWKSet, algorithms: SignatureAlgorithms = .all,
        expecting parameters: VerificationParameters = VerificationParameters(), now: UnixTime
    ) throws(Rejection) -> VerifiedIDToken {
        try verifiers.withVerifier { verifier throws(Rejection) in
            try verify(token, with: keys, algorithms: algorithms, expecting: parameters, now: now, by: verifier)
        }
    }

    /// Reads a token without verifying anything.
    ///
    /// - Throws: ``Rejection/tokenMalformed(_:)``.
    public func read(_ token: String) throws(Rejection) -> UnverifiedToken {
        try verifiers.withVerifier { verifier throws(Rejection) in try verifier.read(Array(token.utf8)[...]) }
    }

    package func verify(
        _ token: UnverifiedToken, with keys: JWKSet, algorithms: SignatureAlgorithms,
        expecting parameters: VerificationParameters, now: UnixTime, by verifier: IDTokenVerifier
    ) throws(Rejection) -> VerifiedIDToken {
        try verifier.verify(token, with: keys, algorithms: algorithms, under: policy, expecting: parameters, now: now)
    }

    package func checkHeader(_ token: UnverifiedToken, by verifier: IDTokenVerifier) throws(Rejection) {
        try verifier.checkHeader(token, under: policy)
    }

    package func checkClaims(_ token: UnverifiedToken, now: UnixTime) throws(Rejection) {
        try token.checkClaims(of: policy, now: now)
    }
}

/// A verifier of one kind of token of one provider, which threads share.
///
/// A verification doesn't wait for another one: each borrows one of the verifiers in the pool.
package protocol SharedVerifier: Sendable {
    /// The facts about the request or the sign-in that a token came with.
    associatedtype Parameters: Sendable
    associatedtype Verified: Sendable

    /// The rules for the provider's tokens.
    var provider: ProviderPolicy { get }
    var verifiers: VerifierPool { get }

    /// Reads a token without verifying anything.
    ///
    /// - Throws: ``Rejection/tokenMalformed(_:)``.
    func read(_ text: ArraySlice<UInt8>, by verifier: IDTokenVerifier) throws(Rejection) -> UnverifiedToken

    /// Runs every check.
    ///
    /// - Throws: ``Rejection``.
    func verify(
        _ token: UnverifiedToken, with keys: JWKSet, algorithms: SignatureAlgorithms,
        expecting parameters: Parameters, now: UnixTime, by verifier: IDTokenVerifier
    ) throws(Rejection) -> Verified

    /// Runs the checks of the header that need no keys.
    ///
    /// - Throws: ``Rejection``.
    func checkHeader(_ token: UnverifiedToken, by verifier: IDTokenVerifier) throws(Rejection)

    /// Runs those checks of unverified claims without which fetching keys could not help.
    ///
    /// - Throws: ``Rejection``.
    func checkClaims(_ token: UnverifiedToken, now: UnixTime) throws(Rejection)
}

extension SharedVerifier {
    package func read(_ text: ArraySlice<UInt8>, by verifier: IDTokenVerifier) throws(Rejection) -> UnverifiedToken {
        try verifier.read(text)
    }

    /// Reads and verifies a token.
    ///
    /// - Throws: ``Rejection``.
    func verify(
        text: String, with keys: JWKSet, algorithms: SignatureAlgorithms, expecting parameters: Parameters,
        now: UnixTime
    ) throws(Rejection) -> Verified {
        try verifiers.withVerifier { verifier throws(Rejection) in
            try verify(
                read(Array(text.utf8)[...], by: verifier), with: keys, algorithms: algorithms, expecting: parameters,
                now: now, by: verifier)
        }
    }
}

/// As many verifiers as verifications have run at the same time.
package final class VerifierPool: Sendable {
    private let signatureCacheCapacity: Int
    private let maximumTokenLength: Int
    private let idle: Mutex<[Idle]>

    /// A verifier that nobody uses.
    private struct Idle: @unchecked Sendable {
        // Sendable, because the verification that takes it out of `idle` is its only user.
        let verifier: IDTokenVerifier
    }

    /// - Throws: ``Rejection/cryptographyUnavailable`` when out of memory.
    init(signatureCacheCapacity: Int, maximumTokenLength: Int) throws(Rejection) {
        self.signatureCacheCapacity = signatureCacheCapacity
        self.maximumTokenLength = maximumTokenLength
        idle = Mutex([])
        // Fails here, rather than at the first token.
        try withVerifier { _ in }
    }

    /// Lends a verifier that nobody else uses at the same time.
    ///
    /// - Throws: ``Rejection/cryptographyUnavailable`` when out of memory; errors of `body`.
    package func withVerifier<Result>(
        _ body: (IDTokenVerifier) throws(Rejection) -> Result
    ) throws(Rejection) -> Result {
        // The last one that was returned: its OpenSSL contexts for the provider's keys exist.
        let lent = if let last = idle.withLock({ $0.popLast() }) { last } else { try Idle(verifier: makeVerifier()) }
        defer { idle.withLock { $0.append(lent) } }
        return try body(lent.verifier)
    }

    private func makeVerifier() throws(Rejection) -> IDTokenVerifier {
        try IDTokenVerifier(signatureCacheCapacity: signatureCacheCapacity, maximumTokenLength: maximumTokenLength)
    }
}
