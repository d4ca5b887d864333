internal import HTTP
internal import JOSE
private import NIOCore
private import NIOHTTP1
private import SignIns
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
        let verifier = service.verifier
        let now = VerificationTime.now()
        // The position of each item's answer in the text; empty for items that still wait.
        var ranges: [Range<Int>] = []
        var waiting: [WaitingItem] = []
        // Each item's answer is written and released as soon as it is decided: even 64 of them would not fit into the
        // CPU's caches.
        let text = batchAnswer { json in
            items.forEachObject { item in
                let (index, start) = (ranges.count, json.count)
                do throws(Problem) {
                    let request = try request(of: item)
                    let outcome = verifier.verify(request, at: now)
                    if case .decided(let verdict) = outcome,
                        !service.features.usesNoncesOnce || verifier.singleUseNonce(of: request, verdict) == nil
                    {
                        write(verdict, to: &json, record)
                    } else {
                        waiting.append(WaitingItem(index: index, request: request, outcome: outcome))
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
        return .later(WaitingCost(items: waiting.count, bytes: text.count)) { [ranges, waiting] in
            let (verdicts, claims) = await self.verdicts(on: waiting, by: verifier, until: deadline)
            let text = self.batchAnswer { json in
                for (index, range) in ranges.enumerated() {
                    if let verdict = verdicts[index] {
                        self.write(verdict, to: &json, record)
                    } else {
                        json.raw(text[range].drop { $0 == UInt8(ascii: ",") })
                    }
                }
            }
            var record = record
            record.claim = claims
            return self.service.end(record, json: text)
        }
    }

    /// An item that waits for keys, or whose nonce must be claimed.
    private struct WaitingItem {
        let index: Int
        let request: VerifyRequest
        var outcome: RequestVerifier.Outcome<VerifyAnswer>
    }

    /// Waits for the keys of all items at the same time, then claims their nonces in the order of the items, so that the
    /// first item with a nonce wins.
    ///
    /// - Returns: the verdicts by the items' indices, and the time from the start of the first claim to the end of the
    ///   last; `nil` if there was none.
    private func verdicts(
        on items: [WaitingItem], by verifier: RequestVerifier, until deadline: MonotonicTime
    ) async -> (verdicts: [Int: Verdict<VerifyAnswer>], claims: Range<Int64>?) {
        var items = items
        for index in items.indices { items[index].outcome.start(until: deadline) }
        var verdicts: [Int: Verdict<VerifyAnswer>] = [:]
        for item in items {
            switch item.outcome {
            case .decided(let verdict): verdicts[item.index] = verdict
            case .pending(let wait):
                verdicts[item.index] = await verifier.verdict(after: wait, until: deadline) {
                    verifier.verify(item.request, at: $0)
                }
            }
        }
        var attempts: [(index: Int, nonce: SingleUseNonce, attempt: ClaimStore.Attempt)] = []
        for item in items {
            guard let verdict = verdicts[item.index],
                let nonce = verifier.singleUseNonce(of: item.request, verdict)
            else { continue }
            do throws(Problem) {
                attempts.append((item.index, nonce, try attempt(nonce).started()))
            } catch {
                verdicts[item.index] = verdict.unless(error)
            }
        }
        var claims: Range<Int64>?
        for (index, nonce, attempt) in attempts {
            let claim = await attempt.made()
            service.metrics.claims.count(claim)
            verdicts[index] = verdicts[index]?.unless(nonce.problem(claim.outcome))
            let others = claims ?? claim.time
            claims =
                min(others.lowerBound, claim.time.lowerBound)..<max(others.upperBound, claim.time.upperBound)
        }
        return (verdicts, claims)
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
