/// Observes the checks of a verification. It receives each check by name, in order, and decides whether to continue
/// after a failure.
package protocol CheckObserver {
    /// Runs a check.
    ///
    /// - Parameters:
    ///   - isEnabled: whether the settings or the request ask for the check.
    ///   - input: the result of an earlier check; `nil` if that check failed.
    ///   - rule: the check itself.
    /// - Returns: the result of the check; `nil` if it was not run, or if it failed and the verification continues.
    /// - Throws: the rule's rejection, if the verification ends here.
    func check<Input, Value>(
        _ name: CheckName, isEnabled: Bool, input: () -> Input?, rule: (Input) throws(Rejection) -> Value
    ) throws(Rejection) -> Value?
}

extension CheckObserver {
    /// Runs a check that needs no result of an earlier one.
    @inline(__always)
    @discardableResult
    package func check<Value>(
        _ name: CheckName, if isEnabled: Bool = true, _ rule: @autoclosure () throws(Rejection) -> Value
    ) throws(Rejection) -> Value? {
        try check(name, isEnabled: isEnabled, input: { () }, rule: { () throws(Rejection) in try rule() })
    }

    /// Runs a check that needs the result of an earlier one.
    @inline(__always)
    @discardableResult
    package func check<Input, Value>(
        _ name: CheckName, if isEnabled: Bool = true, given input: @autoclosure () -> Input?,
        _ rule: (Input) throws(Rejection) -> Value
    ) throws(Rejection) -> Value? {
        try check(name, isEnabled: isEnabled, input: input, rule: rule)
    }
}

/// Ends a verification at the first check that fails. Compiles to the bare checks once specialized and inlined.
package struct FirstFailure: CheckObserver {
    package init() {}

    @inline(__always)
    package func check<Input, Value>(
        _ name: CheckName, isEnabled: Bool, input: () -> Input?, rule: (Input) throws(Rejection) -> Value
    ) throws(Rejection) -> Value? {
        guard isEnabled else { return nil }
        // With this observer, an earlier failure has already thrown, so the input exists. A check that can't run must
        // not pass.
        guard let input = input() else { throw .cryptographyUnavailable }
        return try rule(input)
    }
}
