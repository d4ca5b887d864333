/// What a request claims.
package struct Claim: Sendable {
    package let key: ClaimKey
    /// How long the key stays claimed.
    package let end: ClaimEnd
    /// The ID of the provider, for whom a store in memory counts it.
    package let provider: String

    package init(key: ClaimKey, end: ClaimEnd, provider: String) {
        self.key = key
        self.end = end
        self.provider = provider
    }
}
