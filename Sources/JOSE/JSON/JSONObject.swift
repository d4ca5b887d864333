private import Bytes

/// A fully validated JSON object whose members are read in place.
///
/// The reader of the hot path. One pass over the text finds every fault (see ``JSONError``) and notes the positions of
/// the members; nothing is copied until it is used. It accepts the same texts as ``JSONTree``, and integers beyond 64
/// bits as long as no caller reads them.
package struct JSONObject: Sendable {
    private let text: ArraySlice<UInt8>
    private let members: [JSONMember]
    /// One bit per member, by its name's hash. Most names that are looked up are absent, and this finds out at once. It
    /// saves 1,800 instructions per token, compared with comparing each member's name.
    private let presence: UInt64

    /// Parses a text that must be one JSON object, surrounded only by white space.
    ///
    /// - Parameter allowsNUL: whether strings (but not names) may contain U+0000. Requests may, because their strings
    ///   are only compared. Tokens may not, because other parsers may stop there.
    /// - Throws: ``JSONError``.
    package init(_ text: ArraySlice<UInt8>, allowsNUL: Bool = false) throws(JSONError) {
        var scanner = JSONScanner(allowsNUL: allowsNUL)
        self.init(try scanner.topLevelObject(in: text.span), in: text)
    }

    /// - Parameter text: the validated text that contains the members.
    init(_ members: [JSONMember], in text: ArraySlice<UInt8>) {
        self.members = members
        presence = members.reduce(0) { $0 | presenceBit($1.nameHash) }
        self.text = text
    }

    /// - Throws: ``JSONError``.
    package init(_ text: [UInt8], allowsNUL: Bool = false) throws(JSONError) {
        try self.init(text[...], allowsNUL: allowsNUL)
    }

    package var count: Int { members.count }

    package subscript(name: JSONName) -> JSONValue? { location(of: name).map { JSONValue($0, in: text) } }

    /// The value of a member that must be a string, or `nil` if there is no member of this name.
    ///
    /// Equivalent to reading its ``JSONValue``, but without retaining the text, about thirty times per token.
    ///
    /// - Throws: ``JSONTypeMismatch``.
    package func string(_ name: JSONName) throws(JSONTypeMismatch) -> String? {
        try read(name) { $0.string(in: text.span) }
    }

    /// Like ``string(_:)``, for an integer.
    ///
    /// - Throws: ``JSONTypeMismatch``, also beyond 64 bits.
    package func integer(_ name: JSONName) throws(JSONTypeMismatch) -> Int64? {
        try read(name) { $0.integer(in: text.span) }
    }

    /// Like ``string(_:)``, for a boolean.
    ///
    /// - Throws: ``JSONTypeMismatch``.
    package func bool(_ name: JSONName) throws(JSONTypeMismatch) -> Bool? {
        try read(name) { $0.bool }
    }

    /// The UTF-8 of a member that must be a string, with escapes resolved, or `nil` if there is no member of this name.
    /// Without escapes, it is a slice of the text and retains it.
    ///
    /// - Throws: ``JSONTypeMismatch``.
    package func utf8(_ name: JSONName) throws(JSONTypeMismatch) -> ArraySlice<UInt8>? {
        try read(name) { $0.utf8(in: text) }
    }

    /// - Parameter value: reads a member's location; returns `nil` if it has another type.
    @inline(__always) private func read<Value>(
        _ name: JSONName, _ value: (JSONLocation) -> Value?
    ) throws(JSONTypeMismatch) -> Value? {
        guard let location = location(of: name) else { return nil }
        guard let value = value(location) else { throw JSONTypeMismatch() }
        return value
    }

    /// Whether a member is a string with exactly these characters.
    ///
    /// Allocates a string only if there are escapes. Apple sends `"true"` in two claims where other providers send
    /// `true`.
    package func isString(_ name: JSONName, _ characters: String) -> Bool {
        guard let location = location(of: name), location.kind == .string else { return false }
        let written = text.span.extracting(location.indices)
        return location.hasEscapes
            ? unescaped(written).elementsEqual(characters.utf8) : written.isExactly(characters.utf8.span)
    }

    /// Whether a member is present and is neither `null` nor an empty string.
    package func hasValue(_ name: JSONName) -> Bool {
        guard let location = location(of: name) else { return false }
        return location.kind != .null && !(location.kind == .string && location.range.isEmpty)
    }

    /// The type of a member's value, or `nil` if there is no member of this name.
    package func kind(of name: JSONName) -> JSONKind? { location(of: name)?.kind }

    /// The location of a member's value.
    @inline(__always) private func location(of name: JSONName) -> JSONLocation? {
        presence & presenceBit(name.hash) == 0 ? nil : search(for: name)
    }

    @inline(never) private func search(for name: JSONName) -> JSONLocation? {
        let members = members.span
        for index in members.indices where members[index].nameHash == name.hash {
            if nameEquals(members[index], name) { return members[index].value }
        }
        return nil
    }

    /// Whether every member has one of these names.
    package func hasOnly(_ names: [JSONName]) -> Bool {
        members.allSatisfy { member in
            names.contains { $0.hash == member.nameHash && nameEquals(member, $0) }
        }
    }

    /// The name of the first member that is not among these names, as UTF-8 with escapes resolved.
    package func firstName(notAmong names: [JSONName]) -> [UInt8]? {
        let member = members.first { member in
            !names.contains { $0.hash == member.nameHash && nameEquals(member, $0) }
        }
        return member.map { unescaped(text.span.extracting($0.name.indices)) }
    }

    /// Calls `body` for each member in order, with its name (escapes resolved) and its value.
    package func forEachMember(_ body: (String, JSONValue) -> Void) {
        for member in members {
            let name = String(decoding: unescaped(text.span.extracting(member.name.indices)), as: UTF8.self)
            body(name, JSONValue(member.value, in: text))
        }
    }

    private func nameEquals(_ member: JSONMember, _ name: JSONName) -> Bool {
        let written = text.span.extracting(member.name.indices)
        return member.name.hasEscapes
            ? unescaped(written).elementsEqual(name.utf8) : written.isExactly(name.utf8.span)
    }
}

