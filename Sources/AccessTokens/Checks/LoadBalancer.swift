private import Bytes
internal import IDToken
private import JOSE
private import JSON

/// The header of an AWS load balancer's assertion. It has members that other providers put into claims.
///
/// - Source: docs.aws.amazon.com/elasticloadbalancing/latest/application/listener-authenticate-users.html, "User claims
///   encoding and signature verification".
struct LoadBalancerHeader {
    private let members: Claims

    /// - Throws: ``Rejection/tokenMalformed(_:)``, but never for a token that has been read.
    init(_ token: UnverifiedToken) throws(Rejection) {
        guard let object = token.jws.headerObject else { throw .tokenMalformed(.header) }
        members = Claims(object)
    }

    /// Checks that the configured load balancer signed the assertion, and that header and payload agree on `iss` and
    /// `exp`. Needs no key.
    ///
    /// - Parameter signer: the load balancer's ARN, compared byte for byte.
    /// - Throws: ``Rejection/keyNotFound`` if `kid` is not a UUID and therefore can't name a key;
    ///   ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/issuerMismatch``.
    func check(_ token: UnverifiedToken, signedBy signer: String) throws(Rejection) {
        guard token.keyID?.isLowercaseUUID == true else { throw .keyNotFound }
        guard let claimed = try members.string(.signer) else { throw .claimMissing(.signer) }
        guard claimed.isExactly(signer) else { throw .claimInvalid(.signer) }
        guard let issuer = try members.string(.issuer) else { throw .claimMissing(.issuer) }
        guard try token.claims.string(.issuer)?.isExactly(issuer) == true else { throw .issuerMismatch }
        guard let expiresAt = try members.time(.expiration) else { throw .claimMissing(.expiration) }
        guard try token.claims.time(.expiration) == expiresAt else { throw .claimInvalid(.expiration) }
    }

    /// Checks which client the load balancer signed the user in with, and returns its ID.
    ///
    /// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``,
    ///   ``Rejection/authorizedPartyMismatch``.
    func checkClient(_ policy: ProviderPolicy) throws(Rejection) -> String {
        guard let client = try members.string(Self.client) else { throw .claimMissing(Self.client) }
        guard policy.authorizedParties.containsExactly(client) else { throw .authorizedPartyMismatch }
        return client
    }

    private static let client = ClaimName("client")
}
