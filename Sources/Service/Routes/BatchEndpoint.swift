internal import HTTP
internal import JOSE
private import NIOCore
private import NIOHTTP1
internal import Verification

/// `POST /v1/verify/batch`.
extension ServiceResponder {
    private static let maximumItems = 256
    private static let items: JSONName = "items"

    func verifyBatch(_ body: JSONObject, _ record: RequestRecord) throws(Problem) -> HTTPReply {
        try body.requireOnly([Self.items], in: "batch")
        guard let items = body[Self.items],
            let itemCount = items.elementCount, (1...Self.maximumItems).contains(itemCount)
        else {
            throw .requestInvalid("A batch must be {\"items\": [...]} with 1 to \(Self.maximumItems) verify requests.")
        }
        let deadline = keysDeadline()
        let (verifier, loop) = (service.verifier, service.loop)
        let now = VerificationTime.now()
        // The position of each item's answer in the text; empty for items that still wait.
        var ranges: [Range<Int>] = []
        var waiting: [() -> EventLoopFuture<UnclaimedItem>] = []
        // Each item's answer is written and released as soon as it is decided: even 64 of them would not fit into the
        // CPU's caches.
        let text = batchAnswer { json in
            items.forEachObject { item in
                let (index, start) = (ranges.count, json.count)
                do throws(Problem) {
                    let request = try request(of: item)
                    switch verifier.verify(request, at: now) {
                    case .decided(let verdict):
                        guard service.features.usesNoncesOnce, let nonce = verifier.singleUseNonce(of: request, verdict)
                        else {
                            write(verdict, to: &json, record)
                            break
                        }
                        waiting.append {
                            loop.makeSucceededFuture(UnclaimedItem(index: index, verdict: verdict, nonce: nonce))
                        }
                    case .pending(let wait):
                        waiting.append {
                            verifier.waitForKeys(wait, until: deadline, on: loop) {
                                verifier.verify(request, at: .now())
                            }.assumeIsolated().map { verdict in
                                let nonce = verifier.singleUseNonce(of: request, verdict)
                                return UnclaimedItem(index: index, verdict: verdict, nonce: nonce)
                            }.nonisolated()
                        }
                    }
                } catch {
                    write(.refused(error, provider: nil), to: &json, record)
                }
                ranges.append(start..<json.count)
            }
        }
        assert(ranges.count == itemCount)
        guard !waiting.isEmpty else { return .now(service.end(record, json: text)) }
        // The decided items' answers are kept as text until the others are decided.
        return .later(WaitingCost(items: waiting.count, bytes: text.count)) { [ranges] in
            let decided = EventLoopFuture.whenAllSucceed(waiting.map { $0() }, on: loop).assumeIsolated()
            return decided.flatMap { self.claimed($0).nonisolated() }.map { late in
                let text = self.batchAnswer { json in
                    for (index, range) in ranges.enumerated() {
                        if let verdict = late.verdicts[index] {
                            self.write(verdict, to: &json, record)
                        } else {
                            json.raw(text[range].drop { $0 == UInt8(ascii: ",") })
                        }
                    }
                }
                var record = record
                record.claim = late.claims
                return self.service.end(record, json: text)
            }.nonisolated()
        }
    }

    private func request(of item: JSONObject?) throws(Problem) -> VerifyRequest {
        guard let item else { throw .requestInvalid("Each item of a batch must be an object.") }
        return try VerifyRequest(item)
    }

    /// The answer to a batch, with the items' answers inside.
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

    /// Counts an item's verdict and writes its answer.
    private func write(_ verdict: Verdict<VerifyAnswer>, to json: inout JSONWriter, _ record: RequestRecord) {
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
}
