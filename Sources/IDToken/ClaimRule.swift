private import JSON

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

    /// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, the latter also where the claim is neither a
    ///   string nor a boolean nor an integer.
    func check(_ claims: Claims) throws(Rejection) {
        guard let value = claims.value(at: claim), value.kind != .null else {
            guard kind != .oneOf else { throw .claimMissing(claim.name) }
            return
        }
        guard kind != .absent, let text = value.comparableText,
            values.contains(where: { $0.isExactly(text.span) }) == (kind == .oneOf)
        else { throw .claimInvalid(claim.name) }
    }
}

extension JSONValue {
    fileprivate var comparableText: ArraySlice<UInt8>? {
        if let bool { return Array("\(bool)".utf8)[...] }
        return utf8 ?? integer.map { Array("\($0)".utf8)[...] }
    }
}
