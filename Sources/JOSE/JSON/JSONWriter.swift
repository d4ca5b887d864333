private import Bytes

/// Writes JSON text into its own memory. It inserts commas; the caller balances brackets.
///
/// A reused writer does not allocate. It writes through a pointer, because an array would check for each of about 250
/// pieces of an answer whether it is shared.
@safe package struct JSONWriter: ~Copyable {
    private var memory: UnsafeMutableRawPointer
    /// The number of bytes that can be written without allocating.
    package private(set) var capacity: Int
    /// The number of bytes written.
    package private(set) var count = 0
    private var needsComma = false

    package init(reservingCapacity capacity: Int = 1024) {
        unsafe memory = .allocate(byteCount: capacity, alignment: 1)
        self.capacity = capacity
    }

    deinit { unsafe memory.deallocate() }

    /// The bytes written.
    package var bytes: [UInt8] { unsafe Array(UnsafeRawBufferPointer(start: memory, count: count)) }

    /// Removes what has been written, and keeps the memory.
    package mutating func removeAll() {
        count = 0
        needsComma = false
    }

    package mutating func beginObject() { open(UInt8(ascii: "{")) }
    package mutating func endObject() { close(UInt8(ascii: "}")) }
    package mutating func beginArray() { open(UInt8(ascii: "[")) }
    package mutating func endArray() { close(UInt8(ascii: "]")) }

    /// Writes a member's name that needs no escapes; the value comes next.
    ///
    /// Inlined, like members: an answer has 38 of them, and each call took ten instructions.
    @inline(__always) package mutating func name(_ name: StaticString) {
        let length = name.utf8CodeUnitCount
        reserve(length + 4)
        separate()
        unsafe memory.storeBytes(of: UInt8(ascii: "\""), toByteOffset: count, as: UInt8.self)
        unsafe (memory + count + 1).copyMemory(from: name.utf8Start, byteCount: length)
        unsafe memory.storeBytes(of: UInt8(ascii: "\""), toByteOffset: count + length + 1, as: UInt8.self)
        unsafe memory.storeBytes(of: UInt8(ascii: ":"), toByteOffset: count + length + 2, as: UInt8.self)
        count += length + 3
        needsComma = false
    }

    /// Writes any member's name; the value comes next.
    package mutating func name(escaping name: String) {
        quote(name)
        reserve(1)
        put(UInt8(ascii: ":"))
        needsComma = false
    }

    package mutating func value(_ string: String) {
        quote(string)
        needsComma = true
    }

    /// Writes a string that needs no escapes.
    package mutating func value(_ text: StaticString) {
        reserve(text.utf8CodeUnitCount + 3)
        separate()
        put(UInt8(ascii: "\""))
        put(text)
        put(UInt8(ascii: "\""))
        needsComma = true
    }

    package mutating func value(_ integer: Int64) {
        reserve(21)
        separate()
        putDigits(integer)
        needsComma = true
    }

    package mutating func value(_ bool: Bool) {
        reserve(6)
        separate()
        put(bool ? "true" : "false")
        needsComma = true
    }

    package mutating func null() {
        reserve(5)
        separate()
        // As one number: a call that copies four bytes takes longer, and every second member is null.
        unsafe memory.storeBytes(of: UInt32(littleEndian: 0x6c6c_756e), toByteOffset: count, as: UInt32.self)
        count += 4
        needsComma = true
    }

    /// Writes JSON text unchanged, after a comma if it needs one. Nothing is checked: the caller knows that the text is
    /// well-formed here, such as a value after ``name(_:)``, or an object whose end is written later.
    package mutating func raw(_ json: ArraySlice<UInt8>) {
        reserve(json.count + 1)
        separate()
        put(json.span)
        needsComma = true
    }

    package mutating func value(_ string: String?) { if let string { value(string) } else { null() } }
    package mutating func value(_ integer: Int64?) { if let integer { value(integer) } else { null() } }
    package mutating func value(_ bool: Bool?) { if let bool { value(bool) } else { null() } }

    @inline(__always) package mutating func member(_ name: StaticString, _ string: String?) {
        self.name(name)
        value(string)
    }

    @inline(__always) package mutating func member(_ name: StaticString, _ integer: Int64?) {
        self.name(name)
        value(integer)
    }

    @inline(__always) package mutating func member(_ name: StaticString, _ bool: Bool?) {
        self.name(name)
        value(bool)
    }

    package mutating func value(_ tree: JSONTree) {
        switch tree {
        case .null: null()
        case .bool(let bool): value(bool)
        case .integer(let integer): value(integer)
        case .real(let real): raw(Array(real.description.utf8)[...])
        case .string(let string): value(string)
        case .array(let elements):
            beginArray()
            for element in elements { value(element) }
            endArray()
        case .object(let members):
            beginObject()
            for (memberName, member) in members.sorted(by: { $0.key < $1.key }) {
                name(escaping: memberName)
                value(member)
            }
            endObject()
        }
    }

    /// Ends a line, for a text with one JSON text per line.
    package mutating func endLine() {
        reserve(1)
        put(UInt8(ascii: "\n"))
        needsComma = false
    }

    private mutating func open(_ bracket: UInt8) {
        reserve(2)
        separate()
        put(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        reserve(1)
        put(bracket)
        needsComma = true
    }

    private mutating func quote(_ string: String) {
        let text = string.utf8.span
        // The worst case: a control character takes six bytes.
        reserve(text.count * 6 + 3)
        separate()
        put(UInt8(ascii: "\""))
        if text.isPlainText { put(text) } else { putEscaped(text) }
        put(UInt8(ascii: "\""))
    }

    // MARK: Into reserved memory

    /// Inlined: a call would cost more than the comparison.
    @inline(__always) private mutating func reserve(_ room: Int) {
        if capacity - count < room { grow(by: room) }
    }

    @inline(never) private mutating func grow(by room: Int) {
        capacity = max(capacity * 2, count + room)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 1)
        unsafe larger.copyMemory(from: memory, byteCount: count)
        unsafe memory.deallocate()
        unsafe memory = larger
    }

    private mutating func put(_ byte: UInt8) {
        unsafe memory.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    private mutating func put(_ text: StaticString) {
        unsafe copy(text.utf8Start, text.utf8CodeUnitCount)
    }

    private mutating func put(_ text: Span<UInt8>) {
        unsafe text.withUnsafeBytes { unsafe copy($0.baseAddress, $0.count) }
    }

    private mutating func copy(_ text: UnsafeRawPointer?, _ length: Int) {
        guard let text = unsafe text else { return }
        unsafe (memory + count).copyMemory(from: text, byteCount: length)
        count += length
    }

    private mutating func separate() {
        if needsComma { put(UInt8(ascii: ",")) }
    }

    /// Writes UTF-8 text and escapes what needs it.
    private mutating func putEscaped(_ text: Span<UInt8>) {
        var start = 0
        while start < text.count {
            let end = text.endOfPlainRun(from: start, isText: true)
            put(text.extracting(start..<end))
            if end < text.count { putEscaped(text[end]) }
            start = end + 1
        }
    }

    private mutating func putEscaped(_ byte: UInt8) {
        put(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): put(byte)
        case 0x0a: put(UInt8(ascii: "n"))
        case 0x0d: put(UInt8(ascii: "r"))
        case 0x09: put(UInt8(ascii: "t"))
        default:
            put("u00")
            for digit in [byte >> 4, byte & 15] { put(digit < 10 ? 0x30 + digit : 0x57 + digit) }
        }
    }

    private mutating func putDigits(_ integer: Int64) {
        if integer < 0 { put(UInt8(ascii: "-")) }
        var rest = integer.magnitude
        var length = 1
        var bound: UInt64 = 10
        while length < 19, rest >= bound {
            length += 1
            bound &*= 10
        }
        count += length
        var position = count
        repeat {
            position &-= 1
            let (tens, digit) = rest.quotientAndRemainder(dividingBy: 10)
            unsafe memory.storeBytes(
                of: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit), toByteOffset: position, as: UInt8.self)
            rest = tens
        } while rest != 0
    }
}

