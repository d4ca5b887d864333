private import JSON

extension SignInExamination {
    func subject() -> Check {
        let expected = "1 to 255 characters"
        let found = claims.text(.subject).map { ShownText.fingerprint($0, checker) }
        switch result(of: { () throws(Rejection) in try checkSubject(claims) }) {
        case .success: return .passed(.subject, "The token says who signed in.", expected: expected, found: found)
        case .failure(let rejection):
            return .failed(
                .subject, rejection, Diagnosis(rejection, otherwise: Diagnosis("The token's sub is no subject.")),
                expected: expected, found: found)
        }
    }

    func events() -> Check {
        switch result(of: { () throws(Rejection) in try checkNoEvents(claims) }) {
        case .success: return .passed(.events, "The token is neither a notification nor a logout token.")
        case .failure(let rejection):
            return .failed(
                .events, rejection,
                Diagnosis(
                    "The token is a notification or a logout token: it has events.",
                    fix: "Send the ID Token of a sign-in; notifications are for another address of yours."),
                expected: "no events", found: "events")
        }
    }

    func requiredClaims() -> Check {
        guard !policy.requiredClaims.isEmpty else {
            return .notAsked(.requiredClaims, "The settings require no further claims (required_claims).")
        }
        let expected = policy.requiredClaims.map(\.string).joined(separator: ", ")
        var missing: [(claim: ClaimName, rejection: Rejection)] = []
        for claim in policy.requiredClaims {
            if case .failure(let rejection) = result(of: { () throws(Rejection) in try checkPresence(of: claim, claims)
            }) {
                missing.append((claim, rejection))
            }
        }
        guard let first = missing.first else {
            return .passed(.requiredClaims, "The claims that the settings require are there.", expected: expected)
        }
        let names = missing.map(\.claim.string).joined(separator: ", ")
        return .failed(
            .requiredClaims, first.rejection,
            Diagnosis(
                "The token has no \(names), which required_claims of the provider \(policy.id) asks for.",
                fix:
                    """
                    Ask the provider for the scope that brings it, such as email or profile, or take it from \
                    required_claims.
                    """
            ), expected: expected, found: "no " + names)
    }

    func claimValues() -> Check {
        guard !policy.claimRules.isEmpty else {
            return .notAsked(.claimValues, "The settings prescribe no claim's value (claim_values).")
        }
        let expected = policy.claimRules.map(expectation).joined(separator: "; ")
        var failures: [(rule: ClaimRule, rejection: Rejection)] = []
        for rule in policy.claimRules {
            if case .failure(let rejection) = result(of: { () throws(Rejection) in try rule.check(claims) }) {
                failures.append((rule, rejection))
            }
        }
        guard let first = failures.first else {
            return .passed(.claimValues, "The claims have the values that the settings prescribe.", expected: expected)
        }
        let name = first.rule.claim.name.string
        let setting =
            switch first.rule.kind {
            case .oneOf: "claim_values"
            case .noneOf: "refused_claim_values"
            case .absent: "refused_claims"
            }
        return .failed(
            .claimValues, first.rejection,
            Diagnosis(
                first.rule.kind == .absent
                    ? "The token has \(name), which \(setting) of the provider \(policy.id) refuses."
                    : first.rule.kind == .noneOf
                        ? "The token's \(name) has a value that \(setting) of the provider \(policy.id) refuses."
                        : first.rejection == .claimMissing(first.rule.claim.name)
                            ? "The token has no \(name), and \(setting) of the provider \(policy.id) prescribes its value."
                            : """
                            The token's \(name) has another value than \(setting) of the provider \(policy.id) \
                            prescribes.
                            """,
                fix: Self.tokenKinds.contains(name)
                    ? "Send the ID Token of a sign-in: \(name) tells it from other tokens by the same keys."
                    : first.rule.kind == .absent
                        ? "Send the token of a sign-in of your own, or change \(setting) if tokens with \(name) are good."
                        : "Change \(setting), if users with this value may sign in."),
            expected: expected, found: failures.map { found($0.rule.claim) }.joined(separator: "; "))
    }

    /// Claims that say which kind of token it is.
    private static let tokenKinds = [
        "token_use", "typ", "ver", "azpacr", "appidacr", "ref_protected", "tfp", "sts", "scp",
    ]
    /// Claims whose values belong to an organization or a kind of token, and to nobody; of all others no value is shown.
    static let impersonalClaims = tokenKinds + ["hd", "tid", "acr"]

