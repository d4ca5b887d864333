private import Bytes
private import JOSE

/// Checks that a token without a nonce is not an access token.
///
/// Some providers sign JWT access tokens with the keys of their ID Tokens, for the client's own audience, and without a
/// distinguishing `typ`. Any API that receives such a token could present it as a sign-in. A nonce prevents that.
/// Without one, only the token's claims can tell the difference.
///
/// - Throws: ``Rejection/claimInvalid(_:)``, which names the claim of an access token.
/// - Source: RFC 9068, section 2.2; RFC 8725, section 3.12.
func checkTokenKind(_ claims: Claims) throws(Rejection) {
    guard let claim = TokenKind.accessTokenClaims.first(where: claims.contains),
        !TokenKind.idTokenClaims.contains(where: claims.hasValue)
    else { return }
    throw .claimInvalid(claim)
}

extension ProviderPolicy {
    /// Whether the token could still be an access token: no nonce was compared, and the token has none.
    ///
    /// A token from a token endpoint needs no such check, because nobody else could have sent it.
    /// - Parameters:
    ///   - nonce: the raw nonce of the sign-in.
    ///   - use: says whether the token is from a token endpoint.
    func detectsAccessTokens(_ claims: Claims, nonce: String?, use: NonceUse) -> Bool {
        refusesAccessTokens && !(self.nonce.isChecked && nonce != nil) && !use.isFromTokenEndpoint
            && !claims.hasValue(.nonce)
    }
}

/// The claims that distinguish ID Tokens from access tokens.
package enum TokenKind {
    /// Claims of access tokens that few ID Tokens have.
    package static let accessTokenClaims: [ClaimName] = [.scope, .shortScope, .clientID]
    /// Claims of ID Tokens that access tokens usually lack (OpenID Connect Core 1.0, sections 2 and 3.3.2.11).
    package static let idTokenClaims: [ClaimName] = [.accessTokenHash, .codeHash, .authTime, .sessionID]
}

/// Checks that the token has no `events` claim. Security events and logout tokens have one; they are signed with the
/// same keys as ID Tokens and sent to the same audience.
///
/// - Throws: ``Rejection/claimInvalid(_:)``.
/// - Source: RFC 8725, section 3.12; OpenID Connect Back-Channel Logout 1.0, 2.4.
package func checkNoEvents(_ claims: Claims) throws(Rejection) {
    guard !claims.contains(.events) else { throw .claimInvalid(.events) }
}

/// Checks `sub` and returns it: not longer than the policy allows, in characters (Unicode scalars), without control
/// characters, and not only spaces. Relying parties store users under it.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``.
/// - Source: OpenID Connect Core 1.0, section 2.
package func checkSubject(_ claims: Claims, _ policy: borrowing ProviderPolicy) throws(Rejection) -> String {
    guard let subject = try claims.string(.subject), !subject.isEmpty else { throw .claimMissing(.subject) }
    guard subject.hasScalars(1...policy.maximumSubjectLength), !subject.utf8.allSatisfy({ $0 == UInt8(ascii: " ") }),
        !hasControlCharacter(subject.utf8.span)
    else { throw .claimInvalid(.subject) }
    return subject
}

/// Whether a UTF-8 text contains a control character: U+0000 to U+001F, or U+007F to U+009F.
private func hasControlCharacter(_ text: Span<UInt8>) -> Bool {
    // Fast path, eight bytes at a time: nearly every subject is printable ASCII.
    if text.isPrintableASCII { return false }
    for index in text.indices {
        if text[index] < 0x20 || text[index] == 0x7f { return true }
        // U+0080 to U+009F are encoded as 0xC2 followed by a byte below 0xA0.
        if text[index] == 0xc2, index + 1 < text.count, text[index + 1] < 0xa0 { return true }
    }
    return false
}

/// Checks that the expected user signed in: the subject must match, and the issuer too if one is expected.
///
/// - Parameter expected: `nil` if any user may sign in.
/// - Throws: ``Rejection/subjectMismatch``.
package func checkExpectedSubject(_ identity: Identity, _ expected: ExpectedSubject?) throws(Rejection) {
    guard let expected else { return }
    guard identity.subject.isExactly(expected.subject), expected.issuer.map(identity.issuer.isExactly) ?? true else {
        throw .subjectMismatch
    }
}

/// Checks that every claim that the settings require has a value.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/groupsOverage``.
package func checkRequiredClaims(_ claims: Claims, _ policy: ProviderPolicy) throws(Rejection) {
    for claim in policy.requiredClaims { try checkPresence(of: claim, claims) }
}

