private import Clocks
internal import HTTPListener
internal import IDToken
internal import JSON
internal import KeySource
internal import NIOCore
internal import NIOHTTP1

/// Everything that the requests of one event loop share. Confined to that loop.
final class ServiceLoop {
    let loop: any EventLoop
    let settings: ServiceSettings
    let verifications: Verifications
    var requestIDs = RequestIDs()
    var metrics = LoopMetrics()
    /// Whether a stop was asked for.
    var isStopping = false
    private let requestLog: RequestLog?
    private var writer = JSONWriter()
    /// A batch's answer should not hold memory for good.
    private static let keptCapacity = 64 * 1024

    init(on loop: any EventLoop, _ settings: ServiceSettings, _ providers: [Provider], _ sink: LogSink)
        throws(Rejection)
    {
        self.loop = loop
        self.settings = settings
        verifications = try Verifications(providers, rememberedSignatures: settings.rememberedSignatures)
        requestLog = settings.logsRequests ? RequestLog(to: sink, on: loop) : nil
    }

    func flushLog() { requestLog?.flush() }

    /// What is known of a request whatever becomes of it.
    struct RequestRecord {
        let id: String
        let route: Route
        let startedAtMicroseconds: Int64
    }

    func begin(_ route: Route, _ fields: HTTPFields?) -> RequestRecord {
        RequestRecord(
            id: requestIDs.id(for: fields), route: route, startedAtMicroseconds: SystemClocks.monotonicMicroseconds())
    }

    /// Counts and logs a request, and makes its response.
    func end(
        _ record: RequestRecord, _ status: HTTPResponseStatus, _ contentType: StaticString, _ body: [UInt8],
        code: String? = nil, provider: Int? = nil, headers: [(name: StaticString, value: String)] = []
    ) -> HTTPResponse {
        let duration = SystemClocks.monotonicMicroseconds() - record.startedAtMicroseconds
        metrics.countRequest(record.route, status: status.code, microseconds: duration)
        requestLog?.write(
            requestID: record.id, route: record.route.pattern, status: status.code, code: code,
            provider: provider.map { verifications.provider($0).policy.id }, microseconds: duration)
        return HTTPResponse(
            status: status, contentType: contentType, body: body, requestID: record.id, headers: headers,
            closesConnection: isStopping)
    }

    func end(_ record: RequestRecord, _ problem: Problem, provider: Int? = nil) -> HTTPResponse {
        let body = json { problem.write(to: &$0, requestID: record.id) }
        return end(
            record, problem.status, "application/problem+json", body, code: problem.code, provider: provider,
            headers: problem.headers)
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
    func response(to fault: HTTPFault, _ head: RequestHead?, _ route: Route) -> HTTPResponse {
        let problem: Problem =
            switch fault {
            case .malformed: .requestInvalid("This is not HTTP/1.1 that can be understood in one way only.")
            case .headersTooLarge: .headersTooLarge
            case .bodyTooLarge: .requestTooLarge
            case .timeout: .requestTimeout
            case .overloaded: .overloaded
            }
        return end(begin(route, head?.fields), problem)
    }

    // MARK: Health

    /// Whether a provider's keys can verify now: `ready`, `stale` or `unavailable`.
    func state(ofProvider index: Int) -> KeyState {
        KeyState(verifications.snapshot(ofProvider: index), at: SystemClocks.monotonic())
    }

    func live(_ record: RequestRecord) -> HTTPResponse {
        end(record, json: Array("{\"status\":\"live\"}".utf8))
    }

    func ready(_ record: RequestRecord) -> HTTPResponse {
        let states = verifications.providers.indices.map(state)
        let isReady = zip(verifications.providers, states).allSatisfy { $0.isOptional || $1 != .unavailable }
        let text = json { json in
            json.beginObject()
            json.member("status", isStopping ? "shutting_down" : isReady ? "ready" : "unready")
            json.name("providers")
            json.beginArray()
            for (provider, state) in zip(verifications.providers, states) {
                json.beginObject()
                json.member("id", provider.policy.id)
                json.member("state", state.rawValue)
                json.endObject()
            }
            json.endArray()
            json.endObject()
        }
        return end(record, json: text, status: isReady && !isStopping ? .ok : .serviceUnavailable)
    }
}
