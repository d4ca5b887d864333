private import Synchronization
internal import Verification

/// The current providers, for code that runs outside the event loops.
final class ServedProviders: Sendable {
    private let current: Mutex<ProviderRegistry>

    init(_ registry: ProviderRegistry) { current = Mutex(registry) }

    var registry: ProviderRegistry {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
