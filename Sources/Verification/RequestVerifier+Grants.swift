package import Host
package import KeySource
package import NIOCore

/// Information about providers that requests for codes and grants need.
extension RequestVerifier {
    /// The endpoints of the provider's discovery document; `nil` if none has been read yet.
    package func discoveredEndpoints(ofProvider number: Int) -> DiscoveredEndpoints? {
        slots[number]?.delivered.endpoints
    }

    /// Waits until the provider has keys that ID Tokens can be verified with.
    ///
    /// - Parameter loop: this verifier's event loop.
    /// - Returns: ``Problem/keysUnavailable(retryAfterSeconds:)`` if there are none by the deadline.
    package func waitForUsableKeys(
        ofProvider number: Int, until deadline: MonotonicTime, on loop: any EventLoop
    ) -> EventLoopFuture<Problem?> {
        let slot = slots[number]
        func areUsable() -> Bool { slot?.keys(usableAt: SystemClocks.monotonic()) != nil }
        guard let slot, !areUsable() else { return loop.makeSucceededFuture(nil) }
        let outcome = slot.provider.keys.wait(
            for: .anyKeys(mayFetch: true), judgedBy: slot.keys?.snapshot.version ?? 0, until: deadline
        ).hop(to: loop)
        return outcome.assumeIsolated().map { outcome in
            if areUsable() { return nil }
            guard case .unavailable(let retryAfter) = outcome else { return .keysUnavailable(retryAfterSeconds: 1) }
            return .keysUnavailable(retryAfterSeconds: max(retryAfter.secondsRoundedUp, 1))
        }.nonisolated()
    }
}
