package import HTTP
private import Synchronization

/// When an event loop last used an issuer's keys, and whether a signature has held under them there.
///
/// Each event loop has its own and is the only one that writes it; the pool reads all of them. So noting a use costs no
/// hop to another thread, and shares no memory with other loops.
package final class IssuerUse: Sendable {
    /// The time in milliseconds; 0 if no signature has held.
    private let latest = Atomic<Int64>(0)

    init() {}

    /// Notes that a signature has held.
    @inline(__always)
    package func note(at now: MonotonicTime) { latest.store(now.milliseconds, ordering: .relaxed) }

    /// When a signature last held; `nil` if none has.
    var time: MonotonicTime? {
        let milliseconds = latest.load(ordering: .relaxed)
        return milliseconds == 0 ? nil : MonotonicTime(milliseconds: milliseconds)
    }
}
