internal import IDToken
private import JOSE
private import JSON

extension RequestVerifier {
    /// Reads an access token without verifying anything, and finds the provider by its issuer if the request names none.
    ///
    /// Padding is allowed only in assertions of an AWS load balancer. No text is both a JWT and such an assertion.
    ///
    /// - Parameter named: the number of the provider that the request names.
    /// - Throws: ``Rejection/tokenMalformed(_:)``.
    func readAccessToken(
        _ text: ArraySlice<UInt8>, ofProvider named: Int?
    ) throws(Rejection) -> (token: UnverifiedToken, provider: Int?) {
        if let named, slots[named]?.provider.accessTokens?.loadBalancer != nil {
            return (try UnverifiedToken(padded: text), named)
        }
        do throws(Rejection) {
            let token = try verifier.read(text)
            return (token, named ?? token.unverifiedIssuer.flatMap { ofAccessTokens.withIssuer($0, slots) })
        } catch {
            guard named == nil, ofAccessTokens.hasLoadBalancers, let token = try? UnverifiedToken(padded: text),
                token.jws.headerObject?["signer"] != nil
            else { throw error }
            return (token, ofAccessTokens.withLoadBalancer(of: token, slots))
        }
    }
}
