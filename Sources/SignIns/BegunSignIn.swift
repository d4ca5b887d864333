private import Bytes
package import Grants
package import IDToken
package import JSON
package import OpenSSL
package import Verification

/// A sign-in that has begun: its handle, and what the app or browser has to pass to the provider.
package struct BegunSignIn {
    let handle: SealedSignIn
    /// `nil` if the provider's nonces are not checked.
    let nonce: (text: String, digest: String)?
    /// `nil` for a native sign-in.
    let browser: (state: String, authorizationURL: String)?
    let expiresAt: UnixTime

    /// - Parameters:
    ///   - rules: `nil` if the provider has no clients.
    ///   - endpoint: `nil` if it is not known, because the provider's discovery document has not been read.
    /// - Throws: ``Problem/audienceNotConfigured``, ``Problem/clientNotConfigured``,
    ///   ``Problem/redirectURINotConfigured``, ``Problem/signInNotSupported``, ``Problem/requestInvalid(_:)``,
    ///   ``Problem/providerUnavailable(retryAfterSeconds:limit:)``, and ``Problem/rejected(_:)`` if OpenSSL fails.
    package init(
        _ request: BeginRequest, under policy: ProviderPolicy, _ rules: GrantRules?, _ endpoint: AuthorizationEndpoint?,
        now: UnixTime, sealedBy sealer: SignInSealer, _ digests: borrowing DigestContext
    ) throws(Problem) {
        if let audience = request.audience, !policy.audiences.containsExactly(audience) { throw .audienceNotConfigured }
        guard policy.issuesTokensOfSignIns else { throw .signInNotSupported }
        var authorization: AuthorizationRequest?
        if let browser = request.browser {
            authorization = try AuthorizationRequest(browser, audience: request.audience, under: policy, rules)
        } else if !policy.nonce.isChecked {
            throw .signInNotSupported
        }
        guard let audience = authorization?.client.id ?? request.audience ?? policy.audiences.first else {
            throw .signInNotSupported
        }
        try request.expectedSubject?.check(against: policy)
        if authorization != nil, endpoint == nil { throw .endpointUnknown }

        let sealed: SealedSignIn?
        do throws(OpenSSLError) {
            let kind: SignIn.Kind
            if let authorization, let endpoint {
                let begun = try authorization.begun(at: endpoint)
                kind = .browser(begun)
                let url = try authorization.url(
                    at: endpoint, for: begun, maximumAge: request.maximumAuthenticationAgeSeconds, digests)
                browser = (begun.state.text, url)
            } else {
                kind = .native(try .random())
                browser = nil
            }
            let signIn = SignIn(
                provider: policy.id, audience: audience, begunAt: now,
                expiresAt: now.advanced(bySeconds: request.lifetimeSeconds),
                maximumAuthenticationAgeSeconds: request.maximumAuthenticationAgeSeconds,
                subject: request.expectedSubject?.subject, issuer: request.expectedSubject?.issuer,
                context: request.context, kind: kind)
            sealed = try sealer.seal(signIn, salt: try randomBytes(SignInSealer.saltLength))
            nonce = try signIn.nonce.map { nonce throws(OpenSSLError) in
                (nonce.text, try nonce.text(as: .sha256Hex, digests))
            }
            expiresAt = signIn.expiresAt
        } catch {
            throw .rejected(.cryptographyUnavailable)
        }
        guard let sealed else {
            throw .requestInvalid(
                "sign_in would exceed \(SealedSignIn.maximumLength) bytes; send a shorter context, subject or redirect_uri."
            )
        }
        handle = sealed
    }

    /// Writes the response as a JSON object with every member.
    package func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("sign_in", String(decoding: handle.text, as: UTF8.self))
        json.member("nonce", nonce?.text)
        json.member("nonce_sha256", nonce?.digest)
        json.member("state", browser?.state)
        json.member("authorization_url", browser?.authorizationURL)
        json.member("expires_at", expiresAt.seconds)
        json.endObject()
    }
}
