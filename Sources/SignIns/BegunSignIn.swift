package import IDToken
private import Bytes
private import JOSE
package import JSON
package import OpenSSL
package import Verification

/// A sign-in that has begun: its handle, and what the app has to pass to the provider.
package struct BegunSignIn {
    let handle: SealedSignIn
    let nonce: String
    let nonceDigest: String
    let expiresAt: UnixTime

    /// - Throws: ``Problem/clientNotConfigured``, ``Problem/audienceNotConfigured``, ``Problem/signInNotSupported``,
    ///   ``Problem/requestInvalid(_:)``, and ``Problem/rejected(_:)`` if OpenSSL fails.
    package init(
        _ request: BeginRequest, under policy: ProviderPolicy, now: UnixTime, sealedBy sealer: SignInSealer,
        _ digests: borrowing DigestContext
    ) throws(Problem) {
        // Providers can't have clients yet, so no redirect URI is configured.
        if request.redirectURI != nil { throw .clientNotConfigured }
        if let audience = request.audience, !policy.audiences.containsExactly(audience) { throw .audienceNotConfigured }
        guard policy.nonce.isChecked, policy.issuesTokensOfSignIns,
            let audience = request.audience ?? policy.audiences.first
        else { throw .signInNotSupported }
        try request.expectedSubject?.check(against: policy)
        let signIn: SignIn
        let sealed: SealedSignIn?
        do throws(OpenSSLError) {
            let random = try randomBytes(SignIn.nonceLength + SignInSealer.saltLength)
            signIn = SignIn(
                provider: policy.id, audience: audience, nonce: Array(random.prefix(SignIn.nonceLength)), begunAt: now,
                expiresAt: now.advanced(bySeconds: request.lifetimeSeconds),
                maximumAuthenticationAgeSeconds: request.maximumAuthenticationAgeSeconds,
                subject: request.expectedSubject?.subject, issuer: request.expectedSubject?.issuer,
                context: request.context)
            sealed = try sealer.seal(signIn, salt: Array(random.suffix(SignInSealer.saltLength)))
            nonce = signIn.nonceText
            let digest = try digests.digest(Array(nonce.utf8).span, with: .sha256)
            nonceDigest = String(hexadecimal: digest.span)
        } catch {
            throw .rejected(.cryptographyUnavailable)
        }
        guard let sealed else {
            throw .requestInvalid(
                "sign_in would exceed \(SealedSignIn.maximumLength) bytes; send a shorter context or subject."
            )
        }
        handle = sealed
        expiresAt = signIn.expiresAt
    }

    /// Writes the answer as a JSON object, every member present.
    package func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("sign_in", String(decoding: handle.text, as: UTF8.self))
        json.member("nonce", nonce)
        json.member("nonce_sha256", nonceDigest)
        json.member("state", nil as String?)
        json.member("authorization_url", nil as String?)
        json.member("expires_at", expiresAt.seconds)
        json.endObject()
    }
}