@available(*, unavailable) extension JSONWriter: Sendable {}

/// Objects and arrays that close themselves. On the hot path, write the brackets one by one instead.
extension JSONWriter {
    /// Writes an object; `write` writes its members.
    package mutating func object(_ write: (inout JSONWriter) -> Void) {
        beginObject()
        write(&self)
        endObject()
    }

    /// Writes a member that is an object.
    package mutating func object(_ name: StaticString, _ write: (inout JSONWriter) -> Void) {
        self.name(name)
        object(write)
    }

    /// Writes a member that is an array; `write` writes each element.
    package mutating func array<Elements: Sequence>(
        _ name: StaticString, _ elements: Elements, _ write: (inout JSONWriter, Elements.Element) -> Void
    ) {
        self.name(name)
        beginArray()
        for element in elements { write(&self, element) }
        endArray()
    }

    /// Writes a member that is an array of objects; `write` writes the members of each.
    package mutating func objects<Elements: Sequence>(
        _ name: StaticString, _ elements: Elements, _ write: (inout JSONWriter, Elements.Element) -> Void
    ) {
        array(name, elements) { json, element in json.object { write(&$0, element) } }
    }

    /// Writes a member that is an array of strings.
    package mutating func array(_ name: StaticString, _ strings: some Sequence<String>) {
        array(name, strings) { $0.value($1) }
    }
}

