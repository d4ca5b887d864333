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

    public enum NameSource: String, Sendable {
        /// The token, which is signed.
        case token
        /// The app, whose data is unsigned.
        case client
        /// The provider's UserInfo endpoint.
        case userInfo = "user_info"
    }

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
