internal import Verification
private import Host
internal import HTTPServer
internal import IDToken
internal import JSON
internal import KeySource
internal import NIOCore
internal import NIOHTTP1

/// Answers the service listener on one event loop: the calls that backends make.
final class ServiceResponder: HTTPResponder {
    private let service: ServiceLoop

    init(_ service: ServiceLoop) { self.service = service }

    var isStopping: Bool { service.stage == .stopping }

    func route(_ head: RequestHead) -> HeadRouting {
        let route = Route.service(head.path)
        var routing = HeadRouting(bodyLimit: service.settings.maximumBody, route: route.rawValue)
        // Nobody who may not ask gets to fill our memory.
        if route == .batch, service.settings.callerKeys.admits(head.fields) {
            routing.bodyLimit = service.settings.maximumBatchBody
        }
        return routing
    }

    func respond(to request: FailedRequest) -> HTTPResponse {
        let route = request.routing.map(Route.init)
        if request.fault == .bodyTooLarge, route == .batch, let fields = request.head?.fields,
            !service.settings.callerKeys.admits(fields)
        {
            return service.end(service.begin(route, request, on: .service), Problem.callerUnauthenticated)
        }
        return service.response(to: request, route, on: .service)
    }

    func respond(to request: HTTPRequest) -> HTTPReply {
        let route = Route(request.routing)
        var record = service.begin(route, request, on: .service)
        do throws(Problem) {
            try route.check(request.head.method)
            switch route {
            case .live: return .now(service.live(record))
            case .ready: return .now(service.ready(record))
            case .openAPI: return .now(service.end(record, .ok, "application/yaml", constant: service.settings.openAPI))
            case .verify: return try verify(body(of: request, &record), record)
            case .batch: return try verifyBatch(body(of: request, &record), record)
            default: throw .notFound
            }
        } catch {
            return .now(service.end(record, error))
        }
    }

    /// The JSON object that a call carries.
    private func body(
        of request: HTTPRequest, _ record: inout RequestRecord
    ) throws(Problem) -> JSONObject {
        guard request.isUnderWay else { throw .shuttingDown }
        guard service.load.admits(at: record.startedAtMicroseconds) else {
            service.metrics.countRefusalByQueue()
            throw .overloaded(limit: "limits.queue_timeout")
        }
        record.keyName = try service.settings.callerKeys.admit(request.head.fields)
        return try request.jsonObject()
    }

    // MARK: One token

    private func verify(_ body: JSONObject, _ record: RequestRecord) throws(Problem) -> HTTPReply {
        let request = try VerifyRequest(body)
        let verifier = service.verifier
        switch verifier.verify(request, at: .now()) {
        case .decided(let verdict): return .now(answer(verdict, record))
        case .pending(let pending):
            return .later {
                verifier.waitForKeys(pending, until: self.keysDeadline(), on: self.service.loop)
                    .assumeIsolated().map { self.answer($0, record) }.nonisolated()
            }
        }
    }

    private func answer(_ verdict: Verdict, _ record: RequestRecord) -> HTTPResponse {
        count(verdict)
        switch verdict {
        case .verified(let answer, let provider):
            let text = service.json { answer.write(to: &$0) }
            return service.end(record, .ok, "application/json", text, provider: provider)
        case .refused(let problem, let provider): return service.end(record, problem, provider: provider)
        }
    }

    // MARK: Many tokens

    private static let maximumItems = 256
    private static let items: JSONName = "items"

    private func verifyBatch(_ body: JSONObject, _ record: RequestRecord) throws(Problem) -> HTTPReply {
        try body.requireOnly([Self.items], in: "batch")
        guard let items = body[Self.items],
            let itemCount = items.elementCount, (1...Self.maximumItems).contains(itemCount)
        else {
            throw .requestInvalid("A batch is {\"items\": [...]} with 1 to \(Self.maximumItems) verify requests.")
        }
        let deadline = keysDeadline()
        let (verifier, loop) = (service.verifier, service.loop)
        let now = VerificationTime.now()
        // Where each item's answer lies in the text; of those that wait, nothing does yet.
        var ranges: [Range<Int>] = []
        var waiting: [() -> EventLoopFuture<(index: Int, verdict: Verdict)>] = []
        // Each is written as soon as it is decided, and what it was made of is let go: 64 at a time would not stay in the
        // processor's caches.
        let text = batchAnswer { json in
            items.forEachObject { item in
                let (index, start) = (ranges.count, json.count)
                switch outcome(of: item, verifier, now) {
                case .decided(let verdict): write(verdict, to: &json, record)
                case .pending(let pending):
                    waiting.append { verifier.waitForKeys(pending, until: deadline, on: loop).map { (index, $0) } }
                }
                ranges.append(start..<json.count)
            }
        }
        assert(ranges.count == itemCount)
        guard !waiting.isEmpty else { return .now(service.end(record, json: text)) }
        // The text of the decided items is kept until the others are decided.
        return .later(WaitingCost(items: waiting.count, bytes: text.count)) { [ranges] in
            EventLoopFuture.whenAllSucceed(waiting.map { $0() }, on: self.service.loop).assumeIsolated().map { late in
                let late = Dictionary(late.map { ($0.index, $0.verdict) }, uniquingKeysWith: { first, _ in first })
                let text = self.batchAnswer { json in
                    for (index, range) in ranges.enumerated() {
                        if let verdict = late[index] {
                            self.write(verdict, to: &json, record)
                        } else {
                            json.raw(text[range].drop { $0 == UInt8(ascii: ",") })
                        }
                    }
                }
                return self.service.end(record, json: text)
            }.nonisolated()
        }
    }

    /// What comes of an item before anything is waited for.
    private func outcome(
        of item: JSONObject?, _ verifier: RequestVerifier, _ now: VerificationTime
    ) -> RequestVerifier.Outcome {
        do throws(Problem) {
            guard let item else { throw .requestInvalid("Each item of a batch is an object.") }
            return verifier.verify(try VerifyRequest(item), at: now)
        } catch {
            return .decided(.refused(error, provider: nil))
        }
    }

    /// The answer to a batch, around those to its items.
    private func batchAnswer(_ writeResults: (inout JSONWriter) -> Void) -> [UInt8] {
        service.json { json in
            json.beginObject()
            json.name("results")
            json.beginArray()
            writeResults(&json)
            json.endArray()
            json.endObject()
        }
    }

    /// Counts an item's verdict, and writes its answer.
    private func write(_ verdict: Verdict, to json: inout JSONWriter, _ record: RequestRecord) {
        count(verdict)
        switch verdict {
        case .verified(let answer, _): answer.write(to: &json)
        case .refused(let problem, _):
            json.beginObject()
            json.name("error")
            problem.write(to: &json, requestID: record.id)
            json.endObject()
        }
    }

    // MARK: Waiting for keys

    private func count(_ verdict: Verdict) {
        switch verdict {
        case .verified(_, let provider): service.metrics.countVerification(provider: provider, code: "ok")
        case .refused(let problem, let provider):
            service.metrics.countVerification(provider: provider, code: problem.code)
        }
    }

    private func keysDeadline() -> MonotonicTime { SystemClocks.monotonic() + service.settings.keysTimeout }
}

@available(*, unavailable) extension ServiceResponder: Sendable {}
