/// Watches the checks of a verification: it is handed each rule by name, in the order of the list, and decides whether to go on
/// where one fails.
package protocol CheckObserver {
    /// Makes a check.
    ///
    /// - Parameters:
    ///   - isEnabled: whether the settings or the request ask for the check.
    ///   - input: what an earlier check found; `nil` where that check failed.
    ///   - rule: the check itself.
    /// - Returns: what the check found; `nil` where it was not made, or failed and the verification goes on nevertheless.
    /// - Throws: the rule's rejection, where the verification ends with it.
    func check<Input, Value>(
        _ name: CheckName, isEnabled: Bool, input: () -> Input?, rule: (Input) throws(Rejection) -> Value
    ) throws(Rejection) -> Value?
}

extension CheckObserver {
    /// Makes a check that needs nothing of an earlier one.
    @inline(__always)
    @discardableResult
    func check<Value>(
        _ name: CheckName, if isEnabled: Bool = true, _ rule: @autoclosure () throws(Rejection) -> Value
    ) throws(Rejection) -> Value? {
        try check(name, isEnabled: isEnabled, input: { () }, rule: { () throws(Rejection) in try rule() })
    }

    /// Makes a check that needs what an earlier one found.
    @inline(__always)
    @discardableResult
    func check<Input, Value>(
        _ name: CheckName, if isEnabled: Bool = true, given input: @autoclosure () -> Input?,
        _ rule: (Input) throws(Rejection) -> Value
    ) throws(Rejection) -> Value? {
        try check(name, isEnabled: isEnabled, input: input, rule: rule)
    }
}

/// Ends a verification with the first check that fails. Specialized and inlined, nothing of it is left but the checks.
struct FirstFailure: CheckObserver {
    @inline(__always)
    func check<Input, Value>(
        _ name: CheckName, isEnabled: Bool, input: () -> Input?, rule: (Input) throws(Rejection) -> Value
    ) throws(Rejection) -> Value? {
        guard isEnabled else { return nil }
        // No check goes on past a failure here, so each finds what it needs. A check that could not be made must not pass.
        guard let input = input() else { throw .cryptographyUnavailable }
        return try rule(input)
    }
}
