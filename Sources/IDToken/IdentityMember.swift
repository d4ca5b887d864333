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
    func text(_ member: IdentityMember, _ policy: ProviderPolicy) -> String? {
        // Nearly every provider uses the usual claims, and then nothing is looked up.
        guard !policy.identityClaims.isEmpty, let path = policy.identityClaims[member] else {
            return text(member.usualClaim)
        }
        return text(at: path)
    }

    /// The address; `nil` where there is none or it is empty.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)`` for an `email` of another type.
    func email(_ policy: ProviderPolicy) throws(Rejection) -> String? {
        guard !policy.identityClaims.isEmpty, let path = policy.identityClaims[.email] else {
            return try has(.email) ? string(.email) : nil
        }
        return text(at: path).flatMap { $0.isEmpty ? nil : $0 }
    }
}
