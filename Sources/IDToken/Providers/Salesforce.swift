extension ProviderPreset {
    /// Salesforce, by its login host or a My Domain. The subject is a URL.
    ///
    /// - Source: a token in a public write-up; that the discovery document lies below the issuer is unsourced.
    public static let salesforce = ProviderPreset(
        name: "salesforce", summary: "Salesforce, by its login host or your My Domain", parameters: [.myDomain]
    ) { arguments in
        var facts = ProviderFacts(issuer: "https://\(arguments[.myDomain])")
        facts.accessTokens = .unsupported(because: "the form of its JWT access tokens is not documented")
        return facts
    }
}

extension PresetParameter {
    fileprivate static let myDomain = host(
        "the host that tokens name, such as example.my.salesforce.com or login.salesforce.com")
}