/// A member is present but has another type.
package struct JSONTypeMismatch: Error {}

/// A member's name with its precomputed hash.
package struct JSONName: Sendable, ExpressibleByStringLiteral {
    package let string: String
    let utf8: [UInt8]
    let hash: UInt32

    package init(_ string: String) {
        self.string = string
        let utf8 = Array(string.utf8)
        self.utf8 = utf8
        hash = nameHash(utf8.span, from: nameHashBasis)
    }

    package init(stringLiteral value: String) { self.init(value) }
}

/// A hash that only speeds up comparisons: collisions cost time, at most that of sorting. Its basis differs between
/// processes, which makes deliberate collisions harder but not impossible.
///
/// It processes eight bytes at a time; the last eight may overlap the ones before. With one multiplication per byte
/// (FNV-1a), each step waited for the one before, which cost 2 % of the work for a batched token, signature excluded.
///
/// - Parameter basis: ``nameHashBasis``, passed in because reading the global costs as much as a step.
func nameHash(_ name: Span<UInt8>, from basis: UInt32) -> UInt32 {
    let count = name.count
    guard count >= 8 else { return mixed(basis, shortName(name)) }
    var hash = basis
    var index = 0
    while index + 8 <= count {
        hash = mixed(hash, unsafe name.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
        index += 8
    }
    guard index < count else { return hash }
    return mixed(hash, unsafe name.bytes.unsafeLoadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
}

/// One step of ``nameHash(_:from:)``: the upper half of a product depends on every bit of both factors.
func mixed(_ hash: UInt32, _ word: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: ((word ^ UInt64(hash)) &* 0x9e37_79b9_7f4a_7c15) >> 32)
}

/// Fewer than eight bytes as one word.
private func shortName(_ name: Span<UInt8>) -> UInt64 {
    guard name.count >= 4 else { return name.indices.reduce(0) { $0 << 8 | UInt64(name[$1]) } }
    let first = unsafe name.bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self)
    let last = unsafe name.bytes.unsafeLoadUnaligned(fromByteOffset: name.count - 4, as: UInt32.self)
    return UInt64(first) << 32 | UInt64(last)
}

