/// A request for a document, and its outcome.
package struct FetchExchange: Sendable {
    package let address: FetchURL
    /// The number of redirects that led to it.
    package let redirects: Int
    package let startedAtUnixNanoseconds: UInt64
    /// Until the end of the response, including name resolution and connecting.
    package let nanoseconds: UInt64
    /// The response's status; `nil` if there was no response.
    package let status: UInt?
    /// `nil` if the response is a document or a redirect.
    package let failure: FetchFailure?
}
