private import Bytes

/// Reads `tracestate`, which the systems along a trace extend (W3C Trace Context, 3.3).
package enum TraceState {
    private static let maximumMembers = 32
    /// In bytes: the least that the specification requires systems to propagate.
    private static let maximumLength = 512

    /// The members of all `tracestate` fields, as one list.
    ///
    /// - Returns: `nil` if there are none, if any is malformed or repeated, or if they are too many or too long. The
    ///   trace then continues without them.
    package static func text(_ fields: [String]) -> String? {
        var keys: Set<Substring> = []
        var members: [Substring] = []
        for field in fields {
            for part in field.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
                let member = Substring(part).trimming { $0 == " " || $0 == "\t" }
                // Empty members are allowed and ignored.
                guard !member.isEmpty else { continue }
                guard let key = key(of: member), keys.insert(key).inserted else { return nil }
                members.append(member)
            }
        }
        guard (1...maximumMembers).contains(members.count) else { return nil }
        let text = members.joined(separator: ",")
        return text.utf8.count <= maximumLength ? text : nil
    }

    /// The key of a member `key=value`; `nil` if it is malformed.
    private static func key(of member: Substring) -> Substring? {
        guard let equals = member.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let key = member[..<equals]
        let value = member.utf8[equals...].dropFirst()
        guard let first = key.utf8.first, isLetterOrDigit(first), key.utf8.count <= 256,
            key.utf8.allSatisfy(isKeyCharacter),
            (1...256).contains(value.count), value.allSatisfy(isValueCharacter)
        else { return nil }
        return key
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte.isDigit
    }

    private static func isKeyCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "*"), UInt8(ascii: "/"), UInt8(ascii: "@"): true
        default: isLetterOrDigit(byte)
        }
    }

    /// Spaces at the end of a value have already been trimmed.
    private static func isValueCharacter(_ byte: UInt8) -> Bool {
        byte.isPrintableASCII && byte != UInt8(ascii: ",") && byte != UInt8(ascii: "=")
    }
}
