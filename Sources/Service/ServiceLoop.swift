internal import Verification
private import Host
internal import HTTPServer
internal import IDToken
internal import JSON
internal import KeySource
internal import NIOCore
internal import NIOHTTP1
internal import Telemetry

/// Everything that the requests of one event loop share. Confined to that loop.
final class ServiceLoop {
    let loop: any EventLoop
    private(set) var settings: ServiceSettings
    private(set) var verifier: RequestVerifier
    /// The ids of providers, by number.
    private var providerIDs: [String]
    /// By number, the version of the keys up to which readiness does without a provider's.
    private var excused: [Int: Int] = [:]
    var requestIDs = RequestIDs()
    var metrics = LoopMetrics()
    var stage = Stage.serving
    private var queue: LoadShedder
    private var queueWatch: RepeatedTask?
    private let sink: LogSink
    private var requestLog: RequestLog?
    /// `nil`: requests are not traced.
    private let spans: RequestSpans?
    private var writer = JSONWriter()
    /// A batch's answer should not hold memory for good.
    private static let keptCapacity = 64 * 1024

    enum Stage: Comparable {
        case serving
        /// A stop was asked for: not ready any more, connections are closed after their next answer, but everything is
        /// answered, since not everybody knows.
        case leaving
        /// Requests that begin come too late.
        case stopping
    }

    /// - Throws: ``Rejection/cryptographyUnavailable`` when out of memory.
    init(
        on loop: any EventLoop, _ settings: ServiceSettings, _ registry: ProviderRegistry, _ sink: LogSink,
        tracer: SpanTracer? = nil
    ) throws(Rejection) {
        self.loop = loop
        self.settings = settings
        self.sink = sink
        queue = LoadShedder(limit: settings.queueTimeout.microseconds)
        spans = tracer.map(RequestSpans.init)
        providerIDs = registry.ids
        verifier = RequestVerifier(
            registry, on: loop, by: try IDTokenVerifier(rememberedSignatures: settings.rememberedSignatures))
        requestLog = RequestLog(of: settings.loggedRequests, to: sink, on: loop)
        watchQueue()
    }

    /// Goes by other settings in who may call, and in nothing else yet.
    func admit(by other: ServiceSettings) {
        settings.callerKeys = other.callerKeys
        settings.operatorKeys = other.operatorKeys
        settings.operatorHosts = other.operatorHosts
    }

    /// Serves with other settings from the next request on. Requests that wait for keys go on with the verifier that
    /// they began with.
    func change(to settings: ServiceSettings, _ registry: ProviderRegistry) {
        let wasReady = isReady
        if settings.loggedRequests != self.settings.loggedRequests {
            requestLog?.end()
            requestLog = RequestLog(of: settings.loggedRequests, to: sink, on: loop)
        }
        var tokenVerifier = verifier.verifier
        if settings.rememberedSignatures != self.settings.rememberedSignatures,
            // Out of memory, it goes on with the one it has, which remembers as many as before.
            let other = try? IDTokenVerifier(rememberedSignatures: settings.rememberedSignatures)
        {
            tokenVerifier = other
        }
        self.settings = settings
        queue.limit = settings.queueTimeout.microseconds
        providerIDs = registry.ids
        verifier = RequestVerifier(registry, on: loop, by: tokenVerifier)
        excuseNewcomers(wasReady: wasReady)
    }

    private static let queueLookPeriod: Int64 = 100_000

