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
        guard other != nil else { return .providerUnknown }
        return isAccessToken ? .providerOfIDTokens : .providerOfAccessTokens
    }
}
