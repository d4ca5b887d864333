package import NIOHTTP1

/// What came of an exchange.
package struct HTTPAnswer: Sendable {
    /// `nil` where the exchange failed before the head had come.
    package let head: HTTPResponseHead?
    /// Empty where the body was not read.
    package let body: Result<[UInt8], HTTPExchangeError>

    init(_ head: HTTPResponseHead?, _ body: Result<[UInt8], any Error>) {
        self.head = head
        self.body = body.mapError(HTTPExchangeError.init)
    }

    /// A failure without an answer.
    init(_ error: any Error) { self.init(nil, .failure(error)) }
}
