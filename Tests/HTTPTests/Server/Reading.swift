@testable import HTTP

/// What a connection reads from some bytes: requests, and the error that ends them.
struct Reading: Equatable, CustomStringConvertible {
    private(set) var requests: [Request] = []
    private(set) var fault: HTTPFault?

    struct Request: Equatable, CustomStringConvertible {
        let method: String
        let path: String
        let body: [UInt8]
        /// The values that the connection uses, and an unknown field.
        let details: String

        var description: String { "\(method) \(path) \(String(decoding: body, as: UTF8.self).debugDescription)" }
    }

    /// - Parameter pieces: the bytes in the pieces in which they arrive.
    init(_ pieces: [ArraySlice<UInt8>], maximumHeader: Int = 2000, bodyLimit: Int = 1000) {
        var reader = RequestReader(maximumHeader: maximumHeader)
        var input: [UInt8] = []
        var head: RequestHead?
        for piece in pieces {
            input += piece
            while !input.isEmpty || head != nil {
                do throws(HTTPFault) {
                    let (step, taken) = try reader.next(input.span, bodyLimit: bodyLimit)
                    input.removeFirst(taken)
                    guard let step else { break }
                    switch step {
                    case .head(let next): head = next
                    case .end(let body):
                        guard let read = head else { return }
                        head = nil
                        requests.append(Request(read, body))
                        // Like a connection, ignores everything after the last request.
                        if read.isLast { return }
                    }
                } catch {
                    fault = error
                    return
                }
            }
        }
    }

    init(_ bytes: [UInt8], maximumHeader: Int = 2000, bodyLimit: Int = 1000) {
        self.init([bytes[...]], maximumHeader: maximumHeader, bodyLimit: bodyLimit)
    }

    var description: String { requests.map { "\($0), " }.joined() + (fault.map { "\($0)" } ?? "no fault") }
}

extension Reading.Request {
    fileprivate init(_ head: RequestHead, _ body: [UInt8]) {
        method = head.method.rawValue
        path = head.path.string
        self.body = body
        let fields = head.fields.all("Host") + head.fields.all("X")
        details = "\(head.isHTTP10) \(head.framing) \(fields.map(\.string))"
    }
}

extension RequestHead {
    /// Whether the connection is closed after this request, whatever the response.
    fileprivate var isLast: Bool { framing.closes || isHTTP10 || method == .connect }
}
