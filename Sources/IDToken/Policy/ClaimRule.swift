/// Which values a claim may have: what tells an ID Token from another token by the same keys, or the users of one
/// organization from others.
public struct ClaimRule: Sendable, Equatable {
    public var claim: ClaimPath
    /// What the claim is compared with, byte for byte: a string with its text, a boolean and an integer with the digits or
    /// the word that JSON writes.
    public var values: [String]
    public var kind: Kind

    public enum Kind: Sendable, Equatable {
        /// The claim must be there, with one of the values.
        case oneOf
        /// The claim may be absent, and must not have one of the values.
        case noneOf
        /// The claim must be absent or `null`, whatever the values are.
        case absent
    }

    public init(_ claim: ClaimPath, _ kind: Kind, _ values: [String]) {
        self.claim = claim
        self.kind = kind
        self.values = values
    }
}