extension Span<UInt8> {
    /// The end of the run of bytes that need no escaping in a JSON string: no control character, no quotation mark, no
    /// backslash and, unless `isText`, nothing beyond ASCII.
    ///
    /// It processes sixteen bytes at a time, and the last few one by one. Byte by byte, this was a seventh of a
    /// verification's cost apart from the signature.
    func endOfPlainRun(from start: Int, isText: Bool = false) -> Int {
        var index = start
        while index &+ 16 <= count {
            if let special = block(at: index).firstSpecialByte(isText: isText) { return index &+ special }
            index &+= 16
        }
        while index < count, self[index].isPlain || (isText && self[index] >= 0x80) { index += 1 }
        return index
    }

    /// Whether the whole UTF-8 text needs no escaping in a JSON string.
    ///
    /// The last bytes are tested together with some before them, because most texts are short: searching for their
    /// first special byte took 900 more instructions for an answer's strings.
    fileprivate var isPlainText: Bool {
        switch count {
        case 16...:
            var index = 0
            while index &+ 16 < count {
                if block(at: index).firstSpecialByte(isText: true) != nil { return false }
                index &+= 16
            }
            return block(at: count &- 16).firstSpecialByte(isText: true) == nil
        case 8...: return !word(at: 0).hasSpecialByte && !word(at: count &- 8).hasSpecialByte
        case 4...:
            let first = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self)
            let last = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
            return !(UInt64(first) << 32 | UInt64(last)).hasSpecialByte
        default: return endOfPlainRun(from: 0, isText: true) == count
        }
    }
}

extension SIMD16<Int8> {
    /// Constants are written as vectors: comparisons with a scalar were not vectorized.
    @inline(__always) fileprivate func firstSpecialByte(isText: Bool) -> Int? {
        let firstCharacter = Self(repeating: 0x20)
        var special = (self .== Self(repeating: 0x22)) .| (self .== Self(repeating: 0x5c))
        // Bytes beyond ASCII are negative as signed integers.
        special .|= isText ? (self .< firstCharacter) .& (self .>= Self(repeating: 0)) : self .< firstCharacter
        return Self.first(special, from: 0)
    }
}

extension UInt8 {
    fileprivate var isPlain: Bool {
        (0x20..<0x80).contains(self) && self != UInt8(ascii: "\"") && self != UInt8(ascii: "\\")
    }
}

extension UInt64 {
    /// Whether one of the eight bytes is a control character, a quotation mark or a backslash.
    fileprivate var hasSpecialByte: Bool {
        let quotes = self ^ (Self.eachByte &* 0x22)
        let backslashes = self ^ (Self.eachByte &* 0x5c)
        let controls = (self &- Self.eachByte &* 0x20) & ~self
        let zeros = ((quotes &- Self.eachByte) & ~quotes) | ((backslashes &- Self.eachByte) & ~backslashes)
        return (controls | zeros) & Self.highBits != 0
    }
}
