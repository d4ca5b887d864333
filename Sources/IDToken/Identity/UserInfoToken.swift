private import Bytes
package import JOSE

extension IDTokenVerifier {
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
        guard let names = (try? JSONTree(readingObject: Array(names.json)))?.object,
            var members = (try? JSONTree(readingObject: text))?.object
        else { throw .claimInvalid(.claimNames) }
        for name in names.keys { members[name] = nil }
        var json = JSONWriter()
        json.value(.object(members))
        guard let rest = try? JSONObject(json.bytes) else { throw .tokenMalformed(.payload) }
        (self.object, unverified) = (rest, names.keys.sorted())
    }
}
