internal import NIOHTTP1

extension HTTPRequestHead {
    /// Whether every reader would see the same request where this one does.
    ///
    /// Exactly one `Host` that could be one, but for HTTP/1.0, which may do without (RFC 9112, 3.2). The body's length given
    /// in one way: as `Content-Length`, or by the one transfer coding `chunked`, which HTTP/1.0 does not know (6.1, 6.3).
    var isUnambiguous: Bool {
        guard version.major == 1 else { return false }
        let hosts = headers["Host"]
        guard hosts.count == 1 || (version.minor == 0 && hosts.isEmpty), hosts.allSatisfy(Self.isHost) else {
            return false
        }
        let codings = headers["Transfer-Encoding"]
        guard !codings.isEmpty else { return true }
        return version.minor > 0 && codings.count == 1 && codings[0].lowercased() == "chunked"
            && !headers.contains(name: "Content-Length")
    }

    /// The body's length as the head announces it, at most `Int.max`; the parser has seen that it is a number.
    var contentLength: Int? {
        headers.first(name: "Content-Length").map {
            Int($0.drop { $0 == " " }.prefix { $0 != " " && $0 != "\t" }) ?? .max
        }
    }

    /// Whether a text has only the characters of a host and a port (RFC 3986, 3.2.2); it may be empty.
    private static func isHost(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-._~%!$&'()*+;=:[]".utf8.contains(byte)
            }
        }
    }
}
