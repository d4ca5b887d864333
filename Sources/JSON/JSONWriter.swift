/// Writes JSON text into a buffer of its own; commas are its business, balance is the caller's.
package struct JSONWriter: ~Copyable {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init(reservingCapacity capacity: Int = 1024) {
        bytes.reserveCapacity(capacity)
    }

    package mutating func beginObject() { open(UInt8(ascii: "{")) }
    package mutating func endObject() { close(UInt8(ascii: "}")) }
    package mutating func beginArray() { open(UInt8(ascii: "[")) }
    package mutating func endArray() { close(UInt8(ascii: "]")) }

    /// A member's name, which needs no escapes; its value comes next.
    package mutating func name(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// A member's name of any kind; its value comes next.
    package mutating func name(escaping name: String) {
        separate()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    package mutating func value(_ string: String) {
        separate()
        quote(string)
        needsComma = true
    }

    package mutating func value(_ integer: Int64) {
        separate()
        appendDigits(integer)
        needsComma = true
    }

    package mutating func value(_ bool: Bool) { literal(bool ? "true" : "false") }

    package mutating func null() { literal("null") }

    /// JSON text that is known to be well-formed, taken over unchanged.
    package mutating func raw(_ json: ArraySlice<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
        needsComma = true
    }

    package mutating func value(_ string: String?) { if let string { value(string) } else { null() } }
    package mutating func value(_ integer: Int64?) { if let integer { value(integer) } else { null() } }
    package mutating func value(_ bool: Bool?) { if let bool { value(bool) } else { null() } }

    package mutating func member(_ name: StaticString, _ string: String?) {
        self.name(name)
        value(string)
    }

    package mutating func member(_ name: StaticString, _ integer: Int64?) {
        self.name(name)
        value(integer)
    }

    package mutating func member(_ name: StaticString, _ bool: Bool?) {
        self.name(name)
        value(bool)
    }

    package mutating func value(_ tree: JSONTree) {
        switch tree {
        case .null: null()
        case .bool(let bool): value(bool)
        case .integer(let integer): value(integer)
        case .real(let real): literal(real.description)
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

    private mutating func literal(_ text: String) {
        separate()
        bytes.append(contentsOf: text.utf8)
        needsComma = true
    }

    private mutating func open(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }

    private mutating func quote(_ string: String) {
        bytes.append(UInt8(ascii: "\""))
        var string = string
        string.withUTF8 { utf8 in
            // Most strings need no escapes and are copied whole.
            if unsafe utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
                unsafe bytes.append(contentsOf: utf8)
            } else {
                for index in utf8.indices { unsafe appendEscaped(utf8[index]) }
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func appendEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        case 0x0a: bytes.append(contentsOf: "\\n".utf8)
        case 0x0d: bytes.append(contentsOf: "\\r".utf8)
        case 0x09: bytes.append(contentsOf: "\\t".utf8)
        case 0..<0x20:
            let digits = Array("0123456789abcdef".utf8)
            bytes.append(contentsOf: "\\u00".utf8)
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        default: bytes.append(byte)
        }
    }

    private mutating func appendDigits(_ integer: Int64) {
        if integer < 0 { bytes.append(UInt8(ascii: "-")) }
        var rest = integer.magnitude
        let start = bytes.count
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        bytes[start...].reverse()
    }
}