/// A name's bit in ``JSONObject/presence``, by its hash.
func presenceBit(_ hash: UInt32) -> UInt64 { 1 << UInt64(hash >> 26) }

/// Derived from the seed of Swift's hash tables, which is random, and fixed (`SWIFT_DETERMINISTIC_HASHING`) when
/// instructions are counted. Otherwise counts would vary with the number of absent names that share a
/// ``presenceBit(_:)`` with a present one.
let nameHashBasis = UInt32(truncatingIfNeeded: Hasher().finalize())

/// The location of a value or a name in a validated text, without the quotation marks of a string.
struct JSONLocation {
    let range: Range<UInt32>
    let kind: JSONKind
    /// Only for a string.
    var hasEscapes = false
    /// Only for an array; 65,535 also means more.
    var elementCount: UInt16 = 0

    var indices: Range<Int> { Int(range.lowerBound)..<Int(range.upperBound) }
}

struct JSONMember {
    let nameHash: UInt32
    let name: JSONLocation
    let value: JSONLocation
}

extension ArraySlice<UInt8> {
    /// The bytes of a location in this text.
    func slice(_ location: JSONLocation) -> ArraySlice<UInt8> {
        self[(startIndex + Int(location.range.lowerBound))..<(startIndex + Int(location.range.upperBound))]
    }
}

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

    package var bool: Bool? { location.bool }

    /// The value as written, without the quotation marks of a string.
    package var json: ArraySlice<UInt8> { whole.slice(location) }

    /// The UTF-8 of a string, with escapes resolved.
    package var utf8: ArraySlice<UInt8>? { location.utf8(in: whole) }

    package var string: String? { location.string(in: whole.span) }

    /// An integer without a fraction or an exponent, within 64 bits.
    package var integer: Int64? { location.integer(in: whole.span) }

    /// A number as a double; integers beyond its range become infinite.
    package var double: Double? {
        guard kind == .integer || kind == .real else { return nil }
        return Double(String(decoding: json, as: UTF8.self))
    }

    /// The elements of an array.
    package var elements: [JSONValue]? {
        guard kind == .array else { return nil }
        return (try? JSONScanner.elements(in: json.span))?.map { JSONValue($0, in: json) }
    }

    /// The number of elements of an array; 65,535 also means more.
    package var elementCount: Int? { kind == .array ? Int(location.elementCount) : nil }

    /// Calls `body` for each element of an array as an object, or with `nil` if the element is not an object.
    ///
    /// Each element is scanned only once; with ``elements``, it would be scanned once for its end and again for its
    /// members.
    package func forEachObject(_ body: (JSONObject?) -> Void) {
        guard kind == .array else { return }
        let array = json
        // The text has been validated as a whole, with or without U+0000.
        try? JSONScanner.forEachElement(in: array.span) { members in
            body(members.map { JSONObject($0, in: array) })
        }
    }

    package var object: JSONObject? {
        guard kind == .object else { return nil }
        // The text has been validated as a whole, with or without U+0000.
        return try? JSONObject(json, allowsNUL: true)
    }
}

/// The value at a location, with escapes resolved; `nil` if it has another type.
extension JSONLocation {
    var bool: Bool? {
        switch kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// The UTF-8 of a string.
    func utf8(in text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard kind == .string else { return nil }
        let written = text.slice(self)
        return hasEscapes ? unescaped(written.span)[...] : written
    }

    func string(in text: Span<UInt8>) -> String? {
        guard kind == .string else { return nil }
        let written = text.extracting(indices)
        if hasEscapes { return String(decoding: unescaped(written), as: UTF8.self) }
        return unsafe written.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// An integer without a fraction or an exponent, within 64 bits.
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