/// Checks that a required claim has a value.
///
/// - Throws: ``Rejection/claimMissing(_:)``; ``Rejection/groupsOverage`` if the claim is that of the user's groups, and
///   there are too many.
package func checkPresence(of claim: ClaimName, _ claims: Claims) throws(Rejection) {
    guard !claims.hasValue(claim) else { return }
    throw claims.leavesOutGroups(at: ClaimPath(claim.string)) ? .groupsOverage : .claimMissing(claim)
}

/// Checks the claims whose values the settings require or forbid.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/groupsOverage``.
package func checkClaimValues(_ claims: Claims, _ policy: ProviderPolicy) throws(Rejection) {
    for rule in policy.claimRules { try rule.check(claims) }
}

extension ClaimRule {
    /// A list has each of its elements as a value: one that is required is enough, and one that is refused too.
    ///
    /// - Throws: ``Rejection/claimMissing(_:)``; ``Rejection/claimInvalid(_:)``, also if the claim is neither a string,
    ///   a boolean, an integer nor a list, or if a list in which values are refused has an element of another type;
    ///   ``Rejection/groupsOverage``.
    package func check(_ claims: Claims) throws(Rejection) {
        guard !claims.leavesOutGroups(at: claim) else { throw .groupsOverage }
        guard let value = claims.value(at: claim), value.kind != .null else {
            guard kind != .oneOf else { throw .claimMissing(claim.name) }
            return
        }
        let claimed = value.elements ?? [value]
        let holds =
            switch kind {
            case .oneOf: claimed.contains { isListed($0) == true }
            case .noneOf: claimed.allSatisfy { isListed($0) == false }
            case .absent: false
            }
        guard holds else { throw .claimInvalid(claim.name) }
    }

    /// Whether a value is one of ``values``; `nil` if it is neither a string, a boolean nor an integer.
    private func isListed(_ value: JSONValue) -> Bool? {
        value.comparableText.map { text in values.contains { $0.isExactly(text.span) } }
    }
}

extension JSONValue {
    fileprivate var comparableText: ArraySlice<UInt8>? {
        if let bool { return Array("\(bool)".utf8)[...] }
        return utf8 ?? integer.map { Array("\($0)".utf8)[...] }
    }
}

/// Rejects tokens that a service account requested for itself.
///
/// Google issues ID Tokens to service accounts for any audience they ask for, with the same keys and issuer as for
/// users.
///
/// - Throws: ``Rejection/claimInvalid(_:)``, naming `azp` or the e-mail claim.
/// - Source: cloud.google.com/iam/docs/reference/credentials, `projects.serviceAccounts.generateIdToken`.
package func checkServiceAccount(_ claims: Claims, _ policy: borrowing ProviderPolicy, subject: String)
    throws(Rejection)
{
    if policy.serviceAccounts.refusesAzpEqualToSub, let party = try claims.utf8(.authorizedParty),
        subject.isExactly(party.span)
    {
        throw .claimInvalid(.authorizedParty)
    }
    if !policy.serviceAccounts.emailDomains.isEmpty {
        let path = policy.identityClaims[.email]
        // A value of another type is rejected later, when the identity is read.
        let email = path.map { Array((claims.text(at: $0) ?? "").utf8)[...] } ?? (try? claims.utf8(.email))
        if let email, policy.serviceAccounts.emailDomains.contains(where: { isAddress(email.span, in: $0) }) {
            throw .claimInvalid(path?.name ?? .email)
        }
    }
}

extension ServiceAccountRule {
    /// Whether the rule can reject any token.
    package var isActive: Bool { refusesAzpEqualToSub || !emailDomains.isEmpty }
}

/// Whether an address ends in a domain or one of its subdomains.
private func isAddress(_ email: Span<UInt8>, in domain: String) -> Bool {
    let domain = domain.utf8.span
    let start = email.count - domain.count
    guard start > 0, [UInt8(ascii: "@"), UInt8(ascii: ".")].contains(email[start - 1]) else { return false }
    return email.extracting(start...).isEqualIgnoringCase(to: domain)
}

/// Checks that `exp` lies in the future, allowing for clock skew.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/tokenExpired``.
/// - Source: OpenID Connect Core 1.0, 3.1.3.7, step 9; RFC 7519, section 4.1.4.
package func checkExpiration(_ claims: Claims, _ policy: ProviderPolicy, now: UnixTime) throws(Rejection) -> UnixTime {
    guard let expiresAt = try claims.time(.expiration) else { throw .claimMissing(.expiration) }
    guard now < expiresAt.advanced(bySeconds: policy.clockSkewSeconds) else { throw .tokenExpired }
    return expiresAt
}

