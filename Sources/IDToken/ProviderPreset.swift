/// What is known of a provider before a relying party says anything: the facts one would otherwise copy from its manual.
///
/// To add a provider, add a file to `Providers/` and its preset to ``all``; the verifier does not change.
public struct ProviderPreset: Sendable {
    public let name: String
    /// The issuer of its tokens; `nil` where every relying party has one of its own.
    public let issuer: String?
    /// Where the provider's keys are; `nil`: where its discovery document says.
    public let jwksURI: String?
    /// Sets in a policy what is known of the provider.
    private let adjust: @Sendable (inout ProviderPolicy) -> Void

    init(
        name: String, issuer: String?, jwksURI: String? = nil,
        adjust: @escaping @Sendable (inout ProviderPolicy) -> Void = { _ in }
    ) {
        self.name = name
        self.issuer = issuer
        self.jwksURI = jwksURI
        self.adjust = adjust
    }

    /// Every preset, in alphabetical order.
    public static let all: [ProviderPreset] = [.apple, .google, .oidc]

    public static func named(_ name: String) -> ProviderPreset? { all.first { $0.name == name } }

    /// The policy of a relying party that adds its client IDs and changes nothing.
    public func policy(id: String, issuer: String, audiences: [String]) -> ProviderPolicy {
        var policy = ProviderPolicy(id: id, issuer: issuer, audiences: audiences)
        adjust(&policy)
        return policy
    }
}
