internal import HTTP
private import IDToken
internal import JOSE
private import Keys
private import NIOCore
private import NIOHTTP1
private import OAuth
private import OpenSSL
internal import SignIns
internal import Verification

/// `POST /v1/sign-ins`, `POST /v1/sign-ins/finish` and `POST /v1/sign-outs`.
extension ServiceResponder {
    func beginSignIn(_ body: JSONObject, _ record: RequestRecord) throws(Problem) -> HTTPReply {
        let signIns = try signIns()
        let request = try BeginRequest(body)
        let now = VerificationTime.now()
        let operation = operation(at: now.monotonic)
        // The problem of a sign-in that can't begin names no provider in the log.
        let begun = try operation.begin(request, by: signIns, at: now.wall)
        return reply(to: record, operation, catching: begun) { begun, record in
            if let number = operation.provider { self.service.metrics.signInsBegun.count(number) }
            return self.service.end(record, status: .created, provider: operation.provider) { begun.write(to: &$0) }
        }
    }

    func signOut(_ body: JSONObject, _ record: RequestRecord) throws(Problem) -> HTTPReply {
        let operation = operation(at: SystemClocks.monotonic())
        // As for a sign-in.
        let signOut = try operation.signOut(body)
        return reply(to: record, operation, catching: signOut) { signOut, record in
            self.service.end(record, provider: operation.provider) { signOut.write(to: &$0) }
        }
    }

    func finishSignIn(_ body: JSONObject, _ record: RequestRecord) throws(Problem) -> HTTPReply {
        let signIns = try signIns()
        let now = VerificationTime.now()
        let operation = operation(at: now.monotonic)
        return reply(
            to: record, operation, catching: try operation.finish(body, by: signIns, at: now)
        ) { finished, record in
            self.service.end(record, provider: operation.provider) { finished.write(to: &$0) }
        }
    }

    /// - Throws: ``Problem/featureOff(_:)`` if sign-ins are disabled.
    private func signIns() throws(Problem) -> LoopSignIns {
        guard let signIns = service.signIns else { throw .featureOff(.signIns) }
        return signIns
    }
}

/// `POST /v1/grants/refresh`, `POST /v1/grants/revoke` and `POST /v1/grants/proof`.
extension ServiceResponder {
    func refreshGrant(_ body: JSONObject, _ record: RequestRecord) -> HTTPReply {
        let operation = operation(at: SystemClocks.monotonic())
        return reply(
            to: record, operation, catching: try operation.refresh(body, by: service.signIns)
        ) { answer, record in
            self.service.end(record, provider: operation.provider) { answer.write(to: &$0, requestID: record.id) }
        }
    }

    func revokeGrant(_ body: JSONObject, _ record: RequestRecord) -> HTTPReply {
        let operation = operation(at: SystemClocks.monotonic())
        return reply(to: record, operation, catching: try operation.revoke(body, by: service.signIns)) { _, record in
            self.service.end(record, .noContent, nil, provider: operation.provider)
        }
    }

    func proveGrant(_ body: JSONObject, _ record: RequestRecord) -> HTTPReply {
        let now = VerificationTime.now()
        let operation = operation(at: now.monotonic)
        func prove() throws(Problem) -> String { try operation.prove(body, by: service.signIns, at: now.wall) }
        return reply(to: record, operation, catching: .now(try prove())) { proof, record in
            self.service.end(record, provider: operation.provider) { json in
                json.object { $0.member("dpop", proof) }
            }
        }
    }
}

/// Responses to operations of `SignIns`.
extension ServiceResponder {
    private func operation(at now: MonotonicTime) -> Operation {
        let settings = service.settings
        return Operation(
            by: service.verifier, at: now, keysTimeout: settings.keysTimeout, callTimeout: settings.providerTimeout)
    }

    /// Responds once an operation has ended.
    ///
    /// - Parameter answer: runs here, so that its problem is counted, and its response says what was used up.
    private func reply<Answer>(
        to record: RequestRecord, _ operation: Operation,
        catching answer: @autoclosure () throws(Problem) -> Reply<Answer, Problem>,
        by respond: @escaping (Answer, RequestRecord) -> HTTPResponse
    ) -> HTTPReply {
        do throws(Problem) {
            switch try answer() {
            case .now(let answer): return .now(respond(answer, record.counting(operation, nil, in: service)))
            case .later(let wait):
                return .later {
                    do throws(Problem) {
                        let answer = try await wait()
                        return respond(answer, record.counting(operation, nil, in: self.service))
                    } catch {
                        return self.end(record, operation, error)
                    }
                }
            }
        } catch {
            return .now(end(record, operation, error))
        }
    }

    private func end(_ record: RequestRecord, _ operation: Operation, _ problem: Problem) -> HTTPResponse {
        service.end(
            record.counting(operation, problem, in: service), problem, provider: operation.provider,
            spent: operation.isSpent)
    }
}

extension RequestRecord {
    /// Counts an operation that has ended.
    ///
    /// - Returns: the record with what the operation did.
    fileprivate func counting(
        _ operation: Operation, _ problem: Problem?, in service: ServiceLoop
    ) -> RequestRecord {
        var record = self
        record.calls = operation.calls
        for verdict in operation.verdicts {
            service.metrics.countVerification(provider: verdict.provider, code: verdict.code)
        }
        if let claim = operation.claim {
            record.claim = claim.time
            service.metrics.claims.count(claim)
        }
        operation.release?.assumeIsolated().whenSuccess { service.metrics.claimReleases.count($0) }
        let code = problem?.code ?? "ok"
        if let grant = operation.grant, let number = operation.provider {
            service.metrics.grants.count(.init(provider: number, operation: grant, code: code))
            if problem != nil, operation.holdsGrant {
                service.metrics.droppedGrants.count(.init(provider: number, code: code))
            }
        }
        if route == .finishSignIn {
            service.metrics.signInsFinished.count(.init(provider: operation.provider, code: code))
        }
        return record
    }
}
