/// A condition that another thread should bring about did not hold in time.
package struct NotInTime: Error {}

/// Waits until a condition holds that another thread brings about.
///
/// - Throws: ``NotInTime`` after a minute, so that a test fails instead of hanging.
package func eventually(_ holds: () async throws -> Bool) async throws {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(60)
    // While other tests keep all threads busy, a minute may pass between two looks.
    var looks = 0
    while looks < 100 || clock.now < end {
        if try await holds() { return }
        looks += 1
        try await Task.sleep(for: .milliseconds(1))
    }
    throw NotInTime()
}
