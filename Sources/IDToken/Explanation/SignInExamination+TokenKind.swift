extension SignInExamination {
    /// Whether a token without a nonce is an ID Token, and no access token.
    func tokenKind() -> Check {
        guard policy.refusesAccessTokens else {
            return .notAsked(.tokenKind, "The settings don't look for access tokens (refuse_access_tokens: false).")
        }
        guard !(policy.nonce.isChecked && expectations.nonce != nil), !claims.has(.nonce) else {
            return .notAsked(.tokenKind, "There is a nonce, and access tokens have none.")
        }
        let suspicious = TokenKind.accessTokenClaims.filter(claims.mentions).map(\.string)
        let found = suspicious.isEmpty ? nil : suspicious.joined(separator: ", ")
        let markers = TokenKind.idTokenClaims.map(\.string).joined(separator: ", ")
        let expected = "none of scope, scp and client_id, or one of \(markers)"
        switch result(of: { () throws(Rejection) in try checkNoAccessToken(claims) }) {
        case .success:
            return .passed(
                .tokenKind, "The token does not look like an access token.", expected: expected, found: found)
        case .failure(let rejection):
            return .failed(
                .tokenKind, rejection,
                Diagnosis(
                    """
                    The token looks like an access token: it has \(suspicious.joined(separator: " and ")), and no nonce \
                    nor any of \(markers).
                    """,
                    fix: """
                        Send the id_token of the provider's answer, not the access_token. If this is the id_token, use a \
                        nonce, or set refuse_access_tokens: false for the provider \(policy.id).
                        """
                ), expected: expected, found: found)
        }
    }
}
