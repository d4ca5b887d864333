internal import JOSE
internal import Verification

/// Encrypted tokens.
extension ProviderReading {
    private static let encryptionKeys = Setting(
        "keys", listOf: .text, refusesEmpty: "must name at least one", defaultDescription: "all with `use: encryption`",
        "The keys of `client_keys` that open this provider's tokens.")
    private static let encryptionAlgorithms = Setting(
        "algorithms", listOf: ValueType<KeyManagementAlgorithm>.word, refusesEmpty: "must name at least one",
        defaultDescription: "all", "The values of `alg` to accept in encrypted tokens.")
    private static let encryptionContent = Setting(
        "content", listOf: ValueType<ContentAlgorithm>.word, refusesEmpty: "must name at least one",
        defaultDescription: "all", "The values of `enc` to accept in encrypted tokens.")
    private static let encryptionRequired = Setting(
        "required", listOf: ValueType<EncryptionRules.Kind>.word, defaultDescription: "none",
        "What this provider must encrypt: a plain one is `encryption_required`. Gateways open no encrypted tokens, so they accept none of a provider that must encrypt ID Tokens."
    )

    static let encryption = SettingDescription(
        section: "encryption",
        [
            encryptionKeys.description, encryptionAlgorithms.description, encryptionContent.description,
            encryptionRequired.description,
        ],
        "Opens tokens that the provider encrypts to a key of `client_keys`. `encryption: {}` is enough. See [Encrypted tokens](encrypted-tokens.md)."
    )

    @Sendable static func readEncryption(_ section: Section, _ provider: inout ProviderReading) {
        let own = section.section(encryption.name)
        var rules = EncryptionRules()
        rules.keys = encryptionKeys.read(own)
        rules.algorithms = encryptionAlgorithms.read(own) ?? rules.algorithms
        rules.content = encryptionContent.read(own) ?? rules.content
        rules.required = Set(encryptionRequired.read(own) ?? [])
        own.finish()
        guard section.mentions(encryption.name) || rules != EncryptionRules() else { return }
        guard provider.accessTokens == nil else {
            section.refuse(
                encryption.name, "encryption is for ID Tokens, but this entry verifies access tokens; remove it")
            return
        }
        provider.encryption = rules
    }
}
