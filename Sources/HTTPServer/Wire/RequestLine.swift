private import Bytes

/// The first line of a request (RFC 9112, section 3).
struct RequestLine: Sendable {
    let method: RequestMethod
    /// The target's path, without a query, also for an absolute-form target (section 3.2.2).
    let path: HeadRange
    /// Whether the version is HTTP/1.0 rather than HTTP/1.1.
    let isHTTP10: Bool

    /// Parses the line at `start`, and moves `start` after its end.
    ///
    /// - Returns: `nil` if the line is not complete.
    /// - Throws: ``HTTPFault/malformed`` unless it is a request of HTTP/1.0 or HTTP/1.1.
    init?(in bytes: Span<UInt8>, at start: inout Int) throws(HTTPFault) {
        var index = start
        while index < bytes.count, bytes[index].isTokenCharacter { index += 1 }
        guard index < bytes.count else { return nil }
        guard bytes[index] == UInt8(ascii: " "), let method = RequestMethod(bytes.extracting(start..<index)) else {
            throw .malformed
        }
        let targetStart = index + 1
        index = targetStart
        // The route validates the rest.
        while index < bytes.count, bytes[index].isVisibleASCII { index += 1 }
        guard index < bytes.count else { return nil }
        guard bytes[index] == UInt8(ascii: " ") else { throw .malformed }
        let target = targetStart..<index
        guard let path = Self.path(ofTarget: bytes.extracting(target), method) else { throw .malformed }

        let version = bytes.extracting((index + 1)..<bytes.count)
        guard version.count >= 10 else {
            // Another protocol is rejected before its line is complete.
            guard version.isPrefix(of: "HTTP/1.1\r\n") || version.isPrefix(of: "HTTP/1.0\r\n") else { throw .malformed }
            return nil
        }
        if version.extracting(..<10).equals("HTTP/1.1\r\n") {
            isHTTP10 = false
        } else if version.extracting(..<10).equals("HTTP/1.0\r\n") {
            isHTTP10 = true
        } else {
            throw .malformed
        }
        self.method = method
        self.path = HeadRange((targetStart + path.lowerBound)..<(targetStart + path.upperBound))
        start = index + 11
    }

    /// The location of the path in a target; `nil` if the target has none of HTTP's forms (RFC 9112, section 3.2).
    private static func path(ofTarget target: Span<UInt8>, _ method: RequestMethod) -> Range<Int>? {
        guard !target.isEmpty else { return nil }
        if method == .connect { return target.isHost ? target.indices : nil }
        if target[0] == UInt8(ascii: "/") { return 0..<(target.firstIndex(of: UInt8(ascii: "?")) ?? target.count) }
        if method == .options, target.equals("*") { return target.indices }
        guard target[0].isLetter else { return nil }
        var index = 0
        while index < target.count, target[index].isSchemeCharacter { index += 1 }
        let authority = index + 3
        guard authority <= target.count, target.extracting(index..<authority).equals("://") else { return nil }
        let end = target.firstIndex(of: UInt8(ascii: "?"), from: authority) ?? target.count
        let path = min(target.firstIndex(of: UInt8(ascii: "/"), from: authority) ?? end, end)
        // An http URL must have a host (RFC 9110, section 4.2.1).
        guard path > authority, target.extracting(authority..<path).isHost else { return nil }
        return path..<end
    }
}

extension UInt8 {
    /// The characters of a URL's scheme (RFC 3986, section 3.1).
    fileprivate var isSchemeCharacter: Bool {
        isLetterOrDigit || self == UInt8(ascii: "+") || self == UInt8(ascii: "-") || self == UInt8(ascii: ".")
    }
}

extension Span<UInt8> {
    fileprivate func isPrefix(of text: StaticString) -> Bool {
        guard count <= text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { text in
            for index in indices where unsafe self[index] != text[index] { return false }
            return true
        }
    }
}
