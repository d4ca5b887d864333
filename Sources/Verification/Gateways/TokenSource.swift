private import Bytes

/// A part of a request that can contain its token.
package enum TokenSource: Sendable, Equatable {
    /// A header field. Its name and the scheme before the token are compared without regard to case. If the scheme is
    /// `nil`, the value is the token.
    case header(String, scheme: String?)
    /// A cookie, by its name, byte for byte.
    case cookie(String)

    /// `Authorization: Bearer …` (RFC 6750, section 2.1).
    package static let bearer = TokenSource.header("Authorization", scheme: "Bearer")

    var headerName: String? { if case .header(let name, _) = self { name } else { nil } }
}

/// The header fields of the request that a gateway asks about.
package protocol RequestFields {
    /// The values of all fields with a name, without regard to case.
    func values(named name: String) -> [ArraySlice<UInt8>]
}

extension ForwardAuthPolicy {
    /// The request's token, from the first source that the request has, whether the token is valid or not.
    ///
    /// A second token in the same source is an error, because gateway and backend could disagree about which counts.
    ///
    /// - Throws: ``Denial/tokenMissing``, ``Denial/tokenUnreadable``.
    /// - Source: RFC 6750, section 3.1: a request that uses more than one method, or is otherwise malformed.
    package func token(in fields: some RequestFields) throws(Denial) -> ArraySlice<UInt8> {
        for source in sources {
            let token: ArraySlice<UInt8>?
            switch source {
            case .header(let name, let scheme): token = try Self.token(in: fields.values(named: name), after: scheme)
            case .cookie(let name): token = try Self.cookie(name, in: fields.values(named: "Cookie"))
            }
            guard let token else { continue }
            guard token.span.isToken else { throw .tokenUnreadable }
            return token
        }
        throw .tokenMissing
    }

    /// - Returns: `nil` if there is no such field, or if it has a different scheme.
    private static func token(
        in values: [ArraySlice<UInt8>], after scheme: String?
    ) throws(Denial) -> ArraySlice<UInt8>? {
        guard let value = values.first else { return nil }
        guard values.count == 1 else { throw .tokenUnreadable }
        guard let scheme = scheme?.utf8 else { return value }
        // A tab ends the scheme as well: some servers accept a token after a tab, so such a field must not count as
        // absent.
        let word = value.prefix { !$0.isBlank }
        guard word.span.isEqualIgnoringCase(to: scheme.span) else { return nil }
        return value.dropFirst(word.count).drop { $0 == UInt8(ascii: " ") }
    }

    /// The value of a cookie (RFC 6265, section 4.2), without the quotation marks that may surround it.
    ///
    /// Spaces and tabs before `=` are not part of the name, as in section 5.2 and in many servers.
    ///
    /// - Returns: `nil` if there is no cookie with this name.
    private static func cookie(_ name: String, in values: [ArraySlice<UInt8>]) throws(Denial) -> ArraySlice<UInt8>? {
        var found: ArraySlice<UInt8>?
        for pair in values.lazy.flatMap({ $0.split(separator: UInt8(ascii: ";")) }) {
            let pair = pair.drop(while: \.isBlank)
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")),
                pair[..<equals].trimmingBlanks().elementsEqual(name.utf8)
            else { continue }
            guard found == nil else { throw .tokenUnreadable }
            found = pair[(equals + 1)...].trimmingBlanks().withoutQuotationMarks()
        }
        return found
    }
}

extension Span<UInt8> {
    /// Whether this can be a token: not empty, and nothing but the characters of a `b64token`.
    var isToken: Bool {
        var index = endOfAlphanumerics(from: 0)
        while index < count, self[index].isTokenPunctuation { index = endOfAlphanumerics(from: index + 1) }
        return index == count && count > 0
    }
}

extension UInt8 {
    /// The characters of a `b64token` other than letters and digits (RFC 6750, section 2.1).
    fileprivate var isTokenPunctuation: Bool {
        self == UInt8(ascii: "-") || self == UInt8(ascii: ".") || self == UInt8(ascii: "_") || self == UInt8(ascii: "~")
            || self == UInt8(ascii: "+") || self == UInt8(ascii: "/") || self == UInt8(ascii: "=")
    }

    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

extension ArraySlice<UInt8> {
    fileprivate func trimmingBlanks() -> ArraySlice<UInt8> {
        var rest = self
        while let last = rest.last, last.isBlank { rest.removeLast() }
        return rest
    }

    fileprivate func withoutQuotationMarks() -> ArraySlice<UInt8> {
        let mark = UInt8(ascii: "\"")
        return count >= 2 && first == mark && last == mark ? dropFirst().dropLast() : self
    }
}
