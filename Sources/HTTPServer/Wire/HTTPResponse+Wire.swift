internal import NIOCore
private import NIOHTTP1

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
        buffer.writeStaticString("\r\nContent-Length: ")
        buffer.writeDecimal(body.count + (constantBody?.readableBytes ?? 0))
        buffer.writeStaticString("\r\nX-Request-Id: ")
        buffer.writeString(requestID)
        buffer.writeStaticString("\r\nCache-Control: no-store\r\nDate: ")
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
