package import HTTP
package import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// Fetches small documents over HTTP: discovery documents and JWK Sets.
///
/// ``ProviderDialer`` decides where a connection leads. Documents that are fetched in a row from one server share it.
package struct DocumentFetcher: Sendable {
    var dialer: ProviderDialer
    private let onExchange: (@Sendable (FetchExchange) -> Void)?

    /// A document with its caching information.
    package struct Document: Sendable {
        package let body: [UInt8]
        /// The final URL, after redirects: a validator is valid only there (RFC 9110, section 8.8.3).
        let address: String
        let caching: CachingFields
        /// Whether the server confirmed a known document instead of sending it (304 Not Modified).
        package let isNotModified: Bool
        /// See ``FetchedHeader/clockOffsetSeconds``.
        let clockOffsetSeconds: Int64?

        /// How long it may be cached; `nil` if its server does not say.
        package var lifetime: Interval? { caching.lifetime }
    }

    /// - Parameter onExchange: called with each request and its outcome, in the task that fetches; `nil` for no report.
    package init(
        rules: NetworkRules, proxy: ProxyEnvironment?, loop: any EventLoop,
        unixSeconds: @escaping @Sendable () -> Int64, onExchange: (@Sendable (FetchExchange) -> Void)? = nil
    ) {
        dialer = ProviderDialer(rules: rules, proxy: proxy, loop: loop, unixSeconds: unixSeconds)
        self.onExchange = onExchange
    }

    var rules: NetworkRules { dialer.rules }
    var loop: any EventLoop { dialer.loop }
    var unixSeconds: @Sendable () -> Int64 { dialer.unixSeconds }

    /// Fetches the document at a URL, following at most ``NetworkRules/maximumRedirects``.
    ///
    /// - Parameters:
    ///   - known: the last document from this URL. In mode `revalidate`, the server may confirm it.
    ///   - kept: keeps the connection for the next document; `nil`: it is closed.
    /// - Throws: ``FetchFailure``.
    package func fetch(
        _ address: String, _ mode: FetchMode = .reload, known: Document? = nil, keeping kept: KeptConnection? = nil
    ) async throws(FetchFailure) -> Document {
        let rules = self.rules
        let first = try rules.url(address)
        let known = mode == .revalidate ? known : nil
        let timeout = FetchFailure(.http, "no complete response within \(rules.totalTimeout.secondsRoundedUp) s")
        return try await loop.withTimeout(rules.totalTimeout, orThrow: timeout) { () async throws(FetchFailure) in
            var target = first
            for redirects in 0...rules.maximumRedirects {
                switch try await self.fetchOnce(target, redirects, mode, known, kept) {
                case .document(let document): return document
                case .redirect(let location):
                    target = try target.redirected(to: location, allowingHTTP: rules.allowHTTP)
                }
            }
            throw FetchFailure(.http, "more than \(rules.maximumRedirects) redirects")
        }
    }

    // MARK: One address

    private enum Answer {
        case document(Document)
        case redirect(to: String)
    }

    /// Fetches from one URL, and reports the exchange.
    private func fetchOnce(
        _ target: FetchURL, _ redirects: Int, _ mode: FetchMode, _ known: Document?, _ kept: KeptConnection?
    ) async throws(FetchFailure) -> Answer {
        var status: UInt?
        guard let onExchange else { return try await fetchOnce(target, mode, known, kept, &status) }
        let (startedAt, begun) = (SystemClocks.unixNanoseconds(), loop.now)
        func report(_ failure: FetchFailure?) {
            onExchange(
                FetchExchange(
                    address: target, redirects: redirects, startedAtUnixNanoseconds: startedAt,
                    nanoseconds: UInt64(max((loop.now - begun).nanoseconds, 0)), status: status, failure: failure))
        }
        do throws(FetchFailure) {
            let answer = try await fetchOnce(target, mode, known, kept, &status)
            report(nil)
            return answer
        } catch {
            report(error)
            throw error
        }
    }

    /// - Parameter status: set as soon as there is a response.
    private func fetchOnce(
        _ target: FetchURL, _ mode: FetchMode, _ known: Document?, _ kept: KeptConnection?, _ status: inout UInt?
    ) async throws(FetchFailure) -> Answer {
        var lastFailure = FetchFailure.noAddress
        let destinations =
            if let known = kept?.destination(of: target.origin) {
                [known]
            } else {
                try await dialer.destinations(of: target)
            }
        for destination in destinations {
            do throws(FetchFailure) {
                return try await exchange(target, mode, known, destination, kept, &status)
            } catch {
                // Another address of the host may work.
                guard error.phase == .connect else { throw await dialer.diagnosis(of: error, target, destination) }
                lastFailure = error
            }
        }
        throw lastFailure
    }

    // MARK: One exchange

    private func exchange(
        _ target: FetchURL, _ mode: FetchMode, _ known: Document?, _ destination: HTTPExchange.Destination,
        _ kept: KeptConnection?, _ status: inout UInt?
    ) async throws(FetchFailure) -> Answer {
        let conditions = known?.address == target.text ? known?.caching.conditions : nil
        var exchange = HTTPExchange(
            to: destination, tls: try await dialer.tls(for: target), head: request(target, mode, conditions),
            limits: limits)
        exchange.decompresses = true
        let answeredAt = Mutex<Int64?>(nil)
        exchange.readsBody = { [unixSeconds] head in
            answeredAt.withLock { $0 = unixSeconds() }
            // A confirmation has no body, so reading it costs nothing, and the connection stays open.
            return head.status == .notModified || (head.status == .ok && Self.isReadable(head.headers))
        }
        let askedAt = unixSeconds()
        let answer = await exchange.perform(on: loop, keeping: kept)
        guard let head = answer.head else { throw FetchFailure(describing: answer, isSecure: target.isSecure) }
        status = head.status.code
        let caching = CachingFields(head.headers)
        let header = FetchedHeader(caching, askedFor: askedAt...max(askedAt, answeredAt.withLock { $0 } ?? askedAt))
        dialer.trace?.record(.answered(header))
        switch head.status.code {
        case 200: break
        case 301, 302, 303, 307, 308:
            guard let location = head.headers.first(name: "Location") else {
                throw FetchFailure(.http, "the server answered with status \(head.status.code) and no location")
            }
            return .redirect(to: location)
        default:
            guard head.status == .notModified, let known, conditions != nil else {
                throw FetchFailure(describing: head, isSecure: target.isSecure)
            }
            return .document(
                Document(
                    body: known.body, address: known.address, caching: known.caching.updated(with: caching),
                    isNotModified: true, clockOffsetSeconds: header.clockOffsetSeconds))
        }
        guard Self.isReadable(head.headers) else {
            throw FetchFailure(.http, "the body has a Content-Encoding that was not requested")
        }
        guard case .success(let body) = answer.body else {
            throw FetchFailure(describing: answer, isSecure: target.isSecure)
        }
        return .document(
            Document(
                body: body, address: target.text, caching: caching, isNotModified: false,
                clockOffsetSeconds: header.clockOffsetSeconds))
    }

    private func request(_ target: FetchURL, _ mode: FetchMode, _ conditions: HTTPHeaders?) -> HTTPRequestHead {
        var headers: HTTPHeaders = [
            "Host": target.authority, "Accept": "application/json", "User-Agent": "assay",
        ]
        if mode == .reload { headers.add(name: "Cache-Control", value: "no-cache") }
        if let conditions { headers.add(contentsOf: conditions) }
        return HTTPRequestHead(version: .http1_1, method: .GET, uri: target.requestTarget, headers: headers)
    }

    private var limits: HTTPExchange.Limits {
        HTTPExchange.Limits(
            connectTimeout: rules.connectTimeout, idleTimeout: rules.idleTimeout, maximumBody: rules.maximumBody,
            maximumOverhead: rules.maximumOverhead,
            minimumRate: (rules.minimumRate, after: rules.minimumRateAfter))
    }

    /// Whether a body has no content coding, or exactly one that was requested.
    private static func isReadable(_ headers: HTTPHeaders) -> Bool {
        let encodings = headers[canonicalForm: "Content-Encoding"].map { $0.lowercased() }
        return encodings.isEmpty || (encodings.count == 1 && ["identity", "gzip", "deflate"].contains(encodings[0]))
    }
}

