private import Bytes

/// Validates a JSON text (RFC 8259) strictly in one pass, and notes the locations of the outermost object's members.
struct JSONScanner {
    /// The members of all open objects. Those of an inner object are checked for duplicates and removed at its end.
    private var members: [JSONMember] = []
    /// The current position; after a failure, the position of the fault.
    private(set) var position = 0
    private var depth = 0
    private let allowsNUL: Bool
    private let hashBasis = nameHashBasis

    /// The number of members for which memory is reserved at the start.
    private static let expectedMemberCount = 24

    init(allowsNUL: Bool) { self.allowsNUL = allowsNUL }

    /// The members of a text that must be one object.
    mutating func topLevelObject(in text: Span<UInt8>) throws(JSONError) -> [JSONMember] {
        members.reserveCapacity(Self.expectedMemberCount)
        skipWhiteSpace(text)
        guard position < text.count else { throw .syntax }
        guard text[position] == UInt8(ascii: "{") else {
            // Report a syntax error, if there is one, rather than the wrong type.
            _ = try value(in: text)
            try end(of: text)
            throw .notAnObject
        }
        try object(in: text)
        try end(of: text)
        return members
    }

    /// The locations of the elements of a validated text that is one array.
    static func elements(in text: Span<UInt8>) throws(JSONError) -> [JSONLocation] {
        var scanner = JSONScanner(allowsNUL: true)
        var elements: [JSONLocation] = []
        _ = try scanner.array(in: text) { elements.append($0) }
        return elements
    }

    /// Calls `body` for each element of a validated text that is one array, with the element's members, or `nil` if it
    /// is not an object.
    static func forEachElement(
        in text: Span<UInt8>, _ body: ([JSONMember]?) -> Void
    ) throws(JSONError) {
        var scanner = JSONScanner(allowsNUL: true)
        scanner.position = 1
        while true {
            scanner.skipWhiteSpace(text)
            switch try scanner.peek(text) {
            case UInt8(ascii: "]"): return
            case UInt8(ascii: ","): scanner.position += 1
            case UInt8(ascii: "{"):
                scanner.members.reserveCapacity(expectedMemberCount)
                try scanner.object(in: text)
                var members: [JSONMember] = []
                swap(&members, &scanner.members)
                body(members)
            default:
                _ = try scanner.value(in: text)
                body(nil)
            }
        }
    }

    private mutating func end(of text: Span<UInt8>) throws(JSONError) {
        skipWhiteSpace(text)
        guard position == text.count else { throw .syntax }
    }

    private mutating func object(in text: Span<UInt8>) throws(JSONError) {
        try enter()
        let first = members.count
        position += 1
        if try take(UInt8(ascii: "}"), text) {
            depth -= 1
            return
        }
        var seen: UInt64 = 0
        var repeats = false
        while true {
            guard try peek(text) == UInt8(ascii: "\"") else { throw .syntax }
            let name = try string(in: text, isName: true)
            let hash = hash(of: name, text)
            // Most names need no comparison, because no other name has the same hash bit.
            if seen & presenceBit(hash) != 0 { repeats = repeats || isDuplicate(name, hash, from: first, text) }
            seen |= presenceBit(hash)
            guard try take(UInt8(ascii: ":"), text) else { throw .syntax }
            skipWhiteSpace(text)
            members.append(JSONMember(nameHash: hash, name: name, value: try value(in: text)))
            if try take(UInt8(ascii: ","), text) {
                skipWhiteSpace(text)
            } else if try take(UInt8(ascii: "}"), text) {
                break
            } else {
                throw .syntax
            }
        }
        guard !repeats else { throw .duplicateMember }
        if members.count - first > Self.fewMembers { try rejectDuplicates(from: first, in: text) }
        depth -= 1
        if depth > 0 { members.removeSubrange(first...) }
    }

    /// - Returns: the number of elements.
    private mutating func array(
        in text: Span<UInt8>, _ body: (JSONLocation) -> Void = { _ in }
    ) throws(JSONError) -> Int {
        try enter()
        position += 1
        if try take(UInt8(ascii: "]"), text) {
            depth -= 1
            return 0
        }
        var count = 0
        while true {
            body(try value(in: text))
            count += 1
            if try take(UInt8(ascii: ","), text) {
                skipWhiteSpace(text)
            } else if try take(UInt8(ascii: "]"), text) {
                break
            } else {
                throw .syntax
            }
        }
        depth -= 1
        return count
    }

