internal import HTTP
internal import JOSE
internal import NIOCore
internal import NIOHTTP1
internal import SignIns
internal import Verification

/// Serves the service listener on one event loop: endpoints for backends.
final class ServiceResponder: HTTPResponder {
    let service: ServiceLoop

    init(_ service: ServiceLoop) { self.service = service }

    var isStopping: Bool { service.stage == .stopping }

    func route(_ head: RequestHead) -> HeadRouting {
        var route = Route.service(head.path)
        if let feature = route.feature, !service.isOn(feature) { route = .unknown }
        var routing = HeadRouting(bodyLimit: service.settings.maximumBody, route: route.rawValue)
        // Unauthenticated callers must not be able to fill our memory.
        if route == .batch, refusal(of: head.fields, to: route) == nil {
            routing.bodyLimit = service.settings.maximumBatchBody
        }
        routing.isAnsweredOnHead = route == .forwardAuth
        return routing
    }

    func respond(to request: FailedRequest) -> HTTPResponse {
        let route = request.routing.map(Route.init)
        if request.fault == .bodyTooLarge, let route, route == .batch, let fields = request.head?.fields,
            let refusal = refusal(of: fields, to: route)
        {
            return service.end(service.begin(route, request, on: .service), refusal)
        }
        return service.response(to: request, route, on: .service)
    }

    func respond(to request: HTTPRequest) -> HTTPReply {
        let route = Route(request.routing)
        var record = service.begin(route, request, on: .service)
        do throws(Problem) {
            guard route != .unknown else { throw Self.absence(of: request.head.path) }
            try route.check(request.head.method)
            if case .keys(let permissions) = route.access {
                try checkCapacity(for: request, record)
                try service.settings.callerKeys.admit(request.head.fields, to: permissions, &record.keyName)
            }
            switch route {
            case .live: return .now(service.live(record))
            case .ready: return .now(service.ready(record))
            case .openAPI: return .now(service.end(record, .ok, "application/yaml", constant: service.settings.openAPI))
            case .keySet: return .now(keySet(record))
            case .verify: return try verify(request.jsonObject(), record)
            case .batch: return try verifyBatch(request.jsonObject(), record)
            case .signIns: return try beginSignIn(request.jsonObject(), record)
            case .signOuts: return try signOut(request.jsonObject(), record)
            case .refreshGrant: return refreshGrant(try request.jsonObject(), record)
            case .revokeGrant: return revokeGrant(try request.jsonObject(), record)
            case .proveGrant: return proveGrant(try request.jsonObject(), record)
            case .finishSignIn: return try finishSignIn(request.jsonObject(), record)
            case .notifications: return try verifyNotification(request.jsonObject(), record)
            case .accessTokens: return try verifyAccessToken(request.jsonObject(), record)
            case .forwardAuth: return try decideForGateway(request, &record)
            case .resourceMetadata, .wellKnownMetadata: return .now(try metadata(request, record))
            default: throw .notFound
            }
        } catch {
            return .now(service.end(record, error))
        }
    }

    /// Why a path has no route.
    private static func absence(of path: HeadSlice) -> Problem {
        Route.service(path).feature.map(Problem.featureOff) ?? .notFound
    }

    /// Why the caller may not call a route; `nil` if it may.
    private func refusal(of fields: HTTPFields, to route: Route) -> Problem? {
        guard case .keys(let permissions) = route.access else { return nil }
        return service.settings.callerKeys.refusal(of: fields, to: permissions)
    }

    /// - Throws: ``Problem/shuttingDown``, ``Problem/overloaded(limit:)``.
    func checkCapacity(for request: HTTPRequest, _ record: RequestRecord) throws(Problem) {
        guard request.isUnderWay else { throw .shuttingDown }
        guard service.load.admits(at: record.startedAtMicroseconds) else {
            service.metrics.refusedByQueue += 1
            throw .overloaded(limit: "limits.queue_timeout")
        }
    }

    // MARK: One token

    private func verify(_ body: JSONObject, _ record: RequestRecord) throws(Problem) -> HTTPReply {
        let request = try VerifyRequest(body)
        let verifier = service.verifier
        switch verifier.verify(request, at: .now()) {
        case .decided(let verdict):
            guard service.features.usesNoncesOnce, let nonce = verifier.singleUseNonce(of: request, verdict) else {
                return .now(answer(verdict, record))
            }
            // Claims only after the wait has been admitted: a request that is shed must not use up a nonce.
            return .later { await self.answer(verdict, claiming: nonce, record) }
        case .pending(let wait):
            return .later {
                let verdict = await verifier.verdict(after: wait, until: self.keysDeadline()) {
                    verifier.verify(request, at: $0)
                }
                guard let nonce = verifier.singleUseNonce(of: request, verdict) else {
                    return self.answer(verdict, record)
                }
                return await self.answer(verdict, claiming: nonce, record)
            }
        }
    }

