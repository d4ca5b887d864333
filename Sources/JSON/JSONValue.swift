package enum JSONKind: UInt8, Sendable {
    case null, `true`, `false`, integer, real, string, array, object
}

/// A value within a checked JSON text.
package struct JSONValue: Sendable {
    /// The text that ``place`` lies in.
    private let whole: ArraySlice<UInt8>
    private let place: JSONPlace

    init(_ place: JSONPlace, in text: ArraySlice<UInt8>) {
        whole = text
        self.place = place
    }

    package var kind: JSONKind { place.kind }

    private var text: ArraySlice<UInt8> { whole.slice(place) }

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
        return place.hasEscapes ? unescaped(text.span)[...] : text
    }

    package var string: String? { place.string(in: whole.span) }

    /// An integer written as one, within 64 bits.
    package var integer: Int64? { place.integer(in: whole.span) }

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

extension JSONPlace {
    /// The string that lies here, escapes resolved; `nil` where it is something else.
    func string(in text: Span<UInt8>) -> String? {
        guard kind == .string else { return nil }
        let written = text.extracting(indices)
        if hasEscapes { return String(decoding: unescaped(written), as: UTF8.self) }
        return unsafe written.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// The integer that lies here, written as one and within 64 bits.
    func integer(in text: Span<UInt8>) -> Int64? {
        guard kind == .integer else { return nil }
        let isNegative = text[indices.lowerBound] == UInt8(ascii: "-")
        var result: Int64 = 0
        for index in indices.dropFirst(isNegative ? 1 : 0) {
            // Summed up negative, whose range is the wider one.
            let (tens, overflow) = result.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.subtractingReportingOverflow(Int64(text[index] - UInt8(ascii: "0")))
            if overflow || carry { return nil }
            result = sum
        }
        if isNegative { return result }
        return result == .min ? nil : -result
    }
}
