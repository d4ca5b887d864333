private import Bytes
package import Host

/// How long an HTTP response lets its receiver keep it (RFC 9111, section 4.2.1), as a private cache reads it.
package enum Freshness {
    /// The lifetime that is left: `max-age` less `Age`; or `Expires` less `Date`; `nil` where the response does not say.
    ///
    /// `no-store` and `no-cache` are lifetimes of zero: the store's floor decides then.
    ///
    /// - Parameters: the header fields' values, repeated fields joined with commas.
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
        // A date that can't be read is in the past (RFC 9111, 5.3).
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

    /// Digits only; what is beyond 2³¹ is 2³¹ (RFC 9111, 1.2.2).
    static func deltaSeconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return min(Int64(text) ?? .max, 1 << 31)
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        String(text.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
