internal import IDToken
private import JOSE
private import JSON

extension RequestVerifier {
    /// Reads a token without verifying anything, and finds the provider by its issuer if the request names none.
    ///
    /// Padding is allowed only in assertions of an AWS load balancer. No text is both a JWT and such an assertion.
    ///
    /// - Parameters:
    ///   - named: the number of the provider that the request names.
    ///   - providers: those to choose from if it names none.
    /// - Throws: ``Rejection/tokenMalformed(_:)``.
    func read(
        _ text: ArraySlice<UInt8>, ofProvider named: Int?, among providers: ProviderIndex
    ) throws(Rejection) -> (token: UnverifiedToken, provider: Int?) {
        if let named, slots[named]?.provider.accessTokens?.loadBalancer != nil {
            return (try UnverifiedToken(padded: text), named)
        }
        do throws(Rejection) {
            let token = try verifier.read(text)
            return (token, named ?? token.unverifiedIssuer.flatMap { providers.withIssuer($0, slots) })
        } catch {
            guard named == nil, providers.hasLoadBalancers, let token = try? UnverifiedToken(padded: text),
                token.jws.headerObject?["signer"] != nil
            else { throw error }
            return (token, providers.withLoadBalancer(of: token, slots))
        }
    }
}
