private import Bytes
internal import IDToken
internal import JOSE

/// A request to sign out, checked as the provider checks it before the person confirms it.
///
/// - Source: RP-Initiated Logout 1.0, section 2.
struct EndSessionRequest {
    /// `nil` if neither a client ID nor a hint says it.
    let client: DevClient?
    /// The subject of the hint; `nil` if there is none.
    let subject: String?
    let redirectURI: String?
    let state: String?
    /// What the form on the page sends again.
    let parameters: [(name: String, value: String)]

    /// - Throws: ``DevRequestError`` if a provider would show an error page.
    init(_ query: FormParameters, to provider: EmulatedProvider, now: Int64) throws {
        let hint = try query["id_token_hint"].map { try provider.hint($0, clientID: query["client_id"], now: now) }
        let id = query["client_id"] ?? hint?.clientID
        client = id.flatMap(provider.client)
        if let id, client == nil { throw DevRequestError("client_id is \(id), which is not registered") }
        redirectURI = query["post_logout_redirect_uri"]
        if let redirectURI {
            guard let client else {
                throw DevRequestError(
                    "post_logout_redirect_uri needs client_id or id_token_hint, which say whose address it is")
            }
            guard client.allowsAfterLogout(redirectURI) else {
                throw DevRequestError(
                    "post_logout_redirect_uri is \(redirectURI), which is not registered for \(client.id); add it to post_logout_redirect_uris, or use a loopback or .test host"
                )
            }
        }
        subject = hint?.subject
        state = query["state"]
        parameters = Self.names.compactMap { name in query[name].map { (name, $0) } }
    }

    private static let names = [
        "id_token_hint", "client_id", "post_logout_redirect_uri", "state", "logout_hint", "ui_locales",
    ]

    /// Where the browser goes after the person has signed out; `nil`: nowhere.
    var destination: String? {
        guard let redirectURI else { return nil }
        guard let state else { return redirectURI }
        return redirectURI + (redirectURI.contains("?") ? "&" : "?") + "state=" + percentEncoded(state)
    }
}

extension EmulatedProvider {
    /// The person and the client of an ID Token of this provider, which may have expired.
    ///
    /// - Throws: ``DevRequestError``.
    fileprivate func hint(
        _ text: String, clientID: String?, now: Int64
    ) throws -> (subject: String, clientID: String?) {
        do {
            let token = try UnverifiedToken(text)
            let keys = keys.set(issuer: policy.keyIssuers.first?.text, .all)
            let verified = try IDTokenVerifier().verifyHint(
                token, with: try JWKSet(keys.json, acceptingDevelopmentKeys: true), algorithms: .all, under: policy,
                audience: clientID,
                now: UnixTime(seconds: now))
            return (verified.subject, try token.claims.audiences().first)
        } catch {
            throw DevRequestError(
                "id_token_hint is not an ID Token of this provider\(clientID.map { " for \($0)" } ?? ""), or its key was replaced twice since"
            )
        }
    }
}
