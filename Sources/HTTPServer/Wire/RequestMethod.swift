/// A method of IANA's HTTP Method Registry (RFC 9110, section 16.1), except `PRI`, which starts HTTP/2.
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

    // Methods of WebDAV and other extensions. No route answers them, but they are valid HTTP.
    case acl = "ACL"
    case baselineControl = "BASELINE-CONTROL"
    case bind = "BIND"
    case checkin = "CHECKIN"
    case checkout = "CHECKOUT"
    case copy = "COPY"
    case label = "LABEL"
    case link = "LINK"
    case lock = "LOCK"
    case merge = "MERGE"
    case mkactivity = "MKACTIVITY"
    case mkcalendar = "MKCALENDAR"
    case mkcol = "MKCOL"
    case mkredirectref = "MKREDIRECTREF"
    case mkworkspace = "MKWORKSPACE"
    case move = "MOVE"
    case orderpatch = "ORDERPATCH"
    case propfind = "PROPFIND"
    case proppatch = "PROPPATCH"
    case query = "QUERY"
    case rebind = "REBIND"
    case report = "REPORT"
    case search = "SEARCH"
    case unbind = "UNBIND"
    case uncheckout = "UNCHECKOUT"
    case unlink = "UNLINK"
    case unlock = "UNLOCK"
    case update = "UPDATE"
    case updateredirectref = "UPDATEREDIRECTREF"
    case versionControl = "VERSION-CONTROL"

    /// The method of this name, in capitals.
    init?(_ name: Span<UInt8>) {
        // The two most common methods need no string.
        if name.equals("POST") {
            self = .post
        } else if name.equals("GET") {
            self = .get
        } else {
            guard name.count <= Self.longestName else { return nil }
            var text = ""
            for index in name.indices { text.unicodeScalars.append(Unicode.Scalar(name[index])) }
            self.init(rawValue: text)
        }
    }

    private static let longestName = 17
}
