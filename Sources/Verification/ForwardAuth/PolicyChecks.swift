private import Bytes
internal import HTTP
internal import IDToken
internal import Keys
internal import TokenDiagnostics

/// Describes what a gateway's policy requires of a token, and whether a verified token meets it.
struct PolicyChecks {
    let policy: ForwardAuthPolicy
    /// The time with which to compare the token's times.
    let now: UnixTime

    private var requirements: Requirements { policy.requirements }

    /// - Parameter token: `nil` if the token is not verified.
    func checks(of token: GatewayToken?, clockSkewSeconds: Int64) -> [Check] {
        let checks = Requirements.Requirement.allCases.map { requirement in
            let (name, words, setting) = requirement.row
            guard requirements.isRequired(requirement) else {
                return Check.notAsked(name, "The policy requires no \(words) (\(setting)).")
            }
            guard let token else { return .notReached(name, "Not reached: the token is not verified.") }
            let (expected, found) = (expected(requirement), found(requirement, token))
            if let denial = requirements.denial(
                for: requirement, token, now: now, clockSkewSeconds: clockSkewSeconds)
            {
                return .failed(
                    name, .denied(code: denial.code), failure(requirement, denial), expected: expected, found: found)
            }
            return .passed(
                name, "The token meets the policy's requirement (\(setting)).", expected: expected, found: found)
        }
        return checks + [headers(token)]
    }

    private func expected(_ requirement: Requirements.Requirement) -> String {
        switch requirement {
        case .scopes: Redaction.list(requirements.scopes)
        case .claims: Redaction.list(requirements.claimRules.map(\.claim.name.string)) + " as configured"
        case .email:
            "an address with email_trust \(requirements.neededEmailTrust?.rawValue ?? "") or better"
                + (requirements.emailDomains.isEmpty ? "" : ", in \(Redaction.list(requirements.emailDomains))")
        case .age: "authenticated at most \(requirements.maximumAgeSeconds ?? 0) s ago, plus clock_skew"
        }
    }

    private func found(_ requirement: Requirements.Requirement, _ token: GatewayToken) -> String? {
        switch requirement {
        case .scopes: token.authorization.map { Redaction.list($0.scopes) } ?? "an ID Token, which grants no scopes"
        // Values may be personal.
        case .claims: nil
        case .email: (token.identity?.emailTrust).map { "an address with email_trust \($0.rawValue)" } ?? "no address"
        case .age:
            token.authenticatedAt.map { "authenticated \(Redaction.time($0, now: now))" } ?? "no auth_time or iat"
        }
    }

    private func failure(_ requirement: Requirements.Requirement, _ denial: Denial) -> Diagnosis {
        let setting = "\(requirement.row.setting) of the policy \(policy.id)"
        return switch requirement {
        case .scopes:
            Diagnosis(
                "The token does not grant every scope that the policy requires.",
                fix: "Have the client request the scope, or change \(setting).")
        case .claims where denial == .groupsOverage: .groupsOverage(setting: setting)
        case .claims:
            Diagnosis(
                "A claim of the token does not have a value that the policy accepts.",
                fix: "If users like this one may pass, change \(setting).")
        case .email:
            Diagnosis(
                "The token has no email address that the policy accepts.",
                fix: "Have the user sign in with an accepted address, or change \(setting).")
        case .age:
            Diagnosis(
                "The user did not authenticate recently enough for the policy.",
                fix: "Have the user sign in again, with max_age or prompt=login, or change \(setting).")
        }
    }

    /// Whether the values for the backend fit into a response.
    private func headers(_ token: GatewayToken?) -> Check {
        guard let token else { return .notReached(.policyHeaders, "Not reached: the token is not verified.") }
        let limit = ForwardAuthPolicy.maximumValuesLength
        let expected = "at most \(limit) bytes in all"
        guard policy.fits(token) else {
            return .failed(
                .policyHeaders, .denied(code: Denial.valuesTooLong.code),
                Diagnosis(
                    "The header fields for the backend are too long.",
                    fix: "Remove long values, such as groups, from headers of the policy \(policy.id)."),
                expected: expected)
        }
        return .passed(.policyHeaders, "The header fields for the backend fit into a response.", expected: expected)
    }
}

