private import IDToken
private import KeySource

/// What decides where a provider's keys come from, and whether they may be believed.
///
/// While none of it changes, keys that were fetched stay what they are, whatever else the settings say of the provider.
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
