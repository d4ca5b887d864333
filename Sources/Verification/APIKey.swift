/// A caller's API key, stored as a digest only.
package struct APIKey: Sendable, Equatable {
    /// Its name in the log and in metrics.
    package var name: String
    /// SHA-256, 32 octets.
    package var digest: [UInt8]
    /// What its caller may ask for.
    package var permissions: Set<Permission>

    package init(name: String, digest: [UInt8], permissions: Set<Permission> = Permission.all) {
        self.name = name
        self.digest = digest
        self.permissions = permissions
    }

    /// What a key can be for. The raw value is the word in the settings.
    package enum Permission: String, CaseIterable, Sendable {
        case verify
        case signIns = "sign_ins"
        case grants, notifications
        case accessTokens = "access_tokens"
        case forwardAuth = "forward_auth"
        case explain

        /// What a key may do unless its settings say otherwise.
        package static let all = Set(allCases)
    }
}
