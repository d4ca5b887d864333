internal import HTTP
internal import Synchronization

/// An event of a fetch, for inspection.
enum FetchEvent: Sendable, Equatable {
    /// A host was resolved; a fetch may connect to some of its addresses.
    case resolved(host: String, allowed: [String], refused: [String])
    /// A proxy resolves the host's name and connects to it.
    case proxied(host: String)
    /// A TLS connection was established with a trusted certificate.
    case secured(expiresAtUnixSeconds: Int64)
    case answered(FetchedHeader)
}

/// Time-related information in the header of a response.
struct FetchedHeader: Sendable, Equatable {
    let cacheControl: String?
    /// The minimum number of seconds by which the server's clock is ahead of ours; 0 if the clocks may agree, `nil` if
    /// the response has no time.
    let clockOffsetSeconds: Int64?

    /// - Parameter period: from the request to the response, in Unix seconds.
    init(_ fields: CachingFields, askedFor period: ClosedRange<Int64>) {
        cacheControl = fields.cacheControl
        // A response from an intermediate cache has the date on which the server generated it.
        let age = fields.age.flatMap(Freshness.deltaSeconds) ?? 0
        clockOffsetSeconds = fields.date.flatMap(HTTPDate.seconds).map { date in
            let time = date + age
            return time < period.lowerBound ? time - period.lowerBound : max(time - period.upperBound, 0)
        }
    }
}

/// Records the events of fetches.
final class FetchTrace: Sendable {
    private let kept = Mutex<[FetchEvent]>([])

    var events: [FetchEvent] { kept.withLock { $0 } }

    func record(_ event: FetchEvent) { kept.withLock { $0.append(event) } }
}

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
