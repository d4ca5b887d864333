/// HTML text. Interpolated strings are escaped; interpolated ``HTML`` is not.
struct HTML: ExpressibleByStringInterpolation {
    let text: String

    init(stringLiteral text: String) { self.text = text }
    init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate(set) var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        mutating func appendLiteral(_ literal: String) { text += literal }
        mutating func appendInterpolation(_ value: HTML) { text += value.text }
        mutating func appendInterpolation(_ parts: [HTML]) { for part in parts { text += part.text } }
        mutating func appendInterpolation(_ value: String) { text += Self.escaped(value) }

        private static func escaped(_ value: String) -> String {
            var octets: [UInt8] = []
            octets.reserveCapacity(value.utf8.count)
            for octet in value.utf8 {
                switch octet {
                case UInt8(ascii: "&"): octets += "&amp;".utf8
                case UInt8(ascii: "<"): octets += "&lt;".utf8
                case UInt8(ascii: ">"): octets += "&gt;".utf8
                case UInt8(ascii: "\""): octets += "&quot;".utf8
                case UInt8(ascii: "'"): octets += "&#39;".utf8
                default: octets.append(octet)
                }
            }
            return String(decoding: octets, as: UTF8.self)
        }
    }
}