    /// Looks at whether the loop keeps up, from now on.
    private func watchQueue() {
        let bound = NIOLoopBound(self, eventLoop: loop)
        let period = TimeAmount.microseconds(Self.queueLookPeriod)
        queueWatch = loop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in
            let now = SystemClocks.monotonicMicroseconds()
            bound.value.queue.looked(at: now, period: Self.queueLookPeriod)
        }
    }

    /// Takes a request up in this turn of the loop, unless it is one too many for it.
    ///
    /// - Throws: ``Problem/overloaded(limit:)``.
    func takeTurn(_ record: RequestRecord) throws(Problem) {
        guard queue.isCrowded else { return }
        switch queue.admit(at: record.startedAtMicroseconds) {
        case .admitted: break
        case .first:
            // What is executed now, runs when all that came in with this request has been taken up.
            loop.assumeIsolated().execute { self.queue.turnEnded() }
        case .refused:
            metrics.countRefusalByQueue()
            throw .overloaded(limit: "limits.queue_timeout")
        }
    }

    /// Writes what is left of the log, and looks after nothing more.
    func end() {
        requestLog?.end()
        requestLog = nil
        queueWatch?.cancel()
    }

    /// What is known of a request whatever becomes of it.
    struct RequestRecord {
        let id: String
        let route: Route
        /// `nil` where the request's head could not be read.
        let method: RequestMethod?
        let startedAtMicroseconds: Int64
        /// The caller's span, where it told of one.
        let caller: SpanContext?
        let listener: ListenerName
        /// The name in the client's certificate, where it had to show one.
        let clientName: String?
        /// The name of the API key that the client has presented, once it was asked for one.
        var keyName: String?
    }

    func begin(_ route: Route, _ request: HTTPRequest, on listener: ListenerName) -> RequestRecord {
        begin(
            route, request.head, on: listener, clientName: request.clientName,
            at: SystemClocks.monotonicMicroseconds())
    }

    /// - Parameter route: where its head was read; else it is unknown.
    func begin(_ route: Route?, _ request: UnreadRequest, on listener: ListenerName) -> RequestRecord {
        begin(
            route ?? .unknown, request.head, on: listener, clientName: request.clientName,
            at: request.startedAtMicroseconds ?? SystemClocks.monotonicMicroseconds())
    }

    private func begin(
        _ route: Route, _ head: RequestHead?, on listener: ListenerName, clientName: String?,
        at startedAtMicroseconds: Int64
    ) -> RequestRecord {
        RequestRecord(
            id: requestIDs.id(for: head?.fields), route: route, method: head?.method,
            startedAtMicroseconds: startedAtMicroseconds, caller: head.flatMap(caller), listener: listener,
            clientName: clientName)
    }

    /// The caller's span, where there is anyone to be told of it.
    private func caller(of head: RequestHead) -> SpanContext? {
        guard requestLog != nil || spans != nil else { return nil }
        return SpanContext(calling: head.fields, withState: spans != nil)
    }

    /// Counts and logs a request, and makes its response.
    func end(
        _ record: RequestRecord, _ status: HTTPResponseStatus, _ contentType: StaticString, _ body: [UInt8] = [],
        constant: ByteBuffer? = nil, code: String? = nil, provider: Int? = nil, limit: String? = nil,
        headers: [(name: StaticString, value: String)] = []
    ) -> HTTPResponse {
        let duration = SystemClocks.monotonicMicroseconds() - record.startedAtMicroseconds
        metrics.countRequest(record.route, status: status.code, microseconds: duration)
        if let name = record.keyName { metrics.countCaller(.apiKey(name, record.listener)) }
        if let name = record.clientName { metrics.countCaller(.certificate(name, record.listener)) }
        let provider = provider.map { providerIDs[$0] }
        let span = spans?.record(record, status: status.code, code: code, provider: provider, microseconds: duration)
        requestLog?.write(
            record, status: status.code, code: code, provider: provider, limit: limit, microseconds: duration,
            trace: RequestTrace(caller: record.caller, span: span))
        var response = HTTPResponse(
            status: status, contentType: contentType, body: body, requestID: record.id, headers: headers,
            closesConnection: stage != .serving)
        response.constantBody = constant
        return response
    }

    func end(_ record: RequestRecord, _ problem: Problem, provider: Int? = nil) -> HTTPResponse {
        let body = json { problem.write(to: &$0, requestID: record.id) }
        return end(
            record, problem.responseStatus, "application/problem+json", body, code: problem.code, provider: provider,
            limit: problem.limit, headers: problem.headers)
    }

    func end(_ record: RequestRecord, json: [UInt8], status: HTTPResponseStatus = .ok) -> HTTPResponse {
        end(record, status, "application/json", json)
    }

    /// The JSON text that `write` writes. All of a loop's go through one writer, whose memory is there already.
    func json(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        writer.removeAll()
        write(&writer)
        let text = writer.bytes
        if writer.capacity > Self.keptCapacity { writer = JSONWriter() }
        return text
    }

    /// The answer to a request that could not be read to its end.
    func response(to request: UnreadRequest, _ route: Route?, on listener: ListenerName) -> HTTPResponse {
        let problem: Problem =
            switch request.fault {
            case .malformed: .requestInvalid("This is not HTTP/1.1 that can be understood in one way only.")
            case .repeatedField(let name):
                .requestInvalid("The header field \(name) may come once, and came twice; send one.")
            case .headersTooLarge: .headersTooLarge
            case .bodyTooLarge: .requestTooLarge
            case .timeout: .requestTimeout
            // The only limit that the admin listener has a setting of its own for.
            case .overloaded(.connections) where listener == .admin: .overloaded(limit: "admin.max_connections")
            case .overloaded(let limit): .overloaded(limit: "limits.\(limit.rawValue)")
            }
        return end(begin(route, request, on: listener), problem)
    }

    // MARK: Health

    /// Whether every provider that readiness waits for has keys that can verify now.
    private var isReady: Bool {
        let now = SystemClocks.monotonic()
        return verifier.providers.allSatisfy { number, provider, snapshot in
            provider.isOptional || isExcused(number, snapshot) || KeyState(snapshot, at: now) != .unavailable
        }
    }

    /// Whether readiness does without a provider's keys because it came while the service was ready, and has had none since.
    ///
    /// A provider that can't be reached is no reason to take all instances from those who need the others, as would happen
    /// where all are given the same settings at once.
    private func isExcused(_ number: Int, _ snapshot: KeySnapshot?) -> Bool {
        excused[number].map { (snapshot?.version ?? 0) <= $0 } ?? false
    }

    /// Notes the version of the keys beyond which readiness waits for a provider as for any other.
    private func excuseNewcomers(wasReady: Bool) {
        let now = SystemClocks.monotonic()
        let before = excused
        excused = [:]
        for (number, _, snapshot) in verifier.providers where KeyState(snapshot, at: now) == .unavailable {
            excused[number] = wasReady ? snapshot?.version ?? 0 : before[number]
        }
    }

    func live(_ record: RequestRecord) -> HTTPResponse {
        end(record, json: Array("{\"status\":\"live\"}".utf8))
    }

    func ready(_ record: RequestRecord) -> HTTPResponse {
        let isReady = self.isReady
        let now = SystemClocks.monotonic()
        let text = json { json in
            json.beginObject()
            json.member("status", stage != .serving ? "shutting_down" : isReady ? "ready" : "unready")
            json.name("providers")
            json.beginArray()
            for (_, provider, snapshot) in verifier.providers {
                json.beginObject()
                json.member("id", provider.policy.id)
                json.member("state", KeyState(snapshot, at: now).rawValue)
                json.endObject()
            }
            json.endArray()
            json.endObject()
        }
        return end(record, json: text, status: isReady && stage == .serving ? .ok : .serviceUnavailable)
    }
}
