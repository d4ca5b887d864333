private import Bytes
private import JSON

/// Checks that the token is a person's, and not one that a program got for itself.
///
/// Google gives a service account an ID Token for whatever audience it asks for, by the keys and issuer of people's tokens.
///
/// - Throws: ``Rejection/claimInvalid(_:)``, which names `azp`, or the claim of the address.
/// - Source: cloud.google.com/iam/docs/reference/credentials, `projects.serviceAccounts.generateIdToken`.
func checkServiceAccount(_ claims: Claims, _ policy: borrowing ProviderPolicy, subject: String) throws(Rejection) {
    if policy.serviceAccounts.refusesAzpEqualToSub, let party = try claims.utf8(.authorizedParty),
        subject.isExactly(party.span)
    {
        throw .claimInvalid(.authorizedParty)
    }
    if !policy.serviceAccounts.emailDomains.isEmpty {
        let path = policy.identityClaims[.email]
        // Of another type, it is refused where the identity is made.
        let email = path.map { Array((claims.text(at: $0) ?? "").utf8)[...] } ?? (try? claims.utf8(.email))
        if let email, policy.serviceAccounts.emailDomains.contains(where: { isAddress(email.span, in: $0) }) {
            throw .claimInvalid(path?.name ?? .email)
        }
    }
}

extension ServiceAccountRule {
    /// Whether any token is refused by it.
    var isActive: Bool { refusesAzpEqualToSub || !emailDomains.isEmpty }
}

/// Whether a text ends in a domain, or in one below it.
private func isAddress(_ email: Span<UInt8>, in domain: String) -> Bool {
    let domain = domain.utf8.span
    let start = email.count - domain.count
    guard start > 0, [UInt8(ascii: "@"), UInt8(ascii: ".")].contains(email[start - 1]) else { return false }
    for index in domain.indices where email[start + index].asciiLowercased != domain[index].asciiLowercased {
        return false
    }
    return true
}