/// Checks that `nbf`, if present, does not lie in the future, allowing for clock skew.
///
/// - Throws: ``Rejection/claimInvalid(_:)``, ``Rejection/tokenNotYetValid``.
/// - Source: RFC 7519, section 4.1.5.
package func checkNotBefore(_ claims: Claims, _ policy: ProviderPolicy, now: UnixTime) throws(Rejection) -> UnixTime? {
    let notBefore = try claims.time(.notBefore)
    if let notBefore, notBefore > now.advanced(bySeconds: policy.clockSkewSeconds) { throw .tokenNotYetValid }
    return notBefore
}

/// Checks that `iat` does not lie in the future, allowing for clock skew.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/tokenNotYetValid``.
/// - Source: OpenID Connect Core 1.0, 3.1.3.7, step 10; RFC 7519, section 4.1.6.
package func checkIssuedAt(_ claims: Claims, _ policy: ProviderPolicy, now: UnixTime) throws(Rejection) -> UnixTime {
    guard let issuedAt = try claims.time(.issuedAt) else { throw .claimMissing(.issuedAt) }
    guard issuedAt <= now.advanced(bySeconds: policy.clockSkewSeconds) else { throw .tokenNotYetValid }
    return issuedAt
}

/// Checks the token's age by its `iat`, if it is limited.
///
/// - Parameter maximumAge: in seconds.
/// - Throws: ``Rejection/tokenTooOld``.
func checkTokenAge(
    issuedAt: UnixTime, atMost maximumAge: Int64?, _ policy: ProviderPolicy, now: UnixTime
) throws(Rejection) {
    guard let maximumAge else { return }
    let oldest = issuedAt.advanced(bySeconds: maximumAge).advanced(bySeconds: policy.clockSkewSeconds)
    guard now <= oldest else { throw .tokenTooOld }
}

/// Checks that the user authenticated recently enough, and returns `auth_time`.
///
/// The age is measured now, or at ``VerificationParameters/authenticationAgeIsCountedFrom`` if given.
///
/// `iat` is used if the token has no `auth_time`, unless that is required. An `auth_time` of 0 is a time (1970), not an
/// absent one. An `auth_time` in the future is rejected, since it proves nothing.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/authTimeTooOld``.
/// - Source: OpenID Connect Core 1.0, 3.1.3.7, step 13; 3.1.2.1, `max_age`.
func checkAuthenticationAge(
    _ claims: Claims, _ policy: ProviderPolicy, atMost maximumAge: Int64?, isRequired: Bool, issuedAt: UnixTime,
    countedFrom reference: UnixTime?, now: UnixTime
) throws(Rejection) -> UnixTime? {
    let authTime = try claims.time(.authTime)
    guard let maximumAge else { return authTime }
    if isRequired, authTime == nil { throw .claimMissing(.authTime) }
    let authenticatedAt = authTime ?? issuedAt
    guard authenticatedAt <= now.advanced(bySeconds: policy.clockSkewSeconds) else { throw .claimInvalid(.authTime) }
    let oldest = authenticatedAt.advanced(bySeconds: maximumAge).advanced(bySeconds: policy.clockSkewSeconds)
    guard reference ?? now <= oldest else { throw .authTimeTooOld }
    return authTime
}

/// Checks that the user authenticated after the relying party revoked their sessions.
///
/// `iat` is used if the token has no `auth_time`. The comparison with `revokedAt` allows no clock skew: a session
/// that was just revoked must not come back. An `auth_time` that is in the future by more than the policy's clock skew
/// is rejected, since it proves nothing.
///
/// - Parameter revokedAt: `nil` if no session was revoked.
/// - Throws: ``Rejection/sessionRevoked``, ``Rejection/claimInvalid(_:)``.
package func checkSessionRevocation(
    _ claims: Claims, _ policy: ProviderPolicy, after revokedAt: UnixTime?, issuedAt: UnixTime, now: UnixTime
) throws(Rejection) {
    guard let revokedAt else { return }
    let authenticatedAt = try claims.time(.authTime) ?? issuedAt
    guard authenticatedAt <= now.advanced(bySeconds: policy.clockSkewSeconds) else { throw .claimInvalid(.authTime) }
    guard authenticatedAt >= revokedAt else { throw .sessionRevoked }
}
