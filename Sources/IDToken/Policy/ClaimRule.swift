/// Which values a claim may have. Distinguishes ID Tokens from other tokens signed with the same keys, or the users of
/// one organization from others.
public struct ClaimRule: Sendable, Equatable {
    public var claim: ClaimPath
    /// What the claim, or each element of a list, is compared with, byte for byte: the text of a string, or a boolean or
    /// integer as JSON writes it.
    public var values: [String]
    public var kind: Kind

    /// How a claim's value must relate to the values of the rule.
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

/// The location of a claim: its name, or a JSON Pointer (RFC 6901) to a member of an object claim, such as
/// `/firebase/tenant`.
public struct ClaimPath: Sendable, Hashable {
    /// The path as written. Rejections name it.
    public let name: ClaimName
    /// The member names from the outermost object inwards, at least one.
    package let steps: [ClaimName]

    public init(_ text: String) {
        name = ClaimName(text)
        guard text.hasPrefix("/") else {
            steps = [name]
            return
        }
        steps = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { step in
            // RFC 6901, section 4: ~1 first, so that ~01 becomes ~1.
            ClaimName(
                step.split(separator: "~1", omittingEmptySubsequences: false).map(Self.tilde).joined(separator: "/"))
        }
    }

    private static func tilde(_ text: Substring) -> String {
        text.split(separator: "~0", omittingEmptySubsequences: false).joined(separator: "~")
    }
}
