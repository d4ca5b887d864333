private import JOSE

extension ProviderPreset {
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
