private import Bytes
private import IDToken

extension RequestVerifier {
    /// The problem if no provider for this kind of token was found. It says so if an entry for the other kind has the
    /// ID or the issuer.
    ///
    /// - Parameters:
    ///   - named: the provider that the request names; `nil` if it names none.
    ///   - issuer: of the token; `nil` if it is not known.
    ///   - isAccessToken: whether a provider for access tokens was needed, rather than one for ID Tokens.
    func noProvider(named: String?, issuer: String? = nil, ofAccessTokens isAccessToken: Bool) -> Problem {
        let others = isAccessToken ? ofIDTokens : ofAccessTokens
        let other = if let named { others.named(named) } else { issuer.flatMap { others.withIssuer($0, slots) } }
        guard other != nil else { return unknownProvider(named: named) }
        return isAccessToken ? .providerOfIDTokens : .providerOfAccessTokens
    }

    /// The problem of a request that names a provider that is not configured.
    ///
    /// - Parameter named: `nil` if it names none.
    package func unknownProvider(named: String?) -> Problem {
        .providerUnknown(
            nearest: named.flatMap { Suggestion.nearest(to: $0, among: slots.compactMap { $0?.policy.id }) })
    }
}
