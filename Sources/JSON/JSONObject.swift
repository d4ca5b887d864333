/// A JSON object, wholly checked, whose members are read in place.
///
/// The reader of the hot path: one pass over the text finds every fault (see ``JSONError``) and notes where the members
/// lie; nothing is copied until it is asked for. It gives the same verdicts as ``JSONTree``, but for integers beyond 64
/// bits, which it accepts where nobody reads them.
package struct JSONObject: Sendable {
    private let text: ArraySlice<UInt8>
    private let members: [JSONMember]

    /// Reads a text that must be one JSON object with nothing but white space around it.
    ///
    /// - Parameter allowsNUL: whether strings, but not names, may hold U+0000. A request may: what it says is then compared,
    ///   and does not match. A token may not, since others that read it could stop there.
    /// - Throws: ``JSONError``.
    package init(_ text: ArraySlice<UInt8>, allowsNUL: Bool = false) throws(JSONError) {
        var scanner = JSONScanner(allowsNUL: allowsNUL)
        members = try scanner.topLevelObject(in: text.span)
        self.text = text
    }

    /// - Throws: ``JSONError``.
    package init(_ text: [UInt8], allowsNUL: Bool = false) throws(JSONError) {
        try self.init(text[...], allowsNUL: allowsNUL)
    }

    /// The object's own text, white space around it included.
    package var rawText: ArraySlice<UInt8> { text }

    package var count: Int { members.count }

    package subscript(name: JSONName) -> JSONValue? {
        for member in members where member.nameHash == name.hash {
            if nameEquals(member, name) { return value(of: member) }
        }
        return nil
    }

    /// Whether every member has one of these names.
    package func hasOnly(_ names: [JSONName]) -> Bool {
        members.allSatisfy { member in
            names.contains { $0.hash == member.nameHash && nameEquals(member, $0) }
        }
    }

    private func nameEquals(_ member: JSONMember, _ name: JSONName) -> Bool {
        let written = slice(member.name)
        guard member.nameHasEscapes else { return written.elementsEqual(name.utf8) }
        return unescaped(written.span).elementsEqual(name.utf8)
    }

    private func value(of member: JSONMember) -> JSONValue {
        JSONValue(text: slice(member.value), kind: member.kind, hasEscapes: member.valueHasEscapes)
    }

    private func slice(_ range: Range<UInt32>) -> ArraySlice<UInt8> {
        text[(text.startIndex + Int(range.lowerBound))..<(text.startIndex + Int(range.upperBound))]
    }
}

/// A member's name, with its hash made ready once.
package struct JSONName: Sendable, ExpressibleByStringLiteral {
    package let string: String
    let utf8: [UInt8]
    let hash: UInt32

    package init(_ string: String) {
        self.string = string
        utf8 = Array(string.utf8)
        hash = nameHash(Array(string.utf8).span)
    }

    package init(stringLiteral value: String) { self.init(value) }
}

private let nameHashBasis = UInt32.random(in: .min ... .max)

/// Where one member of an object lies in the text.
struct JSONMember {
    var nameHash: UInt32
    /// The name's bytes, without quotation marks.
    var name: Range<UInt32>
    /// The value's bytes; a string's without quotation marks.
    var value: Range<UInt32> = 0..<0
    var kind = JSONKind.null
    var nameHasEscapes: Bool
    var valueHasEscapes = false
}

/// FNV-1a from a basis that differs from process to process, so that names which collide can't be prepared. It only narrows
/// a comparison: collisions cost time and nothing else.
func nameHash(_ name: Span<UInt8>) -> UInt32 {
    var hash = nameHashBasis
    for index in name.indices { hash = (hash ^ UInt32(name[index])) &* 0x0100_0193 }
    return hash
}
