import Testing

/// Waits until something holds that another thread brings about.
///
/// - Throws: where it does not hold after twenty seconds, so that a test ends instead of waiting for ever.
func eventually(
    sourceLocation: SourceLocation = #_sourceLocation, _ holds: () async throws -> Bool
) async throws {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(20)
    while clock.now < end {
        if try await holds() { return }
        try await Task.sleep(for: .milliseconds(1))
    }
    Issue.record("this did not come about in time", sourceLocation: sourceLocation)
    throw CancellationError()
}
