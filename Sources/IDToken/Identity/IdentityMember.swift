/// A member of the identity that a policy may read from another claim. The names are the contract's.
public enum IdentityMember: String, Sendable, CaseIterable {
    case email
    case name
    case givenName = "given_name"
    case familyName = "family_name"
    case preferredUsername = "preferred_username"
    case picture
    case locale
    case tenant
    case hostedDomain = "hosted_domain"
    case transferSubject = "transfer_subject"

    /// The claim that holds it unless the policy names another. ``hostedDomain`` and ``transferSubject`` are read only
    /// if the policy says that the provider has them.
    // Inlined, so that a constant member compiles to its claim.
    @inline(__always)
    package var defaultClaim: ClaimName {
        switch self {
        case .email: .email
        case .name: .name
        case .givenName: .givenName
        case .familyName: .familyName
        case .preferredUsername: .preferredUsername
        case .picture: .picture
        case .locale: .locale
        case .tenant: .tenant
        case .hostedDomain: .hostedDomain
        case .transferSubject: .transferSubject
        }
    }
}

extension Claims {
    /// The text of a member of the identity.
    ///
    /// Nearly every provider uses the standard claims, for which nothing is looked up. Inlined, this costs no more than
    /// naming the claim.
    @inline(__always)
    func text(_ member: IdentityMember, _ policy: borrowing ProviderPolicy) -> String? {
        policy.identityClaims.isEmpty ? text(member.defaultClaim) : text(member, from: policy.identityClaims)
    }

    private func text(_ member: IdentityMember, from places: [IdentityMember: ClaimPath]) -> String? {
        guard let path = places[member] else { return text(member.defaultClaim) }
        return text(at: path)
    }

    /// The text of a member that only some providers have, if the policy says so or names its claim.
    @inline(__always)
    func text(_ member: IdentityMember, ifReported isReported: Bool, _ policy: borrowing ProviderPolicy) -> String? {
        if isReported { return text(member, policy) }
        return policy.identityClaims.isEmpty ? nil : policy.identityClaims[member].flatMap(text(at:))
    }

    /// The user's e-mail address according to the token.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)`` for an `email` of another type, and for a required claim that does not
    ///   hold an address.
    func email(_ policy: borrowing ProviderPolicy) throws(Rejection) -> ClaimedEmail {
        let path = policy.identityClaims.isEmpty ? nil : policy.identityClaims[.email]
        let text = if let path { text(at: path) } else { try optionalString(.email) }
        guard let text, !text.isEmpty else { return .absent }
        if let address = EmailAddress(text) { return .address(address) }
        let claim = path?.name ?? .email
        guard !policy.requiredClaims.contains(claim) else { throw .claimInvalid(claim) }
        return .malformed
    }
}

/// The user's e-mail address according to a token.
enum ClaimedEmail {
    case address(EmailAddress)
    /// The claim is absent or empty.
    case absent
    /// The claim is a string, but not an address.
    case malformed
}
