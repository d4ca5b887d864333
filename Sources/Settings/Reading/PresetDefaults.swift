internal import IDToken

/// The policy that a provider's settings begin with, and where it comes from.
struct PresetDefaults {
    private let policy: ProviderPolicy
    private let usual = ProviderPolicy(id: "", issuer: "", audiences: [])
    /// Where what differs from every provider's default comes from.
    let preset: EffectiveSettings.Origin

    init(_ policy: ProviderPolicy, _ preset: EffectiveSettings.Origin) {
        self.policy = policy
        self.preset = preset
    }

    /// Where the default of a setting comes from.
    func origin<Value: Equatable>(_ setting: KeyPath<ProviderPolicy, Value>) -> EffectiveSettings.Origin {
        policy[keyPath: setting] == usual[keyPath: setting] ? .standard : preset
    }
}
