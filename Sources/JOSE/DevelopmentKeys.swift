/// The signing keys of `assay dev`, which sign whatever they are asked to. Nothing else may trust them.
package enum DevelopmentKeys {
    /// The beginning of each of their `kid`s, so that they can't be mistaken for a real provider's.
    package static let keyIDPrefix = "assay-dev-"

    /// Whether a key with this `kid` is one of them.
    package static func contain(_ keyID: String?) -> Bool { keyID?.utf8.starts(with: keyIDPrefix.utf8) == true }
}
