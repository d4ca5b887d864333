private import Bytes
internal import IDToken

/// Checks which client the access token was issued to, and returns its ID; `nil` if the provider's tokens name none.
///
/// The claim is `client_id`, `azp`, `cid` or `appid`, depending on the provider.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``; ``Rejection/authorizedPartyMismatch`` if
///   the settings list clients, and this is not one of them.
/// - Source: RFC 9068, section 2.2.
func checkClient(
    _ token: UnverifiedToken, _ policy: ProviderPolicy, _ dialect: AccessTokenDialect
) throws(Rejection) -> String? {
    if dialect.loadBalancer != nil { return try LoadBalancerHeader(token).checkClient(policy) }
    let claims = token.claims
    let claim = dialect.clientClaims.first(where: claims.hasValue)
    if claim == nil, dialect.requiresClient, let missing = dialect.clientClaims.first { throw .claimMissing(missing) }
    let client: String? = if let claim { try claims.string(claim) } else { nil }
    guard policy.authorizedParties.isEmpty || client.map(policy.authorizedParties.containsExactly) == true else {
        throw .authorizedPartyMismatch
    }
    return client
}
