private import Bytes

extension UInt8 {
    /// The characters of field values: visible characters, spaces, tabs, and bytes beyond ASCII (RFC 9110, section
    /// 5.5).
    var isFieldCharacter: Bool { self >= 0x20 && self != 0x7f || self == UInt8(ascii: "\t") }

    /// The characters of hosts and ports (RFC 3986, section 3.2.2).
    var isHostCharacter: Bool {
        switch self {
        case UInt8(ascii: "#"), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "|"): false
        case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="),
            UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
            true
        default: isTokenCharacter
        }
    }

    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    static var lineFeed: UInt8 { 0x0a }
    static var carriageReturn: UInt8 { 0x0d }
}