    /// Claims the nonce of a verified token as the last check, so that a rejected token uses none up.
    private func answer(
        _ verdict: Verdict<VerifyAnswer>, claiming nonce: SingleUseNonce, _ record: RequestRecord
    ) async -> HTTPResponse {
        do throws(Problem) {
            let claim = await (try attempt(nonce)).made()
            service.metrics.claims.count(claim)
            var record = record
            record.claim = claim.time
            return answer(verdict.unless(nonce.problem(claim.outcome)), record)
        } catch {
            return answer(verdict.unless(error), record)
        }
    }

    /// The claim of a nonce, which is not made yet.
    ///
    /// - Throws: ``Problem/storeUnavailable(isSpent:)``, and ``Problem/rejected(_:of:)`` if OpenSSL fails.
    func attempt(_ nonce: SingleUseNonce) throws(Problem) -> ClaimStore.Attempt {
        guard let claims = service.claims else { throw .storeUnavailable(isSpent: false) }
        return claims.attempt(try nonce.claim(claims.digests))
    }

    private func answer(_ verdict: Verdict<VerifyAnswer>, _ record: RequestRecord) -> HTTPResponse {
        count(verdict)
        return response(to: verdict, record)
    }

    func count(_ verdict: Verdict<VerifyAnswer>) {
        switch verdict {
        case .verified(_, let provider): service.metrics.countVerification(provider: provider, code: "ok")
        case .refused(let problem, let provider):
            service.metrics.countVerification(provider: provider, code: problem.code)
        }
    }

    func keysDeadline() -> MonotonicTime { SystemClocks.monotonic() + service.settings.keysTimeout }
}

extension HTTPRequest {
    /// The JSON object in the body.
    ///
    /// - Throws: ``Problem/contentTypeUnsupported``, ``Problem/requestInvalid(_:)``.
    func jsonObject() throws(Problem) -> JSONObject {
        guard isJSON(head.fields["Content-Type"]), !head.fields.contains("Content-Encoding")
        else { throw .contentTypeUnsupported }
        do throws(JSONError) {
            return try JSONObject(body, allowsNUL: true)
        } catch {
            throw .requestInvalid(
                JSONErrorLocation(in: body[...], allowsNUL: true)?.sentence ?? "The body must be a JSON object.")
        }
    }

    /// `application/json`, with no parameter other than `charset=utf-8`.
    private func isJSON(_ contentType: HeadSlice?) -> Bool {
        guard let contentType else { return false }
        if contentType == "application/json" { return true }
        let parts = contentType.string.lowercased().split(separator: ";").map {
            $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" }
        }
        return parts.first == "application/json" && parts.dropFirst().allSatisfy { $0 == "charset=utf-8" }
    }
}

extension JSONErrorLocation {
    /// Describes what is wrong with a body, and where. Quotes nothing, because any byte may be part of a token.
    var sentence: String {
        let place = "byte offset \(offset) (line \(line), column \(column))"
        return switch error {
        case .syntax where offset == 0 && isAtEnd: "The body is empty; send one JSON object."
        case .syntax where isAtEnd: "The body is not valid JSON: it ends too early, at \(place)."
        case .syntax: "The body is not valid JSON: there is a syntax error at \(place)."
        case .encoding: "The body is not UTF-8, or has a lone surrogate or a NUL in a name, at \(place)."
        case .duplicateMember: "The body has an object with two members of the same name, which ends at \(place)."
        case .tooDeep:
            "The body has objects or arrays nested more than \(JSONLimits.maximumDepth) levels deep, at \(place)."
        case .numberOutOfRange: "The body has a number that is out of range, which ends at \(place)."
        case .notAnObject: "The body is not a JSON object, but another JSON value; send one JSON object."
        }
    }
}

/// HTTP responses for problems.
extension Problem {
    var responseStatus: HTTPResponseStatus { HTTPResponseStatus(statusCode: status) }

    /// Additional header fields.
    var headers: [(name: String, value: String)] {
        switch self {
        case .methodNotAllowed(let allow): [("Allow", allow)]
        case .callerUnauthenticated: [("WWW-Authenticate", "Bearer")]
        default: retryAfterSeconds.map { [("Retry-After", String($0))] } ?? []
        }
    }
}
