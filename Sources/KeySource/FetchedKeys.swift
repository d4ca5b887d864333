package import Clocks
package import JOSE

/// What a fetch brought home.
package struct FetchedKeys: Sendable {
    package let keys: JWKSet
    /// The set's own JSON text.
    package let text: [UInt8]
    package let algorithms: Set<SignatureAlgorithm>
    package let source: KeySnapshot.Source
    /// How long the provider lets us keep the keys; `nil` where it does not say.
    package let lifetime: Interval?
    package let fetchedAtUnixSeconds: Int64

    package init(
        keys: JWKSet, text: [UInt8], algorithms: Set<SignatureAlgorithm>, source: KeySnapshot.Source,
        lifetime: Interval?, fetchedAtUnixSeconds: Int64
    ) {
        self.keys = keys
        self.text = text
        self.algorithms = algorithms
        self.source = source
        self.lifetime = lifetime
        self.fetchedAtUnixSeconds = fetchedAtUnixSeconds
    }
}
