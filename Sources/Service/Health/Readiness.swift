private import Host
private import KeySource
internal import Verification

/// Whether the service is ready, depending on its providers' keys.
struct Readiness {
    /// By provider number: readiness ignores the provider until its keys are newer than this version.
    private var excused: [Int: Int] = [:]

    /// Whether every provider that counts for readiness has usable keys.
    func isReady(_ verifier: RequestVerifier) -> Bool {
        let now = SystemClocks.monotonic()
        return verifier.providers.allSatisfy { number, provider, snapshot in
            provider.isOptional || isExcused(number, snapshot) || KeyState(snapshot, at: now) != .unavailable
        }
    }

    /// Whether readiness ignores a provider: it was added while the service was ready, and has not had keys since.
    ///
    /// An unreachable new provider must not take instances out of service for users of the other providers. If all
    /// instances received the same settings at once, none would be left.
    private func isExcused(_ number: Int, _ snapshot: KeySnapshot?) -> Bool {
        excused[number].map { (snapshot?.version ?? 0) <= $0 } ?? false
    }

    /// Makes readiness ignore new providers that have no usable keys, until they have newer ones.
    mutating func excuseNewcomers(_ verifier: RequestVerifier, wasReady: Bool) {
        let now = SystemClocks.monotonic()
        let before = excused
        excused = [:]
        for (number, _, snapshot) in verifier.providers where KeyState(snapshot, at: now) == .unavailable {
            excused[number] = wasReady ? snapshot?.version ?? 0 : before[number]
        }
    }
}
