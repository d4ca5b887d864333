private import JOSE

extension ProviderPolicy {
    /// The audience of Apple's tokens for every app that runs in Expo Go, whoever wrote it.
    package static let expoGoAudience = "host.exp.Exponent"
}

extension ProviderPreset {
    /// Sign in with Apple.
    ///
    /// Issuer and keys are pinned: in June 2025 the issuer in Apple's discovery document differed from the one in its
    /// tokens.
    /// - Source: developer.apple.com/documentation/signinwithapple, "Authenticating users with Sign in with Apple" and
    ///   "Fetch Apple's public key for verifying token signature".
    public static let apple = ProviderPreset(
        name: "apple", summary: "Sign in with Apple, native and web", issuer: "https://appleid.apple.com",
        adviceOnAudience: { audience in
            // Apple shows an App ID as Team ID, dot, Bundle ID.
            let team = audience.prefix { $0 != "." }
            guard AppleClientKey.isIdentifier(team), audience.utf8.count > 11 else { return nil }
            return
                "Apple's tokens have the Bundle ID without the Team ID: if \(audience.prefix(10)) is your Team ID, write \(audience.dropFirst(11))"
        }
    ) { facts in
        facts.keys = .jwkSet("https://appleid.apple.com/auth/keys")
        facts.endpoints = ProviderEndpoints(
            authorization: "https://appleid.apple.com/auth/authorize",
            token: "https://appleid.apple.com/auth/token", revocation: "https://appleid.apple.com/auth/revoke")
        facts.quirks = [.revokedIsInvalidRequest, .refreshTokensStay, .noOpenIDScope, .formPostForScopes]
        facts.policy.algorithms = [.rs256]
        // Apple echoes the nonce that the app sent. Apps send a hash and keep the raw nonce for the backend.
        facts.policy.nonce.accepted = [.sha256Hex]
        // The second domain is announced for 2026, in addition to the first. Never icloud.com: it also holds real
        // mailboxes.
        let relays = ["privaterelay.appleid.com", "private.icloud.com"]
        facts.policy.email.privateDomains = relays
        facts.policy.email.authoritativeDomains = relays + ["icloud.com", "me.com", "mac.com"]
        facts.policy.reportsRealUserStatus = true
        facts.policy.reportsTransferSubject = true
    }
}
