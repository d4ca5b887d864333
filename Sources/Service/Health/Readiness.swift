private import Host
private import KeySource
internal import Verification

/// Whether the service counts as ready: by the keys of its providers.
struct Readiness {
    /// By number, the version of the keys up to which readiness does without a provider's.
    private var excused: [Int: Int] = [:]

    /// Whether every provider that readiness waits for has keys that can verify now.
    func isReady(_ verifier: RequestVerifier) -> Bool {
        let now = SystemClocks.monotonic()
        return verifier.providers.allSatisfy { number, provider, snapshot in
            provider.isOptional || isExcused(number, snapshot) || KeyState(snapshot, at: now) != .unavailable
        }
    }

    /// Whether readiness does without a provider's keys because it came while the service was ready, and has had none since.
    ///
    /// A provider that can't be reached is no reason to take all instances from those who need the others, as would happen
    /// where all are given the same settings at once.
    private func isExcused(_ number: Int, _ snapshot: KeySnapshot?) -> Bool {
        excused[number].map { (snapshot?.version ?? 0) <= $0 } ?? false
    }

    /// Notes the version of the keys beyond which readiness waits for a provider as for any other.
    mutating func excuseNewcomers(_ verifier: RequestVerifier, wasReady: Bool) {
        let now = SystemClocks.monotonic()
        let before = excused
        excused = [:]
        for (number, _, snapshot) in verifier.providers where KeyState(snapshot, at: now) == .unavailable {
            excused[number] = wasReady ? snapshot?.version ?? 0 : before[number]
        }
    }
}
