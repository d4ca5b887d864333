@testable import HTTP
import IDToken
import JOSE
import Keys
import NIOCore
import NIOHTTP1
import NIOPosix
import SignIns
@testable import Service
import Testing
import TestSupport
import Verification

/// The service on one event loop, without a listener: a test sends requests and receives responses. The test provides
/// the keys of its one provider.
final class ServiceFixture: Sendable {
    let fetcher = TestFetcher()
    private let loop: any EventLoop
    private let service: NIOLoopBound<ServiceLoop>
    private let roster: ProviderRegistry
    private let keys: KeyStore
    private let telemetry: KeyTelemetry
    private let sink: LogSink

    static let issuer = "https://issuer.example"

    static func run(
        _ settings: (inout ServiceSettings) -> Void = { _ in },
        policy change: (inout ProviderPolicy) -> Void = { _ in },
        rules: KeyRules = KeyRules(), notifications: NotificationRules? = nil,
        _ body: (ServiceFixture) async throws -> Void
    ) async throws {
        var serviceSettings = ServiceSettings(openAPI: Array("openapi: 3.1.0\n".utf8))
        serviceSettings.loggedRequests = LoggedRequests(.none)
        // Long, because fetches and requests may be slow on a busy machine.
        serviceSettings.keysTimeout = .seconds(100)
        serviceSettings.queueTimeout = .seconds(100)
        settings(&serviceSettings)
        var policy = ProviderPreset.oidc.policy(id: "p", issuer: issuer, audiences: ["client", "other-client"])
        change(&policy)
        let fixture = try await ServiceFixture(serviceSettings, policy, rules, notifications)
        do {
            try await body(fixture)
        } catch {
            await fixture.end()
            throw error
        }
        await fixture.end()
    }

