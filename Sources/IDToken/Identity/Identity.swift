package import JOSE

/// The user who signed in, in the same form for every provider.
///
/// Store users under (``issuer``, ``subject``), never under ``email``.
public struct Identity: Sendable, Equatable {
    /// The relying party's name for the provider.
    public let provider: String
    /// The provider's canonical issuer, even if the token's `iss` is one of its aliases.
    public let issuer: String
    /// `sub`, compared byte for byte: 1 to 255 characters, or up to 512 for workloads.
    public let subject: String
    /// The address as written; `nil` if there is none, or if it is not one `addr-spec` of RFC 5322.
    public let email: String?
    /// Whether the provider says that it verified the address; `nil` if it doesn't say, or if there is no address.
    public let isEmailVerified: Bool?
    /// How far the address can be trusted; `nil` if there is none.
    public let emailTrust: EmailTrust?
    /// Whether the address is a relay to one that the user keeps private; `nil` if the provider has no relay.
    public let isPrivateEmail: Bool?
    public let name: String?
    public let givenName: String?
    public let familyName: String?
    /// Where the names come from; `nil` if there are none.
    public let nameSource: NameSource?
    public let preferredUsername: String?
    public let picture: String?
    public let locale: String?
    /// Apple's estimate of whether the user is a person; `nil` for other providers.
    public let realUserStatus: RealUserStatus?
    /// Apple's `transfer_sub`, sent for 60 days after an app is transferred; `nil` for other providers.
    public let transferSubject: String?
    /// The user's organization at the provider: Microsoft's `tid`, or the claim named in
    /// ``ProviderPolicy/identityClaims``.
    public let tenant: String?
    /// Google's `hd`; `nil` for other providers, unless ``ProviderPolicy/reportsHostedDomain`` is set.
    public let hostedDomain: String?

    /// How far an address can be trusted. Accounts may be linked by address only if it is authoritative.
    public enum EmailTrust: String, Sendable {
        /// Verified, by a provider that runs the mailbox or its domain.
        case authoritative
        /// Verified, according to the provider.
        case verified
        /// Not verified, according to the provider; or the provider doesn't say.
        case unverified
    }

    /// Where a user's names come from.
    public enum NameSource: String, Sendable {
        /// The token, which is signed.
        case token
        /// The app, whose data is unsigned.
        case client
        /// The provider's UserInfo endpoint.
        case userInfo = "user_info"
    }

    /// Apple's `real_user_status`.
    public enum RealUserStatus: String, Sendable {
        case unsupported
        case unknown
        case likelyReal = "likely_real"
    }

    /// Reads the identity from verified claims.
    ///
    /// Claims and policy are borrowed, because initializers copy their arguments otherwise, and a policy holds many
    /// references.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)`` for an `email`, `email_verified` or `is_private_email` of another type,
    ///   and for a required address that is malformed.
    package init(
        _ claims: borrowing Claims, issuer: String, subject: String, _ policy: borrowing ProviderPolicy,
        clientName: ClientName?
    ) throws(Rejection) {
        // Everything that can throw comes first. Otherwise, the compiler adds cleanup for members that are already set.
        let email = try claims.email(policy)
        let isEmailVerified = try policy.email.isVerified(claims)
        let isClaimedPrivate = try claims.bool(.isPrivateEmail)

        provider = policy.id
        self.issuer = issuer
        self.subject = subject
        hostedDomain = claims.text(
            .hostedDomain, ifReported: policy.reportsHostedDomain || policy.email.trustsHostedDomain, policy)
        switch email {
        case .address(let address):
            self.email = address.text
            self.isEmailVerified = isEmailVerified
            emailTrust = policy.email.trust(
                address, isVerified: isEmailVerified == true, hostedDomain: hostedDomain)
            isPrivateEmail = policy.email.isPrivate(address, claimed: isClaimedPrivate)
        case .absent, .malformed:
            // Without an address, there is nothing that could be verified.
            self.email = nil
            self.isEmailVerified = nil
            emailTrust = nil
            isPrivateEmail = nil
        }

        let names = Names(claims, policy, clientName)
        name = names.full
        givenName = names.given
        familyName = names.family
        nameSource = names.source

        preferredUsername = claims.text(.preferredUsername, policy)
        picture = claims.text(.picture, policy)
        locale = claims.text(.locale, policy)
        realUserStatus = policy.reportsRealUserStatus ? RealUserStatus(claims.integer(.realUserStatus)) : nil
        transferSubject = claims.text(.transferSubject, ifReported: policy.reportsTransferSubject, policy)
        tenant = claims.text(.tenant, policy)
    }
}

