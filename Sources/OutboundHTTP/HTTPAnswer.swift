package import NIOHTTP1

/// The outcome of an exchange.
package struct HTTPAnswer: Sendable {
    /// `nil` if the exchange failed before the head arrived.
    package let head: HTTPResponseHead?
    /// Empty if the body was not read.
    package let body: Result<[UInt8], HTTPExchangeError>

    init(_ head: HTTPResponseHead?, _ body: Result<[UInt8], any Error>) {
        self.head = head
        self.body = body.mapError(HTTPExchangeError.init)
    }

    /// A failure without a response.
    init(_ error: any Error) { self.init(nil, .failure(error)) }
}
