private import Bytes
internal import JSON

/// The parameters of a form or of a query, `application/x-www-form-urlencoded`.
struct FormParameters {
    private let values: [String: String]

    /// `nil` if the text can't be decoded, or repeats a parameter (RFC 6749, section 3.2).
    init?(_ text: some Sequence<UInt8>) {
        var values: [String: String] = [:]
        for pair in String(decoding: Array(text), as: UTF8.self).split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(parts[0]), let value = Self.decode(parts.count > 1 ? parts[1] : "") else {
                return nil
            }
            guard values.updateValue(value, forKey: name) == nil else { return nil }
        }
        self.values = values
    }

    /// A parameter; `nil` if it is absent or empty.
    subscript(name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The fields of a page as the members that a script would send.
    var members: [String: JSONTree] {
        var members = values.filter { !$0.value.isEmpty }.mapValues(JSONTree.string)
        if members["in_place"] != nil { members["in_place"] = .bool(true) }
        return members
    }

    /// All parameters, as strings.
    var texts: [String: JSONTree] { values.mapValues(JSONTree.string) }

    static func decode(_ text: some StringProtocol) -> String? {
        percentDecoded(String(text.map { $0 == "+" ? " " : $0 })).map { String(decoding: $0, as: UTF8.self) }
    }
}
