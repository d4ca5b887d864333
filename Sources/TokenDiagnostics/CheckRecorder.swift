public import IDToken
private import JOSE

/// Records what becomes of each check of a verification, and goes on past failures.
final class CheckRecorder: CheckObserver {
    enum Outcome {
        case passed
        case failed(Rejection)
        /// It needs what an earlier check did not find.
        case notReached
        /// Neither the settings nor the request ask for it.
        case notAsked
    }

    /// In the order of the checks.
    private(set) var outcomes: [(name: CheckName, outcome: Outcome)] = []

    func check<Input, Value>(
        _ name: CheckName, isAsked: Bool, input: () -> Input?, rule: (Input) throws(Rejection) -> Value
    ) throws(Rejection) -> Value? {
        guard isAsked else {
            outcomes.append((name, .notAsked))
            return nil
        }
        guard let input = input() else {
            outcomes.append((name, .notReached))
            return nil
        }
        do throws(Rejection) {
            let value = try rule(input)
            outcomes.append((name, .passed))
            return value
        } catch {
            outcomes.append((name, .failed(error)))
            return nil
        }
    }
}

extension CheckName {
    /// Whether the text is a token, which comes before all checks of what it says.
    public static let tokenForm = CheckName("token_form")
    /// Whether a provider was found to verify the token by.
    public static let provider = CheckName("provider")
    /// Whether the provider has published a key for the token: to people another thing than a signature that does not hold, to
    /// the verifier the first half of the same check.
    public static let key = CheckName("key")

    /// Every check of an explanation, in its order: reading the token, choosing the provider, then the verifier's list.
    public static let inOrder: [CheckName] = {
        let recorder = CheckRecorder()
        // The list is the same for every token, and without keys for each.
        if let token = try? UnverifiedToken("e30.e30."), let verifier = try? IDTokenVerifier() {
            _ = try? verifier.runChecks(
                on: token, with: .empty, algorithms: .all,
                under: ProviderPolicy(id: "", issuer: "", audiences: []), expecting: VerificationParameters(),
                now: UnixTime(seconds: 0), watchedBy: recorder)
        }
        return [.tokenForm, .provider]
            + recorder.outcomes.flatMap { $0.name == .signature ? [.key, .signature] : [$0.name] }
    }()
}