extension Identity.RealUserStatus {
    /// From Apple's numbers.
    fileprivate init?(_ number: Int64?) {
        switch number {
        case 0: self = .unsupported
        case 1: self = .unknown
        case 2: self = .likelyReal
        default: return nil
        }
    }
}

/// The names of a user, all from one source: names from the app never complete those from the token.
private struct Names {
    var full: String?
    var given: String?
    var family: String?
    var source: Identity.NameSource?

    // Inlined, to save a copy and a release of the result.
    @inline(__always)
    init(_ claims: borrowing Claims, _ policy: borrowing ProviderPolicy, _ clientName: ClientName?) {
        full = claims.text(.name, policy)
        given = claims.text(.givenName, policy)
        family = claims.text(.familyName, policy)
        if full != nil || given != nil || family != nil {
            source = .token
        } else if let clientName {
            given = clientName.givenName
            family = clientName.familyName
            let parts = [given, family].compactMap(\.self)
            guard !parts.isEmpty else { return }
            full = parts.joined(separator: " ")
            source = .client
        }
    }
}

extension Identity {
    /// The same identity, completed by claims from the UserInfo endpoint.
    ///
    /// The ID Token, which is signed, wins. Members that belong together, such as an address and whether it is
    /// verified, are all from one source. Tenant and hosted domain, which backends authorize by, are the ID Token's
    /// alone, and an address from UserInfo is at most ``EmailTrust/verified``.
    ///
    /// - Parameter userInfo: claims whose `sub` is this identity's, fetched from the provider over TLS.
    /// - Throws: ``Rejection/claimInvalid(_:)`` for a claim of another type.
    /// - Source: OpenID Connect Core 1.0, 5.3.2.
    package func completed(byUserInfo userInfo: JSONObject, _ policy: ProviderPolicy) throws(Rejection) -> Identity {
        var policy = policy
        // Required claims must be in the ID Token.
        policy.requiredClaims = []
        // UserInfo is unsigned, so accounts must not be linked by its address.
        policy.email.authoritativeDomains = []
        policy.email.trustsHostedDomain = false
        let other = try Identity(Claims(userInfo), issuer: issuer, subject: subject, policy, clientName: nil)
        return Identity(self, completedBy: other)
    }

    // The members are constants: if any could change, each verification of a token would cost 600 instructions more.
    private init(_ token: Identity, completedBy userInfo: Identity) {
        provider = token.provider
        issuer = token.issuer
        subject = token.subject
        let address = token.email == nil ? userInfo : token
        email = address.email
        isEmailVerified = address.isEmailVerified
        emailTrust = address.emailTrust
        isPrivateEmail = address.isPrivateEmail
        let hasBetterNames = token.nameSource != .token && userInfo.nameSource != nil
        let names = hasBetterNames ? userInfo : token
        name = names.name
        givenName = names.givenName
        familyName = names.familyName
        nameSource = hasBetterNames ? .userInfo : token.nameSource
        preferredUsername = token.preferredUsername ?? userInfo.preferredUsername
        picture = token.picture ?? userInfo.picture
        locale = token.locale ?? userInfo.locale
        realUserStatus = token.realUserStatus
        transferSubject = token.transferSubject
        tenant = token.tenant
        hostedDomain = token.hostedDomain
    }
}

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
