private import JOSE

extension ProviderPreset {
    /// The presets of this file.
    static let ofGoogle: [ProviderPreset] = [.google, .firebase, .firebaseSessionCookie]

    /// Sign in with Google.
    ///
    /// - Source: developers.google.com/identity/openid-connect/reference ("An ID token's payload");
    ///   developers.google.com/identity/gsi/web/guides/verify-google-id-token; for service accounts,
    ///   cloud.google.com/iam/docs/reference/credentials (`generateIdToken`).
    public static let google = ProviderPreset(
        name: "google", summary: "Sign in with Google, including Workspace accounts",
        issuer: "https://accounts.google.com",
        adviceOnAudience: { audience in
            // A client ID is a project's number, a hyphen, and letters and digits.
            let parts = audience.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2, UInt64(parts[0]) != nil, PresetParameter.isWord(String(parts[1])) else {
                return nil
            }
            return "Google's client IDs end with .apps.googleusercontent.com: write all of it"
        }
    ) { facts in
        // Older flows still send it, and Google's documentation accepts both.
        facts.policy.issuerAliases = ["accounts.google.com"]
        // developers.google.com/identity/protocols/risc shows these spellings in its samples.
        facts.notificationIssuers = ["https://accounts.google.com/", "accounts.google.com"]
        facts.endpoints.authorization = "https://accounts.google.com/o/oauth2/v2/auth"
        facts.endpoints.token = "https://oauth2.googleapis.com/token"
        facts.quirks = [.refreshTokensStay]
        facts.policy.algorithms = [.rs256]
        facts.policy.email.authoritativeDomains = ["gmail.com", "googlemail.com"]
        facts.policy.email.trustsHostedDomain = true
        facts.policy.reportsHostedDomain = true
        // Service accounts get tokens for any audience they ask for. Their azp is their own number. Their addresses are
        // in iam.gserviceaccount.com, or, for accounts that Google creates, in developer. or
        // appspot.gserviceaccount.com.
        facts.policy.serviceAccounts.refusesAzpEqualToSub = true
        facts.policy.serviceAccounts.emailDomains = ["gserviceaccount.com"]
    }

    /// ID Tokens of Firebase Authentication and Google Cloud Identity Platform.
    ///
    /// - Source: github.com/firebase/firebase-admin-node, `src/auth/token-verifier.ts`; the JWK Set's address from a
    ///   published discovery document.
    public static let firebase = ProviderPreset(
        name: "firebase", summary: "Firebase Authentication, ID tokens", parameters: [.project]
    ) { arguments in
        facts(
            "https://securetoken.google.com/", arguments,
            .jwkSet("https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"))
    }

    /// Session cookies of Firebase Authentication. They have the same claims as its ID Tokens, but another issuer and
    /// other keys. They are valid for up to two weeks and must never be accepted as ID Tokens.
    ///
    /// - Source: as above; firebase.google.com/docs/auth/admin/manage-cookies.
    public static let firebaseSessionCookie = ProviderPreset(
        name: "firebase-session-cookie", summary: "Firebase Authentication, session cookies", parameters: [.project]
    ) { arguments in
        facts(
            "https://session.firebase.google.com/", arguments,
            .certificates("https://www.googleapis.com/identitytoolkit/v3/relyingparty/publicKeys"))
    }

    private static func facts(
        _ issuer: String, _ arguments: PresetArguments, _ keys: PublishedKeys
    ) -> ProviderFacts {
        let project = arguments[.project]
        var facts = ProviderFacts(issuer: issuer + project)
        facts.keys = keys
        facts.policy.audiences = [project]
        facts.policy.algorithms = [.rs256]
        facts.accessTokens = .noneBeside("ID Tokens or session cookies")
        // Firebase's own SDK performs the sign-in, and its tokens have no nonce.
        facts.policy.issuesTokensOfSignIns = false
        facts.policy.identityClaims = [.tenant: ClaimPath("/firebase/tenant")]
        return facts
    }
}

extension PresetParameter {
    /// The names of old projects begin with a domain: `example.com:project`.
    fileprivate static let project = PresetParameter("project", "the project's ID") { text in
        text.split(separator: ":", omittingEmptySubsequences: false).allSatisfy { part in
            part.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { isWord(String($0)) }
        }
    }
}
