package import NIOCore
package import NIOHTTP1

/// How a request is routed: decided from its head, before the body is read.
package struct HeadRouting {
    /// The greatest body, in bytes, that the request may have.
    package var bodyLimit: Int
    /// Which route it is for, by a number of the responder's.
    package var route: Int
    /// Anything else that the responder keeps for answering the request.
    package var context: AnyObject?

    package init(bodyLimit: Int, route: Int = 0) {
        self.bodyLimit = bodyLimit
        self.route = route
    }
}

/// A whole request, its body within the limit that the responder set.
package struct HTTPRequest {
    package let head: RequestHead
    /// Empty where there is none.
    package let body: [UInt8]
    /// How its head was routed.
    package let routing: HeadRouting
    /// Whether it had begun before its responder was told to stop.
    package let isUnderWay: Bool
    /// The name in the client's certificate, where it had to show one.
    package let clientName: String?

    package init(
        head: RequestHead, body: [UInt8], routing: HeadRouting, isUnderWay: Bool = true, clientName: String? = nil
    ) {
        self.head = head
        self.body = body
        self.routing = routing
        self.isUnderWay = isUnderWay
        self.clientName = clientName
    }
}

/// A request that could not be read to its end.
package struct UnreadRequest {
    package let fault: HTTPFault
    /// `nil` where not even that is there.
    package let head: RequestHead?
    /// How its head was routed; `nil` where there is no head.
    package let routing: HeadRouting?
    /// When its first bytes were read, on the monotonic clock; `nil` where they were read just now, or there are none.
    package let startedAtMicroseconds: Int64?
    /// The name in the client's certificate, where it had to show one.
    package let clientName: String?
}

/// A response, ready to be written.
package struct HTTPResponse: Sendable {
    package var status: HTTPResponseStatus
    package var contentType: StaticString
    package var body: [UInt8]
    /// What follows ``body``, where that is the same for every request: all answers share its memory.
    package var constantBody: ByteBuffer?
    package var requestID: String
    /// Header fields beside those every response has.
    package var headers: [(name: StaticString, value: String)]
    /// Whether the connection takes no further request.
    package var closesConnection: Bool

    package init(
        status: HTTPResponseStatus, contentType: StaticString, body: [UInt8], requestID: String,
        headers: [(name: StaticString, value: String)] = [], closesConnection: Bool = false
    ) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.requestID = requestID
        self.headers = headers
        self.closesConnection = closesConnection
    }
}

/// An answer that is there, or on its way.
package enum HTTPReply {
    case now(HTTPResponse)
    /// Begins to make the answer; to be called once, unless there is too much under way already. Completes on the
    /// connection's own event loop. Until then it costs so much, beside the request itself.
    case later(WaitingCost = WaitingCost(), () -> EventLoopFuture<HTTPResponse>)
}

/// What an answer that waits takes of a listener's limits.
package struct WaitingCost: Sendable, Equatable {
    /// Things that are waited for: one, but for a batch.
    package var items = 1
    /// Bytes of memory.
    package var bytes = 0

    package init(items: Int = 1, bytes: Int = 0) {
        self.items = items
        self.bytes = bytes
    }
}

/// Answers the requests of all connections on one event loop. Confined to that loop.
package protocol HTTPResponder: AnyObject {
    /// Whether requests that begin from now on come too late.
    var isStopping: Bool { get }
    /// Looks at a request's head. Called once for each request.
    func route(_ head: RequestHead) -> HeadRouting
    func respond(to request: HTTPRequest) -> HTTPReply
    /// The response to a request that could not be read; the connection is closed after it.
    func respond(to request: UnreadRequest) -> HTTPResponse
}
