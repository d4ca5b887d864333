internal import Host
internal import Synchronization

/// What a fetch meets on its way, for those who look into it.
enum FetchEvent: Sendable, Equatable {
    /// A host has addresses, of which a fetch may connect to some.
    case resolved(host: String, allowed: [String], refused: [String])
    /// A proxy resolves the host's name and connects to it.
    case proxied(host: String)
    /// A TLS connection was made with a certificate that is believed.
    case secured(expiresAtUnixSeconds: Int64)
    case answered(FetchedHeader)
}

/// What the header of an answer says of time.
struct FetchedHeader: Sendable, Equatable {
    let cacheControl: String?
    /// Seconds by which the server's clock is ahead of ours at least; 0 where both may show the same, `nil` where it tells no
    /// time.
    let clockOffsetSeconds: Int64?

    /// - Parameter period: from when the answer was asked for until it came, in Unix seconds.
    init(_ fields: CachingFields, askedFor period: ClosedRange<Int64>) {
        cacheControl = fields.cacheControl
        // What a cache on the way has kept is dated when the server made it.
        let age = fields.age.flatMap(Freshness.deltaSeconds) ?? 0
        clockOffsetSeconds = fields.date.flatMap(HTTPDate.seconds).map { date in
            let time = date + age
            return time < period.lowerBound ? time - period.lowerBound : max(time - period.upperBound, 0)
        }
    }
}

/// Keeps the events of fetches.
final class FetchTrace: Sendable {
    private let kept = Mutex<[FetchEvent]>([])

    var events: [FetchEvent] { kept.withLock { $0 } }

    func record(_ event: FetchEvent) { kept.withLock { $0.append(event) } }
}
