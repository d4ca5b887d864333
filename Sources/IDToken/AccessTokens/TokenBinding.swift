private import Bytes
private import JOSE

/// A request's evidence, besides the access token, that its sender has the token's key.
public struct BindingEvidence: Sendable {
    /// `nil`: the request has no DPoP proof.
    public var proof: PresentedProof?
    /// Of the client's certificate in its TLS connection; `nil`: it presented none.
    public var certificate: CertificateThumbprint?
    /// Whether the request has the `Authorization` scheme of bound tokens, so that no other token passes.
    package var claimsBinding = false

    public init(proof: PresentedProof? = nil, certificate: CertificateThumbprint? = nil) {
        self.proof = proof
        self.certificate = certificate
    }

    /// Whether a token that is bound to no key of proofs must be refused.
    package var needsBoundToken: Bool { proof != nil || claimsBinding }
}

/// The key that every access token of a provider must be bound to.
public enum RequiredBinding: String, Sendable, CaseIterable {
    /// A key of which a DPoP proof is sent with each request.
    case dpop
    /// That of the client's certificate.
    case certificate
    /// Either.
    case any
}

/// How the key that an access token is bound to was proven.
public struct TokenBinding: Sendable, Equatable {
    public let method: Method
    /// Of the proof's key, or else of the certificate; `nil` if nothing was proven.
    public let thumbprint: String?
    /// `nil` if none came.
    public let proof: DPoPProof?

    /// The kind of evidence that proved the key.
    public enum Method: String, Sendable {
        case dpop, certificate, both
        /// The token is bound to a key, and the settings accept it without proof.
        case unchecked
    }
}

extension JWSVerifier {
    /// Checks that the sender of a bound token has its key, and that the token is bound if it must be.
    ///
    /// Its issuer made the token useless to anyone without the key. Without a proof of possession, a thief could use
    /// it. So evidence may be absent only if the settings say so; evidence that came is always checked.
    ///
    /// - Parameters:
    ///   - claims: of the token, or of what its provider says of it.
    ///   - text: the token, which a proof names by its hash.
    /// - Returns: how the key was proven; `nil` for a token that is bound to none.
    /// - Throws: ``Rejection/claimInvalid(_:)`` unless `cnf` is an object, and its members are strings;
    ///   ``Rejection/bindingRequired``, ``Rejection/bindingMissing``, ``Rejection/bindingMismatch``,
    ///   ``Rejection/proofInvalid(_:)``, ``Rejection/proofNonceRequired``, ``Rejection/cryptographyUnavailable``.
    /// - Source: RFC 7800, section 3.1; RFC 8705, section 3; RFC 9449, section 7.1.
    func checkBinding(
        _ claims: Claims, of text: ArraySlice<UInt8>, _ policy: ProviderPolicy, _ dialect: AccessTokenDialect,
        _ evidence: BindingEvidence, now: UnixTime
    ) throws(Rejection) -> TokenBinding? {
        let confirmation = try Confirmation(claims)
        let proof = try checkProof(
            evidence, of: text, boundTo: confirmation?.keyThumbprint, policy, dialect, now: now)
        let certificate = try checkCertificate(confirmation?.certificateThumbprint, dialect, evidence.certificate)
        guard confirmation != nil else {
            guard dialect.requiredBinding == nil else { throw .bindingMissing }
            return nil
        }
        let method: TokenBinding.Method
        switch (proof, certificate) {
        case (.some, .some): method = .both
        case (.some, nil): method = .dpop
        case (nil, .some): method = .certificate
        case (nil, nil):
            guard dialect.acceptsUncheckedBindings else { throw .bindingRequired }
            method = .unchecked
        }
        return TokenBinding(method: method, thumbprint: proof?.keyThumbprint ?? certificate, proof: proof)
    }

    /// - Parameters:
    ///   - expected: the token's `jkt`; `nil` if it has none.
    /// - Returns: the proof, if one came.
    private func checkProof(
        _ evidence: BindingEvidence, of text: ArraySlice<UInt8>, boundTo expected: String?, _ policy: ProviderPolicy,
        _ dialect: AccessTokenDialect, now: UnixTime
    ) throws(Rejection) -> DPoPProof? {
        guard let expected else {
            if evidence.needsBoundToken || dialect.requiredBinding == .dpop { throw .bindingMissing }
            return nil
        }
        guard let shown = evidence.proof else {
            if dialect.acceptsUncheckedBindings { return nil }
            throw .bindingRequired
        }
        guard shown.hasScheme else { throw .bindingRequired }
        return try checkProof(
            shown, of: text, boundTo: expected, under: dialect.proofUse, clockSkewSeconds: policy.clockSkewSeconds,
            now: now)
    }
}

extension UnverifiedToken {
    /// Whether the token's key is proven by a DPoP proof rather than by a certificate; also if either would do.
    package func goesWithProof(_ dialect: AccessTokenDialect) -> Bool {
        guard let confirmation = try? Confirmation(claims) else { return dialect.requiredBinding != .certificate }
        return confirmation.keyThumbprint != nil || confirmation.certificateThumbprint == nil
    }
}

/// - Parameters:
///   - expected: the token's `x5t#S256`; `nil` if it has none.
///   - shown: `nil` if no certificate came.
/// - Returns: the thumbprint of the certificate that the token is bound to, if it came.
private func checkCertificate(
    _ expected: String?, _ dialect: AccessTokenDialect, _ shown: CertificateThumbprint?
) throws(Rejection) -> String? {
    guard let expected else {
        if dialect.requiredBinding == .certificate { throw .bindingMissing }
        return nil
    }
    guard let shown else {
        if dialect.acceptsUncheckedBindings { return nil }
        throw .bindingRequired
    }
    guard shown.text.isExactly(expected) else { throw .bindingMismatch }
    return expected
}

/// The claim `cnf`.
private struct Confirmation {
    /// `jkt`: the thumbprint of the key that signs DPoP proofs.
    let keyThumbprint: String?
    /// `x5t#S256`.
    let certificateThumbprint: String?

    /// `nil` if the token is not bound to a key.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)``.
    init?(_ claims: Claims) throws(Rejection) {
        guard claims.contains(.confirmation) else { return nil }
        guard let members = claims.object[ClaimName.confirmation.json]?.object else {
            throw .claimInvalid(.confirmation)
        }
        do throws(JSONTypeMismatch) {
            keyThumbprint = try members.string(Names.keyThumbprint)
            certificateThumbprint = try members.string(Names.certificateThumbprint)
        } catch {
            throw .claimInvalid(.confirmation)
        }
    }

    private enum Names {
        static let keyThumbprint: JSONName = "jkt"
        static let certificateThumbprint: JSONName = "x5t#S256"
    }
}
