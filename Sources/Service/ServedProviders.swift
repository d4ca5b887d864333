private import Synchronization
internal import Verification

/// The providers that are served now, for whoever is on no event loop of theirs.
final class ServedProviders: Sendable {
    private let current: Mutex<ProviderRegistry>

    init(_ registry: ProviderRegistry) { current = Mutex(registry) }

    var registry: ProviderRegistry {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
