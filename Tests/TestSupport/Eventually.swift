/// Something that another thread brings about did not come about in time.
package struct NotInTime: Error {}

/// Waits until something holds that another thread brings about.
///
/// - Throws: ``NotInTime`` where it does not hold after twenty seconds, so that a test ends instead of waiting for ever.
package func eventually(_ holds: () async throws -> Bool) async throws {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(60)
    while clock.now < end {
        if try await holds() { return }
        try await Task.sleep(for: .milliseconds(1))
    }
    throw NotInTime()
}
