package import Grants

/// A provider that has clients: what its calls go through.
package final class ProviderGrants: Sendable {
    /// Reserved before a call, so that a provider that hangs holds only so many requests.
    package let slots: CallSlots
    package let calls: ProviderCalls

    package init(slots: CallSlots, calls: ProviderCalls) {
        self.slots = slots
        self.calls = calls
    }
}
