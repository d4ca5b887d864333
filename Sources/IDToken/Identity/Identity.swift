/// Who signed in, in the same words for every provider.
///
/// (``issuer``, ``subject``) is the key under which to store a user; ``email`` never is.
public struct Identity: Sendable, Equatable {
    /// The relying party's name for the provider.
    public let provider: String
    /// The provider's canonical issuer, however the token spelled it.
    public let issuer: String
    /// `sub`, 1 to 255 characters, compared byte for byte.
    public let subject: String
    /// The address, as written; `nil` where there is none, or what is there is not one `addr-spec` of RFC 5322.
    public let email: String?
    /// Whether the provider says that it checked the address; `nil` where it says nothing, or of no address.
    public let isEmailVerified: Bool?
    /// What the address may be used for; `nil` where there is none.
    public let emailTrust: EmailTrust?
    /// Whether the address relays to one the user keeps private; `nil` where the provider has no such thing.
    public let isPrivateEmail: Bool?
    public let name: String?
    public let givenName: String?
    public let familyName: String?
    /// Where the names come from; `nil` where there are none.
    public let nameSource: NameSource?
    public let preferredUsername: String?
    public let picture: String?
    public let locale: String?
    /// Apple's guess whether the user is a person; `nil` for other providers.
    public let realUserStatus: RealUserStatus?
    /// Apple's `transfer_sub`, sent for 60 days after an app changed hands; `nil` for other providers.
    public let transferSubject: String?
    /// The organization that the user belongs to at the provider: Microsoft's `tid`, or what ``ProviderPolicy/identityClaims``
    /// names.
    public let tenant: String?
    /// Google's `hd`; `nil` for other providers, unless ``ProviderPolicy/reportsHostedDomain`` says so.
    public let hostedDomain: String?

    /// What an address may be used for. Accounts may be linked by address only where it is authoritative.
    public enum EmailTrust: String, Sendable {
        /// Verified, and the provider runs the mailbox or its domain.
        case authoritative
        /// The provider says verified, no more.
        case verified
        /// The provider says it is not verified, or says nothing.
        case unverified
    }

    public enum NameSource: String, Sendable {
        /// The token, which is signed.
        case token
        /// The app, whose word is not.
        case client
    }

    public enum RealUserStatus: String, Sendable {
        case unsupported
        case unknown
        case likelyReal = "likely_real"
    }

    /// Reads the identity from claims that were verified.
    ///
    /// Claims and policy are borrowed: what an initializer is given is copied otherwise, and a policy has eleven references.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)`` for an `email`, `email_verified` or `is_private_email` of another type, and for a
    ///   required address that is none.
    init(
        _ claims: borrowing Claims, issuer: String, subject: String, _ policy: borrowing ProviderPolicy,
        clientName: ClientName?
    ) throws(Rejection) {
        // What may be refused first: what was set before would have to be undone.
        let email = try claims.email(policy)
        let hasEmail = if case .address = email { true } else { false }
        let isEmailVerified = try policy.email.isVerified(claims, hasEmail: hasEmail)
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
            self.email = nil
            // Of something that is no address, nothing is verified.
            if case .absent = email { self.isEmailVerified = isEmailVerified } else { self.isEmailVerified = nil }
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

/// The names of a user, all from one source: what the app says never completes what the token says.
private struct Names {
    var full: String?
    var given: String?
    var family: String?
    var source: Identity.NameSource?

    // In place: what comes back from a call is copied out of it, and then let go.
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
