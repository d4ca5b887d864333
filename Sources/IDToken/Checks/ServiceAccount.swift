private import Bytes

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
