private import Bytes
package import JOSE
package import OpenSSL

/// The parameters of a signed authorization response. Only ``IDTokenVerifier`` creates one.
package struct VerifiedResponse: Sendable {
    /// All claims, the parameters among them.
    package let claims: JSONObject
}

extension IDTokenVerifier {
    /// Verifies a signed authorization response: its header, signature, issuer, audience and time.
    ///
    /// - Parameter audience: the client that the response must be for.
    /// - Throws: ``Rejection``.
    /// - Source: JWT Secured Authorization Response Mode for OAuth 2.0, section 2.4.
    package func verifyResponse(
        _ token: UnverifiedToken, with keys: JWKSet, under policy: ProviderPolicy, audience: String, now: UnixTime
    ) throws(Rejection) -> VerifiedResponse {
        let claims = token.claims
        let jws = try checkSigned(token, with: keys, allowing: policy.algorithms ?? .all)
        _ = try checkIssuer(claims, policy)
        if !policy.keyIssuers.isEmpty { try checkKeyIssuer(jws.keyIssuer, claims, policy) }
        _ = try checkAudience(claims, policy, narrowedTo: audience)
        _ = try checkExpiration(claims, policy, now: now)
        _ = try checkNotBefore(claims, policy, now: now)
        return VerifiedResponse(claims: claims.object)
    }

    /// Verifies a UserInfo response that is a signed JWT: its header and signature, that it is about the ID Token's user,
    /// and `iss`, `aud`, `exp` and `nbf` if it has them.
    ///
    /// - Parameters:
    ///   - clientID: of our client.
    ///   - subject: the ID Token's.
    /// - Returns: the claims, as JSON.
    /// - Throws: ``Rejection``.
    /// - Source: OpenID Connect Core 1.0, sections 5.3.2 and 5.3.4.
    package func verifyUserInfo(
        _ token: UnverifiedToken, with keys: JWKSet, under policy: ProviderPolicy, clientID: String, subject: String,
        now: UnixTime
    ) throws(Rejection) -> [UInt8] {
        let claims = token.claims
        // The discovery document's list of algorithms is that of ID Tokens.
        let jws = try checkSigned(token, with: keys, allowing: policy.algorithms ?? .all)
        if claims.hasValue(.issuer) {
            _ = try checkIssuer(claims, policy)
            if !policy.keyIssuers.isEmpty { try checkKeyIssuer(jws.keyIssuer, claims, policy) }
        }
        if claims.hasValue(.audience), !(try claims.audiences().containsExactly(clientID)) { throw .audienceMismatch }
        if claims.hasValue(.expiration) { _ = try checkExpiration(claims, policy, now: now) }
        if claims.hasValue(.notBefore) { _ = try checkNotBefore(claims, policy, now: now) }
        guard let claimed = try claims.string(.subject) else { throw .claimMissing(.subject) }
        guard claimed.isExactly(subject) else { throw .subjectMismatch }
        return jws.payload
    }

    /// Verifies an `id_token_hint`: its header, signature, issuer, audience and subject. Its age does not matter, so
    /// neither does `exp`, but a token from the future is refused.
    ///
    /// - Parameter audience: if given, the only audience that counts as ours.
    /// - Throws: ``Rejection``.
    /// - Source: OpenID Connect Core 1.0, section 3.1.2.2; RP-Initiated Logout 1.0, section 4.
    package func verifyHint(
        _ token: UnverifiedToken, with keys: JWKSet, algorithms: SignatureAlgorithms, under policy: ProviderPolicy,
        audience: String?, now: UnixTime
    ) throws(Rejection) -> VerifiedHint {
        let claims = token.claims
        let jws = try checkSigned(token, with: keys, allowing: policy.algorithms ?? algorithms)
        let issuer = try checkIssuer(claims, policy)
        if !policy.keyIssuers.isEmpty { try checkKeyIssuer(jws.keyIssuer, claims, policy) }
        _ = try checkAudience(claims, policy, narrowedTo: audience)
        _ = try checkAuthorizedParty(claims, policy)
        _ = try checkNotBefore(claims, policy, now: now)
        _ = try checkIssuedAt(claims, policy, now: now)
        let subject = try checkSubject(claims, policy)
        // A logout token of the provider is no ID Token.
        try checkNoEvents(claims)
        return VerifiedHint(issuer: issuer, subject: subject)
    }
}

/// Checks that an ID Token from the authorization endpoint came with this `state`, if it has an `s_hash`. Compared in
/// constant time.
///
/// - Throws: ``Rejection/claimInvalid(_:)``, ``Rejection/cryptographyUnavailable``.
/// - Source: Financial-grade API Security Profile 1.0, part 2, section 5.1.1.
package func checkStateHash(
    of token: VerifiedIDToken, _ state: String, _ checker: SignatureChecker
) throws(Rejection) {
    guard let claims = (try? JSONObject(token.claimsText)).map(Claims.init), claims.contains(.stateHash) else { return }
    guard let claimed = try claims.utf8(.stateHash) else { throw .claimInvalid(.stateHash) }
    // The curve's hash is 114 bytes long, and half of it has 76 characters.
    let digest = token.algorithm.tokenHash(edwardsCurve: claimed.count == 76 ? .ed448 : nil)
    guard try halfHash(of: state, by: digest, checker, equals: claimed) else {
        throw .claimInvalid(.stateHash)
    }
}

/// The claims of a UserInfo response, without those that another party asserts.
///
/// - Source: OpenID Connect Core 1.0, section 5.6.2.
package struct UserInfoClaims {
    package let object: JSONObject
    /// The names of aggregated and distributed claims, sorted. Nothing verifies them.
    package let unverified: [String]

    /// - Parameter text: a JSON object.
    /// - Throws: ``Rejection/claimInvalid(_:)`` for a `_claim_names` that is not an object, and
    ///   ``Rejection/tokenMalformed(_:)`` for anything but a JSON object.
    package init(_ text: [UInt8]) throws(Rejection) {
        guard let object = try? JSONObject(text) else { throw .tokenMalformed(.payload) }
        guard let names = object[ClaimName.claimNames.json], names.kind != .null else {
            (self.object, unverified) = (object, [])
            return
        }
        guard let names = names.object else { throw .claimInvalid(.claimNames) }
        var listed: Set<ExactString> = []
        names.forEachMember { name, _ in listed.insert(ExactString(name)) }
        var json = JSONWriter()
        json.object { json in
            object.forEachMember { name, value in
                guard !listed.contains(ExactString(name)) else { return }
                json.name(escaping: name)
                if let string = value.string { json.value(string) } else { json.raw(value.json) }
            }
        }
        guard let rest = try? JSONObject(json.bytes) else { throw .tokenMalformed(.payload) }
        (self.object, unverified) = (rest, listed.map(\.string).sorted())
    }
}

/// An ID Token that the provider once issued to the client: it names a person to the provider, and proves nothing else.
///
/// It may have expired, and its nonce is not known. Only ``IDTokenVerifier`` creates one.
package struct VerifiedHint: Sendable {
    /// The canonical issuer.
    package let issuer: String
    package let subject: String
}

extension UnverifiedToken {
    /// Checks the unverified issuer and audience of an `id_token_hint`, before keys are fetched for it.
    ///
    /// - Throws: the rejection for the first that would not pass.
    package func checkHintClaims(of policy: ProviderPolicy) throws(Rejection) {
        _ = try checkIssuer(claims, policy)
        _ = try checkAudience(claims, policy, narrowedTo: nil)
    }
}
