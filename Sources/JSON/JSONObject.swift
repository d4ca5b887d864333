private import Bytes

/// A JSON object, wholly checked, whose members are read in place.
///
/// The reader of the hot path: one pass over the text finds every fault (see ``JSONError``) and notes where the members
/// lie; nothing is copied until it is asked for. It gives the same verdicts as ``JSONTree``, but for integers beyond 64
/// bits, which it accepts where nobody reads them.
package struct JSONObject: Sendable {
    private let text: ArraySlice<UInt8>
    private let members: [JSONMember]
    /// A bit for each member by its name's hash: most names that are asked for are not there, and one look at this says so.
    /// 1,800 instructions a token less than comparing with each member.
    private let presence: UInt64

    /// Reads a text that must be one JSON object with nothing but white space around it.
    ///
    /// - Parameter allowsNUL: whether strings, but not names, may hold U+0000. A request may: what it says is then compared,
    ///   and does not match. A token may not, since others that read it could stop there.
    /// - Throws: ``JSONError``.
    package init(_ text: ArraySlice<UInt8>, allowsNUL: Bool = false) throws(JSONError) {
        var scanner = JSONScanner(allowsNUL: allowsNUL)
        self.init(try scanner.topLevelObject(in: text.span), in: text)
    }

    /// - Parameter text: a checked text, where the members lie.
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

    /// The string that a member is, or `nil` where there is none of this name.
    ///
    /// The same as by its ``JSONValue``, without the copy of the text's references that one takes: some thirty a token.
    ///
    /// - Throws: ``JSONTypeMismatch``.
    package func string(_ name: JSONName) throws(JSONTypeMismatch) -> String? {
        try read(name) { $0.string(in: text.span) }
    }

    /// The integer that a member is, or `nil` where there is none of this name.
    ///
    /// - Throws: ``JSONTypeMismatch``, also where it is beyond 64 bits.
    package func integer(_ name: JSONName) throws(JSONTypeMismatch) -> Int64? {
        try read(name) { $0.integer(in: text.span) }
    }

    /// The boolean that a member is, or `nil` where there is none of this name.
    ///
    /// - Throws: ``JSONTypeMismatch``.
    package func bool(_ name: JSONName) throws(JSONTypeMismatch) -> Bool? {
        try read(name) { $0.bool }
    }

    /// The UTF-8 of the string that a member is, escapes resolved, or `nil` where there is none of this name.
    ///
    /// - Throws: ``JSONTypeMismatch``.
    package func utf8(_ name: JSONName) throws(JSONTypeMismatch) -> ArraySlice<UInt8>? {
        try read(name) { $0.utf8(in: text) }
    }

    /// - Parameter value: of a member's location; `nil` where another kind of value lies there.
    @inline(__always) private func read<Value>(
        _ name: JSONName, _ value: (JSONLocation) -> Value?
    ) throws(JSONTypeMismatch) -> Value? {
        guard let location = location(of: name) else { return nil }
        guard let value = value(location) else { throw JSONTypeMismatch() }
        return value
    }

    /// Whether a member is a string that stands for these characters.
    ///
    /// A string of its own is made only of one with escapes: two claims of Apple's are `"true"` where others have `true`.
    package func isString(_ name: JSONName, _ characters: String) -> Bool {
        guard let location = location(of: name), location.kind == .string else { return false }
        let written = text.span.extracting(location.indices)
        return location.hasEscapes
            ? unescaped(written).elementsEqual(characters.utf8) : written.isExactly(characters.utf8.span)
    }

    /// Whether a member is there and has a value: neither `null` nor an empty string.
    package func hasValue(_ name: JSONName) -> Bool {
        guard let location = location(of: name) else { return false }
        return location.kind != .null && !(location.kind == .string && location.range.isEmpty)
    }

    /// What kind of value a member is, or `nil` where there is none of this name.
    package func kind(of name: JSONName) -> JSONKind? { location(of: name)?.kind }

    /// Where the value of a member lies.
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

    /// The first member with none of these names: its own name's UTF-8, escapes resolved.
    package func firstName(notAmong names: [JSONName]) -> [UInt8]? {
        let member = members.first { member in
            !names.contains { $0.hash == member.nameHash && nameEquals(member, $0) }
        }
        return member.map { unescaped(text.span.extracting($0.name.indices)) }
    }

    /// Gives `body` each member in turn: its name, escapes resolved, and its value.
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

/// A member is there, and not of the kind that was asked for.
package struct JSONTypeMismatch: Error {}

/// A member's name, with its hash made ready once.
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

/// A hash that only narrows a comparison: collisions cost time and nothing else, and of that as much as sorting takes. It
/// begins with a basis that differs from process to process, which makes them rarer; whoever wants some finds some.
///
/// Eight bytes at a time, the last eight twice where they are not a whole step further: with a multiplication for each byte
/// (FNV-1a), each had to wait for the one before, a fiftieth of what a token of a batch cost beside its signature.
///
/// - Parameter basis: ``nameHashBasis``, from whoever hashes many: to ask for it takes as long as a step.
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

/// One step of ``nameHash(_:from:)``: the upper half of a product depends on every bit of both.
func mixed(_ hash: UInt32, _ word: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: ((word ^ UInt64(hash)) &* 0x9e37_79b9_7f4a_7c15) >> 32)
}

/// Less than eight bytes as one word.
private func shortName(_ name: Span<UInt8>) -> UInt64 {
    guard name.count >= 4 else { return name.indices.reduce(0) { $0 << 8 | UInt64(name[$1]) } }
    let first = unsafe name.bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self)
    let last = unsafe name.bytes.unsafeLoadUnaligned(fromByteOffset: name.count - 4, as: UInt32.self)
    return UInt64(first) << 32 | UInt64(last)
}

/// The bit of ``JSONObject/presence`` that a name has by its hash.
func presenceBit(_ hash: UInt32) -> UInt64 { 1 << UInt64(hash >> 26) }

/// From the seed of Swift's own hash tables, which is at random as well and can be held still (`SWIFT_DETERMINISTIC_HASHING`)
/// where instructions are counted: how many absent names share a ``presenceBit(_:)`` with one that is there hangs on it.
let nameHashBasis = UInt32(truncatingIfNeeded: Hasher().finalize())

/// Where a value or a name lies in a checked text; a string without its quotation marks.
struct JSONLocation {
    let range: Range<UInt32>
    let kind: JSONKind
    /// Of a string.
    var hasEscapes = false
    /// Of an array; 65,535 also stands for more.
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