    private init(
        _ settings: ServiceSettings, _ policy: ProviderPolicy, _ rules: KeyRules, _ notifications: NotificationRules?
    ) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        self.loop = loop
        let sink = LogSink()
        self.sink = sink
        // Key events are not errors of the service, so the log level is never reached.
        let telemetry = KeyTelemetry(
            log: Log(to: sink, from: .error, unixMilliseconds: { 0 }, monotonic: { MonotonicTime(milliseconds: 0) }),
            unixSeconds: { 1_700_000_000 })
        self.telemetry = telemetry
        keys = KeyStore(
            rules: rules, fetcher: fetcher, archive: nil, threads: .singleton,
            on: MultiThreadedEventLoopGroup.singleton.next(), onEvent: { telemetry.record($0, provider: "p") })
        let providers = [Provider(policy: policy, isOptional: false, notifications: notifications, keys: .store(keys))]
        // As the server does it, except that nothing is fetched until it is needed.
        let roster = try await ProviderRegistry().changed(to: providers, on: .singleton)
        self.roster = roster
        let store = StoreSetup(.memory(ClaimMemory(capacity: 1000)))
        service = try await loop.submit {
            NIOLoopBound(try ServiceLoop(on: loop, settings, roster, sink, store: store), eventLoop: loop)
        }.get()
    }

    private func end() async {
        keys.stop()
        await fetcher.stop()
        await sink.close()
    }

    func stopAnswering() async throws {
        let service = service
        try await loop.submit { service.value.stage = .stopping }.get()
    }

    func metrics() async throws -> LoopMetrics {
        let service = service
        return try await loop.submit { service.value.metrics }.get()
    }

    /// The lines of the metrics page with this prefix. The time is one second after 1970.
    func metricLines(_ name: String) async throws -> [String] {
        let status = try await keys.status().get()
        let page = MetricsPage(
            providers: roster.providers, providerIDs: roster.ids, loops: try await metrics(), statuses: [.one(status)],
            keyCounts: telemetry.current,
            configurations: ConfigurationTelemetry(startedAtUnixSeconds: 1_700_000_000).current,
            service: ListenerUsage(
                limits: ListenerLimits(), openConnections: 0, requestsInFlight: 0, bufferedBytes: 0,
                refusedConnections: 0, refusedWaiting: 0, refusedBytes: 0), process: .now(),
            startedAtUnixSeconds: 1_700_000_000, certificates: [], droppedLogBytes: 0,
            spans: SpanQueue.Counts(), version: "0",
            now: status.now, unixMilliseconds: 1000)
        return text(page.text()).split(separator: "\n").map(String.init).filter { $0.hasPrefix(name) }.sorted()
    }

    /// Sends one request to one of the responders and waits for the response.
    func send(
        _ method: String, _ path: String, _ body: String = "",
        headers: KeyValuePairs<String, String> = ["Content-Type": "application/json"],
        toAdmin: Bool = false
    ) async throws -> HTTPResponse {
        try await send(method, path, Array(body.utf8), headers: headers, toAdmin: toAdmin)
    }

    func send(
        _ method: String, _ path: String, _ body: [UInt8],
        headers: KeyValuePairs<String, String> = ["Content-Type": "application/json"],
        toAdmin: Bool = false
    ) async throws -> HTTPResponse {
        let service = service
        let loop = loop
        return try await loop.flatSubmit {
            let head = RequestHead(method, path, headers)!
            let responder: any HTTPResponder =
                toAdmin
                ? AdminResponder(
                    service.value,
                    ProcessReport(
                        version: "1.2.3", startedAtUnixSeconds: 1_700_000_000,
                        metrics: { loop.makeSucceededFuture(Array("metrics\n".utf8)) },
                        verdicts: {
                            loop.makeSucceededFuture(
                                Verdicts(
                                    metrics: service.value.metrics, stores: [], providerIDs: self.roster.ids,
                                    features: ProviderFeatures([]), answersGateways: false))
                        },
                        history: self.telemetry.history))
                : ServiceResponder(service.value)
            let request = HTTPRequest(
                head: head, body: body, routing: responder.route(head), isUnderWay: !responder.isStopping)
            switch responder.respond(to: request) {
            case .now(let response): return loop.makeSucceededFuture(response)
            case .later(_, let answer): return LoopExecutor(loop).future(of: answer)
            }
        }.get()
    }

    /// What a waiting call costs the listener; `nil` if the call does not wait.
    func waitingCost(_ path: String, _ body: String) async throws -> WaitingCost? {
        let service = service
        return try await loop.submit {
            let head = RequestHead("POST", path, ["Content-Type": "application/json"])!
            let responder = ServiceResponder(service.value)
            let request = HTTPRequest(head: head, body: Array(body.utf8), routing: responder.route(head))
            guard case .later(let cost, _) = responder.respond(to: request) else { return nil }
            return cost
        }.get()
    }

    /// Sends a verify request.
    func verify(_ token: String, _ more: String = "") async throws -> HTTPResponse {
        try await send("POST", "/v1/verify", #"{"id_token":"\#(token)"\#(more)}"#)
    }

    /// Fetches keys once, so that later requests find them.
    func fetchKeys(_ keys: [TestKey] = [.p256]) async throws {
        await fetcher.answer(with: .success(keys))
        _ = try await send("POST", "/v1/providers/p/refresh", toAdmin: true)
        await fetcher.answer(with: nil)
    }

    /// The claims of a token that is valid now.
    static var claims: ClaimsText {
        let now = SystemClocks.unixSeconds()
        return ClaimsText([
            "iss": "\"\(issuer)\"", "sub": "\"subject\"", "aud": "\"client\"", "iat": "\(now)", "exp": "\(now + 600)",
        ])
    }

    static func token(_ claims: ClaimsText = claims, by key: TestKey = .p256) -> String {
        compactJWS(payload: claims.json, signedBy: key)
    }
}

extension CallerKeys {
    /// Keys that are called `key-1`, and so on.
    init(digests: [[UInt8]]) {
        self.init(digests.enumerated().map { APIKey(name: "key-\($0.offset + 1)", digest: $0.element) })
    }
}

extension HTTPResponse {
    var text: String { TestSupport.text(body) }

    /// The header field `Retry-After` in seconds.
    var retryAfter: Int? { headers.first { "\($0.name)" == "Retry-After" }.flatMap { Int($0.value) } }

    /// The members of a body that is one JSON object.
    var json: [String: JSONTree] { get throws { try #require(try JSONTree(readingObject: body).object) } }

    /// The `code` of a problem; `nil` if the response is not a problem.
    var code: String? {
        get throws { contentType?.description.contains("problem") == true ? try json["code"]?.string : nil }
    }
}
