/// Which values a claim may have. Distinguishes ID Tokens from other tokens signed with the same keys, or the users of
/// one organization from others.
public struct ClaimRule: Sendable, Equatable {
    public var claim: ClaimPath
    /// What the claim, or each element of a list, is compared with, byte for byte: the text of a string, or a boolean or
    /// integer as JSON writes it.
    public var values: [String]
    public var kind: Kind

    public enum Kind: Sendable, Equatable {
        /// The claim must be present, with one of the values, or a list with one of them.
        case oneOf
        /// The claim may be absent. If present, it must not have any of the values, nor be a list with one of them.
        case noneOf
        /// The claim must be absent or `null`. The values are ignored.
        case absent
    }

    public init(_ claim: ClaimPath, _ kind: Kind, _ values: [String]) {
        self.claim = claim
        self.kind = kind
        self.values = values
    }
}
