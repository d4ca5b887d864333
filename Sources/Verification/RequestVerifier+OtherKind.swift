extension RequestVerifier {
    /// Why no provider of one kind of token was found: an entry of the other kind may have the ID or the issuer.
    ///
    /// - Parameters:
    ///   - named: the provider that the request names; `nil` if it names none.
    ///   - issuer: of the token; `nil` if it is not known.
    ///   - isAccessToken: the kind of token that was sought.
    func noProvider(named: String?, issuer: String? = nil, ofAccessTokens isAccessToken: Bool) -> Problem {
        let others = isAccessToken ? ofIDTokens : ofAccessTokens
        let other = if let named { others.named(named) } else { issuer.flatMap { others.withIssuer($0, slots) } }
        guard other != nil else { return .providerUnknown }
        return isAccessToken ? .providerOfIDTokens : .providerOfAccessTokens
    }
}
