internal import IDToken
private import JOSE

extension CheckDescriptions {
    func subject(_ rejection: Rejection?) -> Check {
        .checked(
            .subject, rejection, passed: "The token has a valid sub.", failed: subjectDiagnosis,
            expected: expectedSubjectLength, found: fingerprint(of: .subject))
    }

    /// Why `sub` is not a subject.
    var subjectDiagnosis: Diagnosis {
        guard claims.contains(.subject), claims.text(.subject)?.isEmpty != true else {
            return Diagnosis(
                "The token has no sub, or an empty one, so it does not say whose it is.",
                fix: "Check that it is \(kind.article). If so, configure the provider to put sub in it.")
        }
        guard let subject = claims.text(.subject) else {
            return Diagnosis("The token's sub is not a string.", fix: "Report it to the provider.")
        }
        let (count, limit) = (subject.unicodeScalars.count, policy.maximumSubjectLength)
        guard count > limit else {
            return Diagnosis(
                "The token's sub has control characters, or nothing but spaces.", fix: "Report it to the provider.")
        }
        return Diagnosis(
            "The token's sub has \(count) characters; \(limit) are allowed.",
            fix: """
                Have the provider issue a shorter one. OpenID Connect allows 255; the presets for workloads \
                (github-actions, kubernetes) allow \(ProviderPolicy.maximumWorkloadLength).
                """)
    }

    var expectedSubjectLength: String { "1 to \(policy.maximumSubjectLength) characters" }

    func expectedSubject(_ rejection: Rejection?) -> Check {
        let person = parameters.expectedSubject
        let expected = person.map { person in
            Redaction.fingerprint(person.subject, checker)
                + (person.issuer.map { " at \(Redaction.quoted($0))" } ?? "")
        }
        return made(
            .expectedSubject, rejection, passed: "The token's subject is the expected one.",
            failed: Diagnosis(
                person?.subject == claims.text(.subject)
                    ? "The subject matches, but the issuer differs."
                    : "The token belongs to a different user than the request's subject.",
                fix: "Have the expected user sign in, or omit subject if any user may sign in."),
            expected: expected, found: fingerprint(of: .subject))
    }

    func events(_ rejection: Rejection?) -> Check {
        guard let rejection else {
            return .passed(.events, "The token is neither a notification nor a logout token.")
        }
        return .failed(.events, rejection, .notification(token), expected: "no events", found: "events")
    }

    func requiredClaims(_ rejection: Rejection?) -> Check {
        let expected = policy.requiredClaims.map(\.string).joined(separator: ", ")
        guard let rejection else {
            return .passed(.requiredClaims, "The token has all required claims.", expected: expected)
        }
        if rejection == .groupsOverage {
            return .failed(
                .requiredClaims, rejection, .groupsOverage(setting: "required_claims of the provider \(policy.id)"),
                expected: expected, found: "no groups")
        }
        let missing = policy.requiredClaims.filter { (try? checkPresence(of: $0, claims)) == nil }
        let names = missing.map(\.string).joined(separator: ", ")
        return .failed(
            .requiredClaims, rejection,
            Diagnosis(
                "The token has no \(names), but required_claims of the provider \(policy.id) lists it.",
                fix: """
                    Request the scope that adds it, such as email or profile, or remove it from required_claims.
                    """),
            expected: expected, found: "no " + names)
    }

    func claimValues(_ rejection: Rejection?) -> Check {
        let expected = policy.claimRules.map(expectation).joined(separator: "; ")
        let broken = policy.claimRules.filter { (try? $0.check(claims)) == nil }
        guard let rejection, let rule = broken.first else {
            return .passed(.claimValues, "The claims have the values that the settings require.", expected: expected)
        }
        let name = rule.claim.name.string
        let setting =
            switch rule.kind {
            case .oneOf: "claim_values"
            case .noneOf: "refused_claim_values"
            case .absent: "refused_claims"
            }
        if rejection == .groupsOverage {
            return .failed(
                .claimValues, rejection, .groupsOverage(setting: "\(setting) of the provider \(policy.id)"),
                expected: expected, found: "no groups")
        }
        return .failed(
            .claimValues, rejection,
            Diagnosis(
                rule.kind == .absent
                    ? "The token has \(name), which \(setting) of the provider \(policy.id) refuses."
                    : rule.kind == .noneOf
                        ? "The token's \(name) has a value that \(setting) of the provider \(policy.id) refuses."
                        : rejection == .claimMissing(rule.claim.name)
                            ? "The token has no \(name), but \(setting) of the provider \(policy.id) requires a value."
                            : "The token's \(name) is not a value that \(setting) of the provider \(policy.id) allows.",
                fix: Self.tokenKinds.contains(name)
                    ? "Send \(kind.article): \(name) distinguishes it from other tokens signed with the same keys."
                    : rule.kind == .absent
                        ? "Send a token from one of your own sign-ins, or change \(setting) if tokens with \(name) may pass."
                        : "If users with this value may sign in, change \(setting)."),
            expected: expected, found: broken.map { found($0.claim) }.joined(separator: "; "))
    }

