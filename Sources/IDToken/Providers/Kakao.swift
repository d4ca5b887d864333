extension ProviderPreset {
    /// Kakao Login. An app has one key per platform, and each key is a separate audience.
    ///
    /// - Source: developers.kakao.com/docs/latest/en/kakaologin/common, "OpenID Connect"; github.com/supabase,
    ///   discussion 23368.
    public static let kakao = ProviderPreset(
        name: "kakao", summary: "Kakao Login", issuer: "https://kauth.kakao.com"
    ) { facts in
        facts.policy.identityClaims = [.name: ClaimPath("nickname")]
    }
}
