/// A method of IANA's HTTP Method Registry (RFC 9110, section 16.1).
package enum RequestMethod: String, Sendable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"
    case connect = "CONNECT"
    case options = "OPTIONS"
    case trace = "TRACE"
    case patch = "PATCH"
    /// Any other registered method, such as those of WebDAV: no route has it. Named as in OpenTelemetry.
    case other = "_OTHER"

    /// The method with this name, which is case-sensitive; `nil` if it is not registered.
    init?(_ name: Span<UInt8>) {
        // Nearly every request has one of these two; they need no string.
        if name.equals("POST") {
            self = .post
        } else if name.equals("GET") {
            self = .get
        } else {
            guard name.count <= Self.longestName else { return nil }
            var text = ""
            for index in name.indices { text.unicodeScalars.append(Unicode.Scalar(name[index])) }
            let method = Self.otherNames.contains(text) ? .other : Self(rawValue: text)
            guard let method, text != Self.other.rawValue else { return nil }
            self = method
        }
    }

    private static let longestName = 17
    /// `PRI` is left out: it begins HTTP/2.
    private static let otherNames = Set(
        """
        ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT COPY LABEL LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL MKREDIRECTREF \
        MKWORKSPACE MOVE ORDERPATCH PROPFIND PROPPATCH QUERY REBIND REPORT SEARCH UNBIND UNCHECKOUT UNLINK UNLOCK UPDATE \
        UPDATEREDIRECTREF VERSION-CONTROL
        """.split(separator: " ").map(String.init))
}