/// The header fields that control caching and conditional requests (RFC 9111; RFC 9110, section 8.8).
struct CachingFields: Sendable {
    private(set) var cacheControl: String?
    let age: String?
    private var expires: String?
    private(set) var date: String?
    private var entityTag: String?
    private var lastModified: String?

    /// Longer validators are ignored, because sending them back would cost too much.
    private static let maximumValidator = 1024

    init(_ headers: HTTPHeaders) {
        let cacheControl = headers["Cache-Control"]
        self.cacheControl = cacheControl.isEmpty ? nil : cacheControl.joined(separator: ",")
        age = headers.first(name: "Age")
        expires = headers.first(name: "Expires")
        date = headers.first(name: "Date")
        entityTag = Self.validator("ETag", headers)
        // Only a valid date can be sent back, in `If-Modified-Since`.
        lastModified = Self.validator("Last-Modified", headers).flatMap { HTTPDate.seconds(from: $0) == nil ? nil : $0 }
    }

    private static func validator(_ name: String, _ headers: HTTPHeaders) -> String? {
        headers.first(name: name).flatMap { $0.isEmpty || $0.utf8.count > maximumValidator ? nil : $0 }
    }

    /// The fields after a 304 response has updated them (RFC 9111, section 3.2).
    func updated(with new: CachingFields) -> CachingFields {
        // `Age` belongs to that response, not to the document.
        var fields = new
        fields.cacheControl = new.cacheControl ?? cacheControl
        fields.expires = new.expires ?? expires
        fields.date = new.date ?? date
        fields.entityTag = new.entityTag ?? entityTag
        fields.lastModified = new.lastModified ?? lastModified
        return fields
    }

    /// How long the response may be cached; `nil` if it does not say.
    var lifetime: Interval? {
        Freshness.lifetime(cacheControl: cacheControl, age: age, expires: expires, date: date)
    }

    /// The fields that make a request conditional; `nil` if there is no validator.
    var conditions: HTTPHeaders? {
        var headers = HTTPHeaders()
        if let entityTag { headers.add(name: "If-None-Match", value: entityTag) }
        if let lastModified { headers.add(name: "If-Modified-Since", value: lastModified) }
        return headers.isEmpty ? nil : headers
    }
}

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
