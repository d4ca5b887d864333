internal import IDToken

/// Records the result of each check, and continues after failures.
final class CheckRecorder: CheckObserver {
    enum Outcome {
        case passed
        case failed(Rejection)
        /// The check needs the result of a check that failed.
        case notReached
        /// Neither the settings nor the request enable the check.
        case notAsked
    }

    /// In the order of the checks.
    private(set) var outcomes: [(name: CheckName, outcome: Outcome)] = []

    func check<Input, Value>(
        _ name: CheckName, isEnabled: Bool, input: () -> Input?, rule: (Input) throws(Rejection) -> Value
    ) throws(Rejection) -> Value? {
        guard isEnabled else {
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
