private import CAssets
package import NIOCore
package import NIOHTTP1

/// How a request is routed: decided from its head, before the body is read.
package struct HeadRouting {
    /// The largest body, in bytes, that the request may have.
    package var bodyLimit: Int
    /// The route's number, which the responder assigned.
    package var route: Int
    /// Whether the request is answered before its body has arrived. The responder then checks for repeated fields
    /// itself. If a body was announced, the connection is closed after the response.
    package var isAnsweredOnHead = false

    package init(bodyLimit: Int, route: Int = 0) {
        self.bodyLimit = bodyLimit
        self.route = route
    }
}

/// A complete request, with a body within the responder's limit.
package struct HTTPRequest {
    package let head: RequestHead
    /// Empty if there is none.
    package let body: [UInt8]
    /// The routing decision of its head.
    package let routing: HeadRouting
    /// Whether the request had started before its responder was stopped.
    package let isUnderWay: Bool
    /// The name in the client's certificate, if clients must present one.
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

/// A request that could not be read.
package struct FailedRequest {
    package let fault: HTTPFault
    /// `nil` if the head is incomplete.
    package let head: RequestHead?
    /// The routing decision of its head; `nil` if the head is incomplete.
    package let routing: HeadRouting?
    /// When its first bytes were read, on the monotonic clock; `nil` if they were read just now, or if there are none.
    package let startedAtMicroseconds: Int64?
    /// The name in the client's certificate, if clients must present one.
    package let clientName: String?
}

/// A response that can be written.
package struct HTTPResponse: Sendable {
    package var status: HTTPResponseStatus
    /// `nil` if the response has no content.
    package var contentType: StaticString?
    package var body: [UInt8]
    /// Constant content that follows ``body``. All responses share its memory.
    package var constantBody: ByteBuffer?
    package var requestID: String
    package var caching = Caching.forbidden
    /// Header fields in addition to those of every response.
    package var headers: [(name: String, value: String)]
    /// Whether the connection is closed after the response.
    package var closesConnection: Bool

    package init(
        status: HTTPResponseStatus, contentType: StaticString?, body: [UInt8], requestID: String,
        headers: [(name: String, value: String)] = [], closesConnection: Bool = false
    ) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.requestID = requestID
        self.headers = headers
        self.closesConnection = closesConnection
    }
}

/// Whether others may keep a response.
package enum Caching: Sendable {
    /// It is about one request and its secrets, as most are.
    case forbidden
    case forAnHour

    /// `Cache-Control`, and the beginning of the field after it: one text takes fewer instructions than three.
    fileprivate var fieldAndDate: StaticString {
        switch self {
        case .forbidden: "\r\nCache-Control: no-store\r\nDate: "
        case .forAnHour: "\r\nCache-Control: max-age=3600\r\nDate: "
        }
    }
}

/// A response that is available now, or later.
package enum HTTPReply {
    case now(HTTPResponse)
    /// The function waits for what the response needs. It is called once, or never if too many requests are in progress,
    /// and runs on the connection's event loop to its end, even if the client disconnects: what it has begun to use up
    /// is then used up. Until its end, this cost counts towards the listener's limits, in addition to the request's
    /// size. If it throws, the connection is closed.
    case later(WaitingCost = WaitingCost(), () async throws -> HTTPResponse)

    package init(_ reply: Reply<HTTPResponse, Never>) {
        if let response = reply.immediate {
            self = .now(response)
        } else {
            self = .later { await reply.value() }
        }
    }
}

/// The share of a listener's limits that a waiting response uses.
package struct WaitingCost: Sendable, Equatable {
    /// The number of waiting items: one, except for a batch.
    package var items = 1
    /// Memory in bytes.
    package var bytes = 0

    package init(items: Int = 1, bytes: Int = 0) {
        self.items = items
        self.bytes = bytes
    }
}

/// Answers the requests of all connections on one event loop. Confined to that loop.
package protocol HTTPResponder: AnyObject {
    /// Whether requests that start from now on are rejected, because the service is stopping.
    var isStopping: Bool { get }
    /// Routes a request by its head. Called once for each request.
    func route(_ head: RequestHead) -> HeadRouting
    func respond(to request: HTTPRequest) -> HTTPReply
    /// The response to a request that could not be read; the connection is closed after it.
    func respond(to request: FailedRequest) -> HTTPResponse
}

extension HTTPResponse {
    /// Writes the response as it is sent, without ``constantBody``, into one buffer.
    ///
    /// - Parameters:
    ///   - date: the value of `Date`.
    ///   - closes: whether the connection is closed after it.
    ///   - omitsBody: for the response to `HEAD`, which has a `Content-Length` but no content.
    func write(into buffer: inout ByteBuffer, date: String, closes: Bool, omitsBody: Bool) {
        buffer.writeStaticString("HTTP/1.1 ")
        buffer.writeString(statusLine)
        if let contentType {
            buffer.writeStaticString("\r\nContent-Type: ")
            buffer.writeStaticString(contentType)
        }
        // RFC 9110, section 8.6: never with 204.
        if status != .noContent {
            buffer.writeStaticString("\r\nContent-Length: ")
            buffer.writeDecimal(body.count + (constantBody?.readableBytes ?? 0))
        }
        buffer.writeStaticString("\r\nX-Request-Id: ")
        buffer.writeString(requestID)
        buffer.writeStaticString(caching.fieldAndDate)
        buffer.writeString(date)
        for header in headers {
            buffer.writeStaticString("\r\n")
            buffer.writeString(header.name)
            buffer.writeStaticString(": ")
            buffer.writeString(header.value)
        }
        buffer.writeStaticString(closes ? "\r\nConnection: close\r\n\r\n" : "\r\n\r\n")
        if !omitsBody { buffer.writeBytes(body) }
    }

    private var statusLine: String {
        // The most common status needs no string interpolation.
        status == .ok ? "200 OK" : "\(status.code) \(status.reasonPhrase)"
    }
}

extension ByteBuffer {
    fileprivate mutating func writeDecimal(_ number: Int) {
        var divisor = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            writeInteger(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }
}

/// A file that is part of the program.
package enum Asset {
    case openAPI
    /// The web app that `assay dev --sample` prints.
    case sample
    case consolePage, consoleStyle, consoleScript
    case devStyle, devSubmitScript

    package var bytes: [UInt8] {
        let asset =
            switch self {
            case .openAPI: unsafe assay_asset_openapi_yaml()
            case .sample: unsafe assay_asset_sample_py()
            case .consolePage: unsafe assay_asset_console_html()
            case .consoleStyle: unsafe assay_asset_console_css()
            case .consoleScript: unsafe assay_asset_console_js()
            case .devStyle: unsafe assay_asset_dev_css()
            case .devSubmitScript: unsafe assay_asset_submit_js()
            }
        return unsafe [UInt8](UnsafeBufferPointer(start: asset.bytes, count: asset.count))
    }
}
