/// A request that was made to fetch a document, and what became of it.
package struct FetchExchange: Sendable {
    package let address: FetchURL
    /// How many redirects led there.
    package let redirects: Int
    package let startedAtUnixNanoseconds: UInt64
    /// From then to the end of the answer, resolving the name and connecting included.
    package let nanoseconds: UInt64
    /// The answer's status; `nil` where there was none.
    package let status: UInt?
    /// `nil` where there is a document, or a redirect to one.
    package let failure: FetchFailure?
}
