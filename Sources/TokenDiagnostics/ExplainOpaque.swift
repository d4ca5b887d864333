package import IDToken
private import JOSE

/// What the provider of an opaque token said of it.
package enum ExplainedAnswer {
    case active(IntrospectedClaims)
    /// The token is not active, or there is no answer.
    ///
    /// - Parameter code: of the problem.
    case none(code: String, Diagnosis)
}

extension IDTokenVerifier {
    /// Explains the result of verifying an opaque token. Runs the same checks, and continues after failures.
    ///
    /// - Parameters:
    ///   - isNamed: whether the request named the provider.
    ///   - detail: why the token is refused, and what to do, separated by a semicolon.
    package func explain(
        opaqueToken text: ArraySlice<UInt8>, _ answer: ExplainedAnswer, under policy: ProviderPolicy,
        _ dialect: AccessTokenDialect, isNamed: Bool, expecting parameters: AccessTokenParameters, now: UnixTime,
        detail: (Rejection) -> String
    ) -> Explanation {
        let form = Check.passed(.tokenForm, "The token is a bearer token.", found: "\(text.count) bytes")
        let provider = Check.provider(policy, isNamed: isNamed)
        let introspected: IntrospectedClaims
        switch answer {
        case .active(let claims): introspected = claims
        case .none(let code, let diagnosis):
            return Explanation(
                [form, provider, .failed(.active, .denied(code: code), diagnosis, expected: "active: true")],
                of: CheckName.ofOpaqueTokens, notReached: "the provider does not say that the token is active",
                validSummary: "")
        }
        let recorder = CheckRecorder()
        // The recorder never ends a verification.
        _ = try? jwsVerifier.runOpaqueTokenChecks(
            on: text, saidToHave: introspected, under: policy, dialect, expecting: parameters, now: now,
            watchedBy: recorder)
        let checks = recorder.outcomes.map { name, outcome -> Check in
            let found = name.claim.map { introspected.claims.texts($0) }.flatMap {
                $0.isEmpty ? nil : Redaction.list($0)
            }
            return switch outcome {
            case .passed: .passed(name, "The check passed.", found: found)
            case .failed(let rejection): .failed(name, rejection, Diagnosis(sentence: detail(rejection)), found: found)
            case .notReached: .notReached(name, "Not reached: it depends on an earlier check that failed.")
            case .notAsked: .notAsked(name, "Neither the settings, the request nor the provider's answer need it.")
            }
        }
        let active = Check.passed(.active, "The provider says that the token is active.", expected: "active: true")
        return Explanation(
            [form, provider, active] + checks, of: CheckName.ofOpaqueTokens, notReached: "",
            validSummary:
                "The token is valid: the provider \(policy.id) says that it is active, and it is for this API.",
            contents: TokenContents(introspected: introspected.claims, now: now, jwsVerifier.checker))
    }
}

extension Diagnosis {
    /// - Parameter sentence: what was found, a semicolon, and what to do.
    package init(sentence: String) {
        let parts = sentence.split(separator: "; ", maxSplits: 1)
        guard parts.count == 2, let first = parts[1].first else {
            self.init(sentence)
            return
        }
        self.init(parts[0] + ".", fix: first.uppercased() + parts[1].dropFirst())
    }
}

extension CheckName {
    /// A member that is not personal, if the check is about one.
    fileprivate var claim: ClaimName? {
        switch self {
        case .issuer: .issuer
        case .audience: .audience
        case .client: .clientID
        case .scopes: .scope
        default: nil
        }
    }
}

extension Explanation {
    /// Explains why no provider was asked about a token.
    ///
    /// - Parameters:
    ///   - name: the check that failed.
    ///   - code: of the problem.
    package init(opaqueTokenRefusedAt name: CheckName, code: String, _ diagnosis: Diagnosis) {
        let form: [Check] = name == .tokenForm ? [] : [.passed(.tokenForm, "The token is a bearer token.")]
        self.init(
            form + [.failed(name, .denied(code: code), diagnosis)], of: CheckName.ofOpaqueTokens,
            notReached: "no provider was asked", validSummary: "")
    }
}
