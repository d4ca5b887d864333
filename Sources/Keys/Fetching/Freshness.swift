private import Bytes
package import HTTP

/// How long a private cache may keep an HTTP response (RFC 9111, section 4.2.1).
package enum Freshness {
    /// The remaining lifetime: `max-age` minus `Age`, or `Expires` minus `Date`; `nil` if the response does not say.
    ///
    /// `no-store` and `no-cache` give zero; the store's minimum then applies.
    ///
    /// - Parameters: the values of the header fields, with repeated fields joined by commas.
    package static func lifetime(
        cacheControl: String?, age: String?, expires: String?, date: String?
    ) -> Interval? {
        let directives = (cacheControl ?? "").split(separator: ",").map { trimmed($0).lowercased() }
        if directives.contains(where: { $0 == "no-store" || $0 == "no-cache" || $0.hasPrefix("no-cache=") }) {
            return .seconds(0)
        }
        if let maxAge = directives.lazy.compactMap({ seconds(of: $0, "max-age") }).first {
            let age = age.flatMap { deltaSeconds(trimmed($0)) } ?? 0
            return .seconds(max(maxAge - age, 0))
        }
        guard let expires else { return nil }
        // An invalid date counts as past (RFC 9111, section 5.3).
        guard let end = HTTPDate.seconds(from: trimmed(expires)), let start = date.flatMap(HTTPDate.seconds) else {
            return .seconds(0)
        }
        return .seconds(max(end - start, 0))
    }

    private static func seconds(of directive: String, _ name: String) -> Int64? {
        guard let equals = directive.firstIndex(of: "="), trimmed(directive[..<equals]) == name else { return nil }
        let value = trimmed(directive[directive.index(after: equals)...])
        return deltaSeconds(value.filter { $0 != "\"" })
    }

    /// Only digits; values above 2³¹ become 2³¹ (RFC 9111, section 1.2.2).
    static func deltaSeconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return min(Int64(text) ?? .max, 1 << 31)
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        String(text.trimming { $0 == " " || $0 == "\t" })
    }
}
