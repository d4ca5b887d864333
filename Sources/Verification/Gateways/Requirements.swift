private import Bytes
package import IDToken
private import JOSE

/// What a policy requires of a verified token. By default, nothing.
package struct Requirements: Sendable, Equatable {
    /// The scopes, all of which the token must grant.
    package var scopes: [String] = []
    package var claimRules: [ClaimRule] = []
    /// The domains that the email address may have; if empty, any. Subdomains don't match.
    package var emailDomains: [String] = []
    /// The minimum trust in the address; `nil`: `verified` if there are ``emailDomains``, else no address is required.
    package var emailTrust: Identity.EmailTrust?
    /// The maximum age of the user's authentication, in seconds.
    package var maximumAgeSeconds: Int64?

    package init() {}

    /// A kind of requirement that a policy can have.
    package enum Requirement: CaseIterable {
        case scopes, claims, email, age
    }

    /// - Throws: ``Denial/scopeMissing(needed:)``, ``Denial/requirementNotMet``, ``Denial/groupsOverage``.
    func check(_ token: GatewayToken, now: UnixTime, clockSkewSeconds: Int64) throws(Denial) {
        for requirement in Requirement.allCases {
            if let denial = denial(for: requirement, token, now: now, clockSkewSeconds: clockSkewSeconds) {
                throw denial
            }
        }
    }

    /// Whether the policy has a requirement.
    package func isRequired(_ requirement: Requirement) -> Bool {
        switch requirement {
        case .scopes: !scopes.isEmpty
        case .claims: !claimRules.isEmpty
        case .email: neededEmailTrust != nil
        case .age: maximumAgeSeconds != nil
        }
    }

    /// Why a request is denied for one requirement; `nil` if its token meets it, or if the policy does not have it.
    package func denial(
        for requirement: Requirement, _ token: GatewayToken, now: UnixTime, clockSkewSeconds: Int64
    ) -> Denial? {
        switch requirement {
        case .scopes:
            scopes.allSatisfy((token.authorization?.scopes ?? []).containsExactly)
                ? nil : .scopeMissing(needed: scopes)
        case .claims: denial(forClaimsOf: token)
        case .email:
            neededEmailTrust.map { hasEmail(token.identity, trustedAtLeast: $0) } ?? true ? nil : .requirementNotMet
        case .age:
            isFresh(token.authenticatedAt, now: now, clockSkewSeconds: clockSkewSeconds) ? nil : .requirementNotMet
        }
    }

    /// The minimum trust in the address; `nil` if no address is required. An unverified address may be anybody's.
    package var neededEmailTrust: Identity.EmailTrust? { emailTrust ?? (emailDomains.isEmpty ? nil : .verified) }

    private func denial(forClaimsOf token: GatewayToken) -> Denial? {
        guard !claimRules.isEmpty else { return nil }
        // Only a few policies have such rules, so verified tokens don't keep their claims as a parsed object.
        guard let object = try? JSONObject(token.claimsText) else { return .requirementNotMet }
        let claims = Claims(object)
        do throws(Rejection) {
            for rule in claimRules { try rule.check(claims) }
            return nil
        } catch {
            return error == .groupsOverage ? .groupsOverage : .requirementNotMet
        }
    }

    private func hasEmail(_ identity: Identity?, trustedAtLeast needed: Identity.EmailTrust) -> Bool {
        guard let identity, let trust = identity.emailTrust, trust.rank >= needed.rank else { return false }
        return emailDomains.isEmpty || identity.hasAddress(in: emailDomains)
    }

    /// Whether the user authenticated recently enough. A time in the future is rejected.
    private func isFresh(_ authenticatedAt: UnixTime?, now: UnixTime, clockSkewSeconds: Int64) -> Bool {
        guard let maximumAgeSeconds else { return true }
        guard let authenticatedAt else { return false }
        return authenticatedAt <= now.advanced(bySeconds: clockSkewSeconds)
            && now <= authenticatedAt.advanced(bySeconds: maximumAgeSeconds).advanced(bySeconds: clockSkewSeconds)
    }
}

extension Identity.EmailTrust {
    /// Larger numbers mean more trust.
    fileprivate var rank: Int {
        switch self {
        case .unverified: 0
        case .verified: 1
        case .authoritative: 2
        }
    }
}

extension Identity {
    /// Whether it has a mail address in one of these domains. Subdomains don't match.
    func hasAddress(in domains: [String]) -> Bool {
        guard let address = email.flatMap(EmailAddress.init) else { return false }
        return address.isIn(oneOf: domains)
    }
}