extension Requirements.Requirement {
    /// The name of its check, what it is called in texts, and the path of its setting within the policy.
    fileprivate var row: (check: CheckName, words: String, setting: String) {
        switch self {
        case .scopes: (.policyScopes, "scopes", "require.scopes")
        case .claims: (.policyClaims, "claim values", "require.claim_values")
        case .email: (.policyEmail, "email address", "require.email_domains, require.email_trust")
        case .age: (.policyAge, "recent authentication", "require.max_age")
        }
    }
}

extension ForwardAuth.Rule {
    /// The summary of an explanation without a failed check.
    fileprivate var validSummary: String { "The policy \(policy.id) lets requests with this token pass." }
}

extension ForwardAuth {
    /// Explains the decision on a token: every check of its verification, then every requirement of the policy.
    ///
    /// - Parameter status: the state of the provider's keys; `nil` if there is no provider.
    func explain(
        _ text: ArraySlice<UInt8>, _ evidence: BindingEvidence, _ rule: Rule, _ status: KeyStatus?,
        _ verdict: Verdict<GatewayToken>, now: UnixTime
    ) -> ExplainAnswer {
        let slot = verdict.provider.flatMap { verifier.slot($0, of: rule.resource) }
        let explanation = explanation(of: text, evidence, rule, slot, status, verdict, now: now)
        let checks = PolicyChecks(policy: rule.policy, now: now).checks(
            of: verdict.answer, clockSkewSeconds: slot?.policy.clockSkewSeconds ?? 0)
        return ExplainAnswer(
            explanation: explanation.adding(checks, validSummary: rule.validSummary), provider: slot?.policy.id,
            keys: status, time: now)
    }

    /// Explains the decision on an opaque token.
    func explained(
        opaqueToken token: RequestVerifier.OpaqueToken, _ evidence: BindingEvidence, _ rule: Rule,
        until deadline: MonotonicTime
    ) async -> RequestVerifier.Explained {
        let (explained, verified) = await verifier.explained(
            opaqueToken: token, expecting: AccessTokenParameters(evidence: evidence), isNamed: false, until: deadline)
        guard case .success(var answer) = explained.answer else { return explained }
        let skew = token.provider.flatMap { verifier.slots[$0] }?.policy.clockSkewSeconds ?? 0
        let checks = PolicyChecks(policy: rule.policy, now: answer.time).checks(
            of: verified.map(GatewayToken.opaque), clockSkewSeconds: skew)
        answer.explanation = answer.explanation.adding(checks, validSummary: rule.validSummary)
        return RequestVerifier.Explained(answer: .success(answer), provider: explained.provider)
    }

    /// Explains the verification of the token.
    private func explanation(
        of text: ArraySlice<UInt8>, _ evidence: BindingEvidence, _ rule: Rule, _ slot: RequestVerifier.ProviderSlot?,
        _ status: KeyStatus?, _ verdict: Verdict<GatewayToken>, now: UnixTime
    ) -> Explanation {
        let tokenVerifier = verifier.verifier
        let token: UnverifiedToken
        do throws(Rejection) {
            (token, _) = try verifier.read(text, ofProvider: nil, among: rule.providers)
        } catch {
            return Explanation(ofNoResourceOf: verdict.problem) ?? tokenVerifier.explain(malformed: text, error)
        }
        let accepted = verifier.singlePolicies(of: rule.resource) {
            rule.policy.providers.containsExactly($0.policy.id)
        }
        let slot = verdict.provider.flatMap { number in
            (try? verifier.explainedSlot(number, token, nil, of: rule.resource)) ?? slot
        }
        guard let slot else {
            guard rule.resource != nil else { return tokenVerifier.explain(token, ofNoneOf: accepted, now: now) }
            return tokenVerifier.explain(
                accessToken: token, ofNoneOf: accepted, providerOfIDTokens: nil, isForResource: true, now: now)
        }
        let keys = ExplainedKeys(status, onceDecided: verdict.problem, now: now)
        let others = accepted.filter { !$0.id.isExactly(slot.policy.id) }
        guard let dialect = slot.provider.accessTokens else {
            return tokenVerifier.explain(
                token, with: keys, under: slot.policy, isNamed: false, fetchesLazily: slot.source.isLazy,
                others: others, expecting: Self.parameters, now: now)
        }
        return tokenVerifier.explain(
            accessToken: token, with: keys, under: slot.policy, dialect, isNamed: false,
            fetchesLazily: slot.source.isLazy, others: others, expecting: AccessTokenParameters(evidence: evidence),
            now: now)
    }
}
