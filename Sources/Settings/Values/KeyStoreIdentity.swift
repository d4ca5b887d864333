private import IDToken
private import KeySource

/// The settings that determine where a provider's keys come from, and whether they can be trusted.
///
/// While they are unchanged, fetched keys remain valid, whatever happens to the provider's other settings.
package struct KeyStoreIdentity: Sendable, Equatable {
    private let id: String
    private let issuer: String
    private let keys: KeyLocation
    private let network: NetworkRules

    package init(_ provider: ProviderSettings) {
        id = provider.policy.id
        issuer = provider.policy.issuer
        keys = provider.keys
        network = provider.network
    }
}
