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
