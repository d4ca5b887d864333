/// A condition that another thread should bring about did not hold in time.
package struct NotInTime: Error {}

/// Waits until a condition holds that another thread brings about.
///
/// - Throws: ``NotInTime`` after twenty seconds, so that a test fails instead of hanging.
package func eventually(_ holds: () async throws -> Bool) async throws {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(60)
    while clock.now < end {
        if try await holds() { return }
        try await Task.sleep(for: .milliseconds(1))
    }
    throw NotInTime()
}
