private import Synchronization

/// Limits the calls in flight to one provider. Any thread may use it.
package final class CallSlots: Sendable {
    private let taken = Atomic(0)
    private let limit: Atomic<Int>
    private let refused = Atomic(0)

    package init(limit: Int) { self.limit = Atomic(limit) }

    /// Reserves a slot, which is released with its last reference; `nil` if all are taken.
    package func reserve() -> CallSlot? {
        guard taken.add(1, ordering: .relaxed).newValue <= limit.load(ordering: .relaxed) else {
            taken.subtract(1, ordering: .relaxed)
            refused.add(1, ordering: .relaxed)
            return nil
        }
        return CallSlot(of: self)
    }

    /// Changes the limit. Calls in flight beyond it continue.
    package func change(limit new: Int) { limit.store(new, ordering: .relaxed) }

    package var inFlight: Int { taken.load(ordering: .relaxed) }
    /// How often no slot was free.
    package var fullCount: Int { refused.load(ordering: .relaxed) }

    fileprivate func giveBack() { taken.subtract(1, ordering: .relaxed) }
}

/// One of a provider's ``CallSlots``.
package final class CallSlot: Sendable {
    private let slots: CallSlots

    fileprivate init(of slots: CallSlots) { self.slots = slots }

    deinit { slots.giveBack() }
}
