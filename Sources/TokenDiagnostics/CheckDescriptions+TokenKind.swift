internal import IDToken

extension CheckDescriptions {
    /// Whether a token without a nonce is an ID Token rather than an access token.
    func tokenKind(_ rejection: Rejection?) -> Check {
        let suspicious = TokenKind.accessTokenClaims.filter(claims.contains).map(\.string)
        let found = suspicious.isEmpty ? nil : suspicious.joined(separator: ", ")
        let markers = TokenKind.idTokenClaims.map(\.string).joined(separator: ", ")
        let expected = "none of scope, scp and client_id, or one of \(markers)"
        guard let rejection else {
            return .passed(
                .tokenKind, "The token does not look like an access token.", expected: expected, found: found)
        }
        return .failed(
            .tokenKind, rejection,
            Diagnosis(
                """
                The token is probably an access token: it has \(suspicious.joined(separator: " and ")), but no nonce \
                and none of \(markers).
                """,
                fix: """
                    Send the id_token of the provider's response, not the access_token. If this is the id_token, use a \
                    nonce, or set refuse_access_tokens: false for the provider \(policy.id).
                    """
            ), expected: expected, found: found)
    }
}