    private mutating func value(in text: Span<UInt8>) throws(JSONError) -> JSONLocation {
        let start = UInt32(truncatingIfNeeded: position)
        let kind: JSONKind
        var elementCount = 0
        switch try peek(text) {
        case UInt8(ascii: "\""):
            return try string(in: text)
        case UInt8(ascii: "{"):
            try object(in: text)
            kind = .object
        case UInt8(ascii: "["):
            elementCount = try array(in: text)
            kind = .array
        case UInt8(ascii: "t"):
            try literal("true", text)
            kind = .true
        case UInt8(ascii: "f"):
            try literal("false", text)
            kind = .false
        case UInt8(ascii: "n"):
            try literal("null", text)
            kind = .null
        default: kind = try number(in: text)
        }
        return JSONLocation(
            range: start..<UInt32(truncatingIfNeeded: position), kind: kind,
            elementCount: UInt16(clamping: elementCount))
    }

    /// Parses a string from its opening quotation mark; the result is the location between the marks.
    private mutating func string(in text: Span<UInt8>, isName: Bool = false) throws(JSONError) -> JSONLocation {
        position += 1
        let start = UInt32(truncatingIfNeeded: position)
        var hasEscapes = false
        while true {
            position = text.endOfPlainRun(from: position)
            guard position < text.count else { throw .syntax }
            switch text[position] {
            case UInt8(ascii: "\""):
                let range = start..<UInt32(truncatingIfNeeded: position)
                position += 1
                return JSONLocation(range: range, kind: .string, hasEscapes: hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try escape(in: text, isInName: isName)
            case 0x80...: try multiByteCharacter(in: text)
            default: throw .syntax
            }
        }
    }

    private mutating func escape(in text: Span<UInt8>, isInName: Bool) throws(JSONError) {
        guard position + 1 < text.count else { throw .syntax }
        switch text[position + 1] {
        case UInt8(ascii: "u"):
            let unit = try hexadecimal(in: text)
            switch unit {
            case 0: guard allowsNUL, !isInName else { throw .encoding }
            case 0xd800..<0xdc00:
                guard position + 1 < text.count, text[position] == UInt8(ascii: "\\"),
                    text[position + 1] == UInt8(ascii: "u"),
                    case 0xdc00..<0xe000 = try hexadecimal(in: text)
                else { throw .encoding }
            case 0xdc00..<0xe000: throw .encoding
            default: break
            }
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
        default: throw .syntax
        }
    }

    /// Parses the four digits of `\uXXXX`, from the backslash.
    private mutating func hexadecimal(in text: Span<UInt8>) throws(JSONError) -> UInt16 {
        guard position + 6 <= text.count else { throw .syntax }
        var unit: UInt16 = 0
        for index in (position + 2)..<(position + 6) {
            guard let digit = text[index].hexadecimalValue else { throw .syntax }
            unit = unit << 4 | UInt16(digit)
        }
        position += 6
        return unit
    }

    /// Parses a character of two to four bytes, by the table of well-formed sequences (Unicode 15, table 3-7).
    private mutating func multiByteCharacter(in text: Span<UInt8>) throws(JSONError) {
        let lead = text[position]
        let (length, second): (Int, ClosedRange<UInt8>) =
            switch lead {
            case 0xc2...0xdf: (2, 0x80...0xbf)
            case 0xe0: (3, 0xa0...0xbf)
            case 0xed: (3, 0x80...0x9f)
            case 0xe1...0xef: (3, 0x80...0xbf)
            case 0xf0: (4, 0x90...0xbf)
            case 0xf1...0xf3: (4, 0x80...0xbf)
            case 0xf4: (4, 0x80...0x8f)
            default: throw .encoding
            }
        guard position + length <= text.count, second.contains(text[position + 1]) else { throw .encoding }
        for offset in 2..<max(length, 2) where text[position + offset] & 0xc0 != 0x80 { throw .encoding }
        position += length
    }

    private mutating func number(in text: Span<UInt8>) throws(JSONError) -> JSONKind {
        let start = position
        if text[position] == UInt8(ascii: "-") { position += 1 }
        guard position < text.count else { throw .syntax }
        if text[position] == UInt8(ascii: "0") {
            position += 1
        } else {
            guard digits(in: text) > 0 else { throw .syntax }
        }
        var isReal = false
        if position < text.count, text[position] == UInt8(ascii: ".") {
            isReal = true
            position += 1
            guard digits(in: text) > 0 else { throw .syntax }
        }
        if position < text.count, text[position] | 0x20 == UInt8(ascii: "e") {
            isReal = true
            position += 1
            if position < text.count, text[position] == UInt8(ascii: "+") || text[position] == UInt8(ascii: "-") {
                position += 1
            }
            guard digits(in: text) > 0 else { throw .syntax }
        }
        guard isReal else { return .integer }
        var written = [UInt8]()
        for index in start..<position { written.append(text[index]) }
        guard Double(String(decoding: written, as: UTF8.self))?.isFinite == true else { throw .numberOutOfRange }
        return .real
    }

    private mutating func digits(in text: Span<UInt8>) -> Int {
        let start = position
        while position < text.count, text[position].isDigit { position += 1 }
        return position - start
    }

    private mutating func literal(_ word: StaticString, _ text: Span<UInt8>) throws(JSONError) {
        let length = word.utf8CodeUnitCount
        guard position + length <= text.count else { throw .syntax }
        let matches = word.withUTF8Buffer { word in
            for offset in 0..<length where unsafe word[offset] != text[position + offset] { return false }
            return true
        }
        guard matches else { throw .syntax }
        position += length
    }

    private mutating func enter() throws(JSONError) {
        depth += 1
        guard depth <= JSONLimits.maximumDepth else { throw .tooDeep }
    }

    private mutating func skipWhiteSpace(_ text: Span<UInt8>) {
        while position < text.count, text[position] <= 0x20 {
            switch text[position] {
            case 0x20, 0x09, 0x0a, 0x0d: position += 1
            default: return
            }
        }
    }

    @inline(__always) private func peek(_ text: Span<UInt8>) throws(JSONError) -> UInt8 {
        guard position < text.count else { throw .syntax }
        return text[position]
    }

    /// Skips white space, and then `byte` if it comes next.
    ///
    /// Inlined: as a call it took 14 instructions, about fifty times per token.
    @inline(__always) private mutating func take(_ byte: UInt8, _ text: Span<UInt8>) throws(JSONError) -> Bool {
        // Most texts have no white space.
        if try peek(text) != byte {
            skipWhiteSpace(text)
            guard try peek(text) == byte else { return false }
        }
        position += 1
        return true
    }
}

extension JSONScanner {
    /// Above this number of members, sorting is cheaper than comparing names whose hashes share a bit.
    private static let fewMembers = 24