    private func expectation(_ rule: ClaimRule) -> String {
        let name = rule.claim.name.string
        if rule.kind == .absent { return "no \(name)" }
        let verb = rule.kind == .oneOf ? "is" : "is not"
        return Self.impersonalClaims.contains(name)
            ? "\(name) \(verb) \(ShownText.list(rule.values))"
            : "\(name) \(verb) one of the configured values (\(rule.values.count))"
    }

    private func found(_ path: ClaimPath) -> String {
        let name = path.name.string
        guard let value = claims.value(at: path), value.kind != .null else { return "no \(name)" }
        guard let text = value.string ?? value.integer.map(String.init) ?? value.bool.map({ "\($0)" }) else {
            return "\(name) of another type"
        }
        return name + " "
            + (Self.impersonalClaims.contains(name) ? ShownText.text(text) : ShownText.fingerprint(text, checker))
    }

    /// Whether the token is a person's.
    func serviceAccount() -> Check {
        let rule = policy.serviceAccounts
        guard rule.refusesOwnParty || !rule.emailDomains.isEmpty else {
            return .notAsked(.serviceAccount, "The settings refuse no service accounts (service_accounts).")
        }
        let outcome = result { () throws(Rejection) in
            try checkServiceAccount(claims, policy, subject: claims.text(.subject) ?? "")
        }
        guard case .failure(let rejection) = outcome else {
            return .passed(.serviceAccount, "The token does not look like a service account's.")
        }
        let fix = """
            Send the ID Token of a person's sign-in. If service accounts may sign in, change service_accounts of the \
            provider \(policy.id).
            """
        let domains = ShownText.list(rule.emailDomains)
        guard rejection == .claimInvalid(.authorizedParty) else {
            return .failed(
                .serviceAccount, rejection,
                Diagnosis("The token is a service account's: its address is in \(domains) or below it.", fix: fix),
                expected: "an address outside \(domains)", found: "an address in \(domains)")
        }
        guard claims.text(.authorizedParty) != nil else {
            return .failed(
                .serviceAccount, rejection, Diagnosis(rejection, otherwise: Diagnosis("The token's azp is no string.")))
        }
        return .failed(
            .serviceAccount, rejection,
            Diagnosis(
                "The token is a service account's: its azp is its sub, so the account asked for it itself.", fix: fix),
            expected: "an azp other than sub", found: "an azp equal to sub")
    }

    /// Whether an identity can be made of the claims.
    func identity() -> Check {
        let outcome = result { () throws(Rejection) in
            try Identity(claims, issuer: policy.issuer, subject: "", policy, clientName: nil)
        }
        let address = policy.identityClaims[.email]?.name ?? .email
        let noAddress = claims.textThatIsNoAddress(policy)
        let found = noAddress.map { ShownText.fingerprint($0, checker) }
        switch outcome {
        case .success:
            guard noAddress != nil else {
                return .passed(.identity, "The claims that make the identity are of the types that they should be.")
            }
            return .passed(
                .identity,
                """
                The token's \(address.string) is not one e-mail address, so the identity has none: email, email_verified, \
                email_trust and is_private_email are null.
                """, found: found)
        case .failure(let rejection):
            if noAddress != nil, rejection == .claimInvalid(address) {
                return .failed(
                    .identity, rejection,
                    Diagnosis(
                        """
                        The token's \(address.string) is not one e-mail address, and required_claims of the provider \
                        \(policy.id) asks for one.
                        """,
                        fix:
                            """
                            Have the provider send one plain address (name@example.com, without a display name), or take \
                            \(address.string) from required_claims.
                            """
                    ), expected: "one e-mail address", found: found)
            }
            let claim = rejection.claim?.string ?? "email"
            return .failed(
                .identity, rejection,
                Diagnosis(
                    rejection == .claimInvalid(.email)
                        ? "The token's email is no string."
                        : "The token's \(claim) is neither a boolean nor one as a string or number.",
                    fix:
                        """
                        The provider breaks its own rules; its operator, or the one who maps its claims, has to \
                        mend it.
                        """
                ), expected: claim == "email" ? "a string" : "true or false", found: "another type")
        }
    }
}

extension Claims {
    /// What the token has in place of an address; `nil` where it has one, or says nothing.
    fileprivate func textThatIsNoAddress(_ policy: ProviderPolicy) -> String? {
        let claimed = policy.identityClaims[.email].map(text(at:)) ?? text(.email)
        return claimed.flatMap { $0.isEmpty || EmailAddress($0) != nil ? nil : $0 }
    }
}
