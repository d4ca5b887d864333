package enum JSONKind: UInt8, Sendable {
    case null, `true`, `false`, integer, real, string, array, object
}

/// A value within a checked JSON text.
package struct JSONValue: Sendable {
    private let text: ArraySlice<UInt8>
    package let kind: JSONKind
    private let hasEscapes: Bool

    init(_ place: JSONPlace, in text: ArraySlice<UInt8>) {
        self.text = text.slice(place)
        kind = place.kind
        hasEscapes = place.hasEscapes
    }

    package var bool: Bool? {
        switch kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// The UTF-8 of a string, escapes resolved.
    package var utf8: ArraySlice<UInt8>? {
        guard kind == .string else { return nil }
        return hasEscapes ? unescaped(text.span)[...] : text
    }

    package var string: String? {
        guard kind == .string else { return nil }
        return hasEscapes
            ? String(decoding: unescaped(text.span), as: UTF8.self) : String(decoding: text, as: UTF8.self)
    }

    /// An integer written as one, within 64 bits.
    package var integer: Int64? {
        guard kind == .integer else { return nil }
        var result: Int64 = 0
        let isNegative = text.first == UInt8(ascii: "-")
        for digit in isNegative ? text.dropFirst() : text {
            // Summed up negative, whose range is the wider one.
            let (tens, overflow) = result.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.subtractingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
            if overflow || carry { return nil }
            result = sum
        }
        if isNegative { return result }
        return result == .min ? nil : -result
    }

    /// A number of either kind, rounded to a double; integers beyond its range become infinite.
    package var double: Double? {
        guard kind == .integer || kind == .real else { return nil }
        return Double(String(decoding: text, as: UTF8.self))
    }

    /// The elements of an array.
    package var elements: [JSONValue]? { elements(atMost: .max) }

    /// The elements of an array that has no more than `limit` of them.
    package func elements(atMost limit: Int) -> [JSONValue]? {
        guard kind == .array else { return nil }
        let places = (try? JSONScanner.elements(in: text.span, atMost: limit)) ?? nil
        return places?.map { JSONValue($0, in: text) }
    }

    package var object: JSONObject? {
        guard kind == .object else { return nil }
        // The text was checked as a whole, by whichever rule it came under.
        return try? JSONObject(text, allowsNUL: true)
    }
}
