public import JOSE

/// What is known of a provider before a relying party says anything: the facts one would otherwise copy from its manual.
///
/// To add a provider, add a file to `Providers/` and its preset to ``all``; the verifier does not change.
public struct ProviderPreset: Sendable {
    public let name: String
    public let issuer: String?
    public var issuerAliases: [String] = []
    /// Where the provider's keys are; `nil`: where its discovery document says.
    public var jwksURI: String?
    public var algorithms: Set<SignatureAlgorithm>?
    public var nonce = NonceRule()
    public var email = EmailRule()
    public var reportsRealUserStatus = false

    init(name: String, issuer: String?) {
        self.name = name
        self.issuer = issuer
    }

    /// Every preset, in alphabetical order.
    public static let all: [ProviderPreset] = [.apple, .google, .oidc]

    public static func named(_ name: String) -> ProviderPreset? { all.first { $0.name == name } }

    /// The policy of a relying party that adds its client IDs and changes nothing.
    public func policy(id: String, issuer: String, audiences: [String]) -> ProviderPolicy {
        var policy = ProviderPolicy(id: id, issuer: issuer, audiences: audiences)
        policy.issuerAliases = issuerAliases
        policy.algorithms = algorithms
        policy.nonce = nonce
        policy.email = email
        policy.reportsRealUserStatus = reportsRealUserStatus
        return policy
    }
}
