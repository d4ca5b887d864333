internal import Verification
internal import Host
internal import HTTPServer
internal import IDToken
internal import JSON
internal import KeySource
internal import NIOCore
internal import NIOHTTP1

/// Answers the service listener on one event loop: the calls that backends make.
final class ServiceResponder: HTTPResponder {
    let service: ServiceLoop

    init(_ service: ServiceLoop) { self.service = service }

    var isStopping: Bool { service.stage == .stopping }

    func route(_ head: RequestHead) -> HeadRouting {
        var route = Route.service(head.path)
        // What is off is not there.
        if route.isOfSignIns, service.signIns == nil { route = .unknown }
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
            case .signIns: return try beginSignIn(body(of: request, &record), record)
            case .finishSignIn: return try finishSignIn(body(of: request, &record), record)
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
        case .decided(let verdict):
            guard service.usesNoncesOnce, let nonce = verifier.singleUseNonce(of: request, verdict) else {
                return .now(answer(verdict, record))
            }
            // Only once there is room to wait for the store: what is refused for want of room has used nothing up.
            return .later { self.claimed(verdict, nonce).map { self.answer($0, record) }.nonisolated() }
        case .pending(let pending):
            return .later {
                verifier.waitForKeys(pending, until: self.keysDeadline(), on: self.service.loop).assumeIsolated()
                    .flatMap { self.claimed($0, verifier.singleUseNonce(of: request, $0)).nonisolated() }
                    .map { self.answer($0, record) }.nonisolated()
            }
        }
    }

    private func answer(_ claimed: ClaimedVerdict, _ record: RequestRecord) -> HTTPResponse {
        var record = record
        record.claim = claimed.claim
        return answer(claimed.verdict, record)
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
        var waiting: [() -> EventLoopFuture<UnclaimedItem>] = []
        // Each is written as soon as it is decided, and what it was made of is let go: 64 at a time would not stay in the
        // processor's caches.
        let text = batchAnswer { json in
            items.forEachObject { item in
                let (index, start) = (ranges.count, json.count)
                switch outcome(of: item, verifier, now) {
                case (.decided(let verdict), nil): write(verdict, to: &json, record)
                case (.decided(let verdict), let nonce?):
                    waiting.append {
                        loop.makeSucceededFuture(UnclaimedItem(index: index, verdict: verdict, nonce: nonce))
                    }
                case (.pending(let pending), _):
                    waiting.append {
                        verifier.waitForKeys(pending, until: deadline, on: loop).assumeIsolated().map { verdict in
                            let nonce = verifier.singleUseNonce(of: pending.request, verdict)
                            return UnclaimedItem(index: index, verdict: verdict, nonce: nonce)
                        }.nonisolated()
                    }
                }
                ranges.append(start..<json.count)
            }
        }
        assert(ranges.count == itemCount)
        guard !waiting.isEmpty else { return .now(service.end(record, json: text)) }
        // The text of the decided items is kept until the others are decided.
        return .later(WaitingCost(items: waiting.count, bytes: text.count)) { [ranges] in
            let decided = EventLoopFuture.whenAllSucceed(waiting.map { $0() }, on: loop).assumeIsolated()
            return decided.flatMap { self.claimed($0).nonisolated() }.map { late in
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

    /// What comes of an item before anything is waited for, and the nonce that has to be claimed for it.
    private func outcome(
        of item: JSONObject?, _ verifier: RequestVerifier, _ now: VerificationTime
    ) -> (RequestVerifier.Outcome, SingleUseNonce?) {
        do throws(Problem) {
            guard let item else { throw .requestInvalid("Each item of a batch is an object.") }
            let request = try VerifyRequest(item)
            let outcome = verifier.verify(request, at: now)
            guard service.usesNoncesOnce, case .decided(let verdict) = outcome else { return (outcome, nil) }
            return (outcome, verifier.singleUseNonce(of: request, verdict))
        } catch {
            return (.decided(.refused(error, provider: nil)), nil)
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

    func count(_ verdict: Verdict) {
        switch verdict {
        case .verified(_, let provider): service.metrics.countVerification(provider: provider, code: "ok")
        case .refused(let problem, let provider):
            service.metrics.countVerification(provider: provider, code: problem.code)
        }
    }

    func keysDeadline() -> MonotonicTime { SystemClocks.monotonic() + service.settings.keysTimeout }
}

@available(*, unavailable) extension ServiceResponder: Sendable {}
