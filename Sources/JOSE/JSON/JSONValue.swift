package enum JSONKind: UInt8, Sendable {
    case null, `true`, `false`, integer, real, string, array, object
}

/// A value within a validated JSON text.
package struct JSONValue: Sendable {
    /// The text that contains ``location``.
    private let whole: ArraySlice<UInt8>
    private let location: JSONLocation

    init(_ location: JSONLocation, in text: ArraySlice<UInt8>) {
        whole = text
        self.location = location
    }

    package var kind: JSONKind { location.kind }

    private var text: ArraySlice<UInt8> { whole.slice(location) }

    package var bool: Bool? { location.bool }

    /// The value as written, without the quotation marks of a string.
    package var json: ArraySlice<UInt8> { text }

    /// The UTF-8 of a string, with escapes resolved.
    package var utf8: ArraySlice<UInt8>? { location.utf8(in: whole) }

    package var string: String? { location.string(in: whole.span) }

    /// An integer without a fraction or an exponent, within 64 bits.
    package var integer: Int64? { location.integer(in: whole.span) }

    /// A number as a double; integers beyond its range become infinite.
    package var double: Double? {
        guard kind == .integer || kind == .real else { return nil }
        return Double(String(decoding: text, as: UTF8.self))
    }

    /// The elements of an array.
    package var elements: [JSONValue]? {
        guard kind == .array else { return nil }
        return (try? JSONScanner.elements(in: text.span))?.map { JSONValue($0, in: text) }
    }

    /// The number of elements of an array; 65,535 also means more.
    package var elementCount: Int? { kind == .array ? Int(location.elementCount) : nil }

    /// Calls `body` for each element of an array as an object, or with `nil` if the element is not an object.
    ///
    /// Each element is scanned only once; with ``elements``, it would be scanned once for its end and again for its
    /// members.
    package func forEachObject(_ body: (JSONObject?) -> Void) {
        guard kind == .array else { return }
        let array = text
        // The text has been validated as a whole, with or without U+0000.
        try? JSONScanner.forEachElement(in: array.span) { members in
            body(members.map { JSONObject($0, in: array) })
        }
    }

    package var object: JSONObject? {
        guard kind == .object else { return nil }
        // The text has been validated as a whole, with or without U+0000.
        return try? JSONObject(text, allowsNUL: true)
    }
}

extension JSONLocation {
    /// The boolean at this location; `nil` if it is something else.
    var bool: Bool? {
        switch kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// The UTF-8 of the string at this location, with escapes resolved; `nil` if it is something else.
    func utf8(in text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard kind == .string else { return nil }
        let written = text.slice(self)
        return hasEscapes ? unescaped(written.span)[...] : written
    }

    /// The string at this location, with escapes resolved; `nil` if it is something else.
    func string(in text: Span<UInt8>) -> String? {
        guard kind == .string else { return nil }
        let written = text.extracting(indices)
        if hasEscapes { return String(decoding: unescaped(written), as: UTF8.self) }
        return unsafe written.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// The integer at this location, without fraction and exponent, within 64 bits.
    func integer(in text: Span<UInt8>) -> Int64? {
        guard kind == .integer else { return nil }
        let isNegative = text[indices.lowerBound] == UInt8(ascii: "-")
        let digits = isNegative ? indices.dropFirst() : indices
        if digits.count <= 18 {
            // This many digits can't exceed 64 bits; the times in a token have ten.
            var magnitude: Int64 = 0
            for index in digits { magnitude = magnitude &* 10 &+ Int64(text[index] &- UInt8(ascii: "0")) }
            return isNegative ? -magnitude : magnitude
        }
        var result: Int64 = 0
        for index in digits {
            // Accumulates a negative number, because negative integers have the wider range.
            let (tens, overflow) = result.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.subtractingReportingOverflow(Int64(text[index] - UInt8(ascii: "0")))
            if overflow || carry { return nil }
            result = sum
        }
        if isNegative { return result }
        return result == .min ? nil : -result
    }
}
