package import JOSE
private import Synchronization

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

    /// Lends a verifier that nobody else uses at the same time.
    ///
    /// - Throws: ``Rejection/cryptographyUnavailable`` when out of memory; errors of `body`.
    package func withVerifier<Result>(
        _ body: (IDTokenVerifier) throws(Rejection) -> Result
    ) throws(Rejection) -> Result {
        try verifiers.withVerifier(body)
    }

    /// Reads and verifies a token.
    ///
    /// - Throws: ``Rejection``.
    func verify(
        text: String, with keys: JWKSet, algorithms: SignatureAlgorithms, expecting parameters: Parameters,
        now: UnixTime
    ) throws(Rejection) -> Verified {
        try withVerifier { verifier throws(Rejection) in
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

    fileprivate func withVerifier<Result>(
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