    /// Whether a member from `first` on has this name. Used only for a few members.
    private func isDuplicate(_ name: JSONLocation, _ hash: UInt32, from first: Int, _ text: Span<UInt8>) -> Bool {
        guard members.count - first < Self.fewMembers else { return false }
        for index in first..<members.count
        where members[index].nameHash == hash && isSame(members[index].name, name, text) {
            return true
        }
        return false
    }

    private func rejectDuplicates(from first: Int, in text: Span<UInt8>) throws(JSONError) {
        // Sorting puts equal names next to each other, however many other names share their hash.
        let sorted = members[first...].sorted { left, right in
            if left.nameHash != right.nameHash { return left.nameHash < right.nameHash }
            return characters(left.name, text).lexicographicallyPrecedes(characters(right.name, text))
        }
        for index in 1..<sorted.count
        where sorted[index].nameHash == sorted[index - 1].nameHash
            && isSame(sorted[index].name, sorted[index - 1].name, text)
        {
            throw .duplicateMember
        }
    }

    private func isSame(_ left: JSONLocation, _ right: JSONLocation, _ text: Span<UInt8>) -> Bool {
        characters(left, text) == characters(right, text)
    }

    private func characters(_ name: JSONLocation, _ text: Span<UInt8>) -> [UInt8] {
        unescaped(text.extracting(name.indices))
    }

    private func hash(of name: JSONLocation, _ text: Span<UInt8>) -> UInt32 {
        let written = text.extracting(name.indices)
        return name.hasEscapes
            ? nameHash(unescaped(written).span, from: hashBasis) : nameHash(written, from: hashBasis)
    }
}

/// The characters of a validated string, with escapes resolved.
func unescaped(_ string: Span<UInt8>) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(string.count)
    var pendingHighSurrogate: UInt32?
    var index = 0
    while index < string.count {
        guard string[index] == UInt8(ascii: "\\") else {
            output.append(string[index])
            index += 1
            continue
        }
        let letter = string[index + 1]
        index += 2
        switch letter {
        case UInt8(ascii: "b"): output.append(0x08)
        case UInt8(ascii: "f"): output.append(0x0c)
        case UInt8(ascii: "n"): output.append(0x0a)
        case UInt8(ascii: "r"): output.append(0x0d)
        case UInt8(ascii: "t"): output.append(0x09)
        case UInt8(ascii: "u"):
            var unit: UInt32 = 0
            for digit in index..<(index + 4) { unit = unit << 4 | UInt32(string[digit].hexadecimalValue ?? 0) }
            index += 4
            if case 0xd800..<0xdc00 = unit {
                pendingHighSurrogate = unit
            } else {
                let scalar = pendingHighSurrogate.map { 0x10000 + ($0 - 0xd800) << 10 + (unit - 0xdc00) } ?? unit
                pendingHighSurrogate = nil
                if let scalar = Unicode.Scalar(scalar) { output.append(contentsOf: UTF8.encode(scalar) ?? .init()) }
            }
        default: output.append(letter)
        }
    }
    return output
}
