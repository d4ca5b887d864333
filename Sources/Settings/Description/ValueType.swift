internal import IDToken
internal import JOSE
internal import OAuth

/// The type of a scalar: how to read and display it, and how errors and the reference describe it.
struct ValueType<Value: Sendable>: Sendable {
    /// What a value must be. Completes "must be …".
    let expected: String
    let form: ValueForm
    /// The accepted words, for suggestions.
    var words: [String] = []
    /// Whether the value must not appear in an error.
    var isSecret = false
    /// The purpose of the file that a value names.
    var file: NamedFile.Purpose?
    /// Says what to do about an invalid value whose intent is clear; `nil` if nothing is known.
    var remedy: @Sendable (String) -> String? = { _ in nil }
    let parse: @Sendable (String) -> Value?
    /// The value as written in the file; empty if it counts as not set.
    let text: @Sendable (Value) -> String
}

extension ValueType where Value == String {
    /// Any string that is not empty.
    static var text: Self { text("a string") { !$0.isEmpty } }

    static func text(
        _ expected: String, pattern: String? = nil, isGood: @escaping @Sendable (String) -> Bool
    ) -> Self {
        Self(expected: expected, form: .text(pattern: pattern), parse: { isGood($0) ? $0 : nil }, text: { $0 })
    }

    /// The path of a file.
    static func file(_ purpose: NamedFile.Purpose) -> Self {
        var type = text("a path") { !$0.isEmpty }
        type.file = purpose
        return type
    }
}

extension ValueType where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    static var word: Self { word("one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))") }

    static func word(_ expected: String) -> Self {
        let words = Value.allCases.map(\.rawValue)
        return Self(expected: expected, form: .words(words), words: words, parse: Value.init(rawValue:)) { $0.rawValue }
    }
}

extension ValueType where Value == Bool {
    static var boolean: Self { words("true", "false", form: .boolean) }
    static var onOff: Self { words("on", "off") }

    /// - Parameters:
    ///   - yes: the word for `true`.
    ///   - no: the word for `false`.
    static func words(_ yes: String, _ no: String, form: ValueForm? = nil) -> Self {
        Self(
            expected: "\(yes) or \(no)", form: form ?? .words([yes, no]), words: [yes, no],
            parse: { $0 == yes ? true : $0 == no ? false : nil }, text: { $0 ? yes : no })
    }
}

extension ValueType where Value == Int {
    static func integer(_ range: ClosedRange<Int>) -> Self {
        Self(
            expected: "an integer from \(range.lowerBound) to \(range.upperBound)", form: .integer(range),
            parse: within(range, Int.init), text: { String($0) })
    }

    static func bytes(_ range: ClosedRange<Int>) -> Self {
        Self(
            expected: "a size such as 64KiB or 4MiB, \(range.lowerBound) to \(range.upperBound) bytes",
            form: .either(.quantity(units: ["B", "KiB", "MiB"]), .integer(range)),
            parse: within(range) {
                Quantities.parse($0, ["": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20]).map(Int.init)
            },
            text: Quantities.text(bytes:))
    }
}

extension ValueType where Value == Int64 {
    static func seconds(_ range: ClosedRange<Int64>) -> Self {
        Self(
            expected: "a duration such as 30s, 5m or 24h, \(range.lowerBound)s to \(range.upperBound)s",
            form: .quantity(units: ["s", "m", "h", "d"]),
            parse: within(range) { Quantities.parse($0, ["s": 1, "m": 60, "h": 3600, "d": 86400]) },
            text: Quantities.text(seconds:))
    }

    static func milliseconds(_ range: ClosedRange<Int64>) -> Self {
        Self(
            expected: "a duration such as 250ms or 2s, \(range.lowerBound)ms to \(range.upperBound)ms",
            form: .quantity(units: ["ms", "s", "m"]),
            parse: within(range) { Quantities.parse($0, ["ms": 1, "s": 1000, "m": 60_000]) }, text: { "\($0)ms" })
    }
}

extension ValueType where Value: Comparable {
    private static func within(
        _ range: ClosedRange<Value>, _ read: @escaping @Sendable (String) -> Value?
    ) -> @Sendable (String) -> Value? {
        { text in read(text).flatMap { range.contains($0) ? $0 : nil } }
    }
}

extension String {
    /// Whether it is not empty and consists of ASCII letters, digits, dots, hyphens and underscores.
    func isName(upTo length: Int) -> Bool {
        (1...length).contains(utf8.count)
            && allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ".-_".contains($0)) }
    }
}

extension ValueType where Value == String {
    static var scope: Self {
        text("a scope: visible ASCII without spaces, double quotes or backslashes") { $0.isScope }
    }
}

extension ValueType where Value == ClaimPath {
    static var claim: Self {
        Self(
            expected: "the name of a claim", form: .text(), parse: { $0.isEmpty ? nil : ClaimPath($0) },
            text: \.name.string)
    }
}

extension ValueType where Value == SignatureAlgorithm {
    static var algorithm: Self {
        var type = word
        type.remedy = { text in
            switch text.uppercased() {
            case "HS256", "HS384", "HS512":
                "tokens that are signed with a shared secret (HMAC) are always refused: set the client up at the provider so that it signs with RS256 or ES256"
            case "NONE": "unsigned tokens are always refused"
            default: nil
            }
        }
        return type
    }
}

/// Parses and formats quantities with units.
enum Quantities {
    /// The number that a text such as `30s` or `64KiB` stands for, in the unit whose size is 1.
    ///
    /// - Parameter units: each with its size.
    /// - Returns: `nil` unless the text is a number and one of the units, and does not overflow.
    static func parse(_ text: String, _ units: [String: Int64]) -> Int64? {
        let digits = text.prefix { ("0"..."9").contains($0) }
        guard !digits.isEmpty, let number = Int64(digits), let unit = units[String(text.dropFirst(digits.count))] else {
            return nil
        }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit)
        return overflow ? nil : product
    }

    /// A duration, in the largest unit that expresses it exactly.
    static func text(seconds: Int64) -> String {
        for (unit, size) in [("d", 86400), ("h", 3600), ("m", 60)] as [(String, Int64)]
        where seconds > size && seconds.isMultiple(of: size) { return "\(seconds / size)\(unit)" }
        return "\(seconds)s"
    }

    /// A size, in the largest unit that expresses it exactly.
    static func text(bytes: Int) -> String {
        for (unit, size) in [("MiB", 1024 * 1024), ("KiB", 1024)] where bytes >= size && bytes.isMultiple(of: size) {
            return "\(bytes / size)\(unit)"
        }
        return "\(bytes)B"
    }
}
