private import Bytes
private import Synchronization

/// Limits the calls in flight to one provider. Any thread may use it.
package final class CallSlots: Sendable {
    private let taken = Atomic(0)
    private let limit: Atomic<Int>
    private let refused = Atomic(0)
    /// The calls in flight by issuer, of those with any.
    private let byIssuer = Mutex<[ExactString: Int]>([:])

    /// The default of `max_calls` for an entry with `issuers: any`, and how many of them may be one issuer's: a provider
    /// that hangs leaves the others most.
    package static let limitOfOpenEntry = 256
    static let limitOfIssuer = 8
    /// The maximum of idle connections of such an entry.
    package static let keptConnectionsOfOpenEntry = 64

    package init(limit: Int) { self.limit = Atomic(limit) }

    /// Reserves a slot, which is released with its last reference; `nil` if all are taken.
    ///
    /// - Parameter issuer: `nil` for an entry with one issuer.
    package func reserve(for issuer: String? = nil) -> CallSlot? {
        let issuer = issuer.map(ExactString.init)
        guard taken.add(1, ordering: .relaxed).newValue <= limit.load(ordering: .relaxed), enter(issuer) else {
            taken.subtract(1, ordering: .relaxed)
            refused.add(1, ordering: .relaxed)
            return nil
        }
        return CallSlot(of: self, issuer)
    }

    private func enter(_ issuer: ExactString?) -> Bool {
        guard let issuer else { return true }
        return byIssuer.withLock { calls in
            let count = calls[issuer, default: 0]
            guard count < Self.limitOfIssuer else { return false }
            calls[issuer] = count + 1
            return true
        }
    }

    /// Changes the limit. Calls in flight beyond it continue.
    package func change(limit new: Int) { limit.store(new, ordering: .relaxed) }

    package var inFlight: Int { taken.load(ordering: .relaxed) }
    /// How often no slot was free.
    package var fullCount: Int { refused.load(ordering: .relaxed) }

    fileprivate func giveBack(_ issuer: ExactString?) {
        taken.subtract(1, ordering: .relaxed)
        guard let issuer else { return }
        byIssuer.withLock { calls in
            let count = calls[issuer, default: 1]
            calls[issuer] = count > 1 ? count - 1 : nil
        }
    }
}

/// One of a provider's ``CallSlots``.
package final class CallSlot: Sendable {
    private let slots: CallSlots
    private let issuer: ExactString?

    fileprivate init(of slots: CallSlots, _ issuer: ExactString?) {
        self.slots = slots
        self.issuer = issuer
    }

    deinit { slots.giveBack(issuer) }
}
