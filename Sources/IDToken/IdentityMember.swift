/// A member of the identity that a provider may keep in a claim of its own. The names are the contract's.
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

    /// The claim that fills it where a policy names no other.
    // Inlined, so that of a member that the caller names only its claim is left.
    @inline(__always)
    package var usualClaim: ClaimName {
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
        }
    }
}

extension Claims {
    /// The text of a member of the identity.
    ///
    /// Nearly every provider uses the usual claims, and then nothing is looked up; inlined, it costs what naming the claim did.
    @inline(__always)
    func text(_ member: IdentityMember, _ policy: borrowing ProviderPolicy) -> String? {
        policy.identityClaims.isEmpty ? text(member.usualClaim) : text(member, from: policy.identityClaims)
    }

    private func text(_ member: IdentityMember, from places: [IdentityMember: ClaimPath]) -> String? {
        guard let path = places[member] else { return text(member.usualClaim) }
        return text(at: path)
    }

    /// The address; `nil` where there is none or it is empty.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)`` for an `email` of another type.
    func email(_ policy: borrowing ProviderPolicy) throws(Rejection) -> String? {
        guard !policy.identityClaims.isEmpty, let path = policy.identityClaims[.email] else {
            return try has(.email) ? string(.email) : nil
        }
        return text(at: path).flatMap { $0.isEmpty ? nil : $0 }
    }
}