    /// Claims that identify the kind of token.
    private static let tokenKinds = [
        "token_use", "typ", "ver", "azpacr", "appidacr", "ref_protected", "tfp", "sts", "scp",
    ]
    /// Claims whose values identify an organization or a kind of token, not a person. The values of all other claims
    /// are hidden.
    static let impersonalClaims = tokenKinds + ["hd", "tid", "acr"]

    private func expectation(_ rule: ClaimRule) -> String {
        let name = rule.claim.name.string
        if rule.kind == .absent { return "no \(name)" }
        let verb = rule.kind == .oneOf ? "is" : "is not"
        return Self.impersonalClaims.contains(name)
            ? "\(name) \(verb) \(Redaction.list(rule.values))"
            : "\(name) \(verb) one of the configured values (\(rule.values.count))"
    }

    private func found(_ path: ClaimPath) -> String {
        let name = path.name.string
        guard let value = claims.value(at: path), value.kind != .null else { return "no \(name)" }
        if let count = value.elementCount { return "\(name), a list of \(count)" }
        guard let text = value.string ?? value.integer.map(String.init) ?? value.bool.map({ "\($0)" }) else {
            return "\(name) of another type"
        }
        return name + " "
            + (Self.impersonalClaims.contains(name) ? Redaction.text(text) : Redaction.fingerprint(text, checker))
    }

    func serviceAccount(_ rejection: Rejection?) -> Check {
        guard let rejection else {
            return .passed(.serviceAccount, "The token is not a service account's.")
        }
        let fix = """
            Send the token of a user's sign-in. If service accounts may sign in, change service_accounts of the \
            provider \(policy.id).
            """
        let domains = Redaction.list(policy.serviceAccounts.emailDomains)
        guard rejection == .claimInvalid(.authorizedParty) else {
            return .failed(
                .serviceAccount, rejection,
                Diagnosis("The token is a service account's: its address is in \(domains) or below it.", fix: fix),
                expected: "an address outside \(domains)", found: "an address in \(domains)")
        }
        guard claims.text(.authorizedParty) != nil else {
            return .failed(
                .serviceAccount, rejection,
                Diagnosis(rejection, of: kind, otherwise: Diagnosis("The token's azp is not a string.")))
        }
        return .failed(
            .serviceAccount, rejection,
            Diagnosis(
                "The token is a service account's: its azp equals its sub, so it was issued to the account itself.",
                fix: fix),
            expected: "an azp other than sub", found: "an azp equal to sub")
    }

    func identity(_ rejection: Rejection?) -> Check {
        let address = policy.identityClaims[.email]?.name ?? .email
        let noAddress = claims.malformedEmail(policy)
        let found = noAddress.map { Redaction.fingerprint($0, checker) }
        guard let rejection else {
            return .passed(
                .identity,
                noAddress == nil
                    ? "All identity claims have the expected types."
                    : """
                    The token's \(address.string) is not a single email address, so the identity has none: email, \
                    email_verified, email_trust and is_private_email are null.
                    """,
                found: found)
        }
        if noAddress != nil, rejection == .claimInvalid(address) {
            return .failed(
                .identity, rejection,
                Diagnosis(
                    """
                    The token's \(address.string) is not a single email address, but required_claims of the provider \
                    \(policy.id) requires one.
                    """,
                    fix: """
                        Have the provider send one plain address (name@example.com, without a display name), or \
                        remove \(address.string) from required_claims.
                        """),
                expected: "a single email address", found: found)
        }
        let claim = rejection.claim?.string ?? "email"
        return .failed(
            .identity, rejection,
            Diagnosis(
                rejection == .claimInvalid(.email)
                    ? "The token's email is not a string."
                    : "The token's \(claim) is neither a boolean nor a string or number that stands for one.",
                fix: """
                    The provider sends a wrong type; fix the claim mapping there, or report it to the provider's \
                    operator.
                    """),
            expected: claim == "email" ? "a string" : "true or false", found: "another type")
    }

    /// Whether the party to which the token was issued may present it. The check is enabled only if the settings list
    /// authorized_parties.
    func authorizedParty(_ rejection: Rejection?) -> Check {
        let found = claims.text(.authorizedParty).map(Redaction.text)
        guard rejection != nil || !policy.authorizedParties.isEmpty else {
            return .notAsked(.authorizedParty, "The settings don't restrict azp (authorized_parties).", found: found)
        }
        return made(
            .authorizedParty, rejection,
            passed: found == nil ? "The token has no azp." : "authorized_parties lists the token's azp.",
            failed: partyDiagnosis, expected: Redaction.list(policy.authorizedParties), found: found)
    }

    var partyDiagnosis: Diagnosis {
        let party = claims.text(.authorizedParty).map { ", " + Redaction.quoted($0) + "," } ?? ""
        return Diagnosis(
            "The token's azp\(party) is not an accepted party.",
            fix: "If it is your client ID, add it to authorized_parties of the provider \(policy.id).")
    }
}

extension Claims {
    /// The claim's value if it is not a single email address; `nil` if it is, or if it is absent.
    fileprivate func malformedEmail(_ policy: ProviderPolicy) -> String? {
        let claimed = policy.identityClaims[.email].map(text(at:)) ?? text(.email)
        return claimed.flatMap { $0.isEmpty || EmailAddress($0) != nil ? nil : $0 }
    }
}
