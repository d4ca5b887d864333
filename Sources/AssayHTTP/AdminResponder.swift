internal import Clocks
internal import HTTPListener
private import IDToken
private import JOSE
internal import JSON
internal import KeySource
internal import NIOCore
internal import NIOHTTP1

/// Answers the admin listener on one event loop: what operators and their tools ask.
final class AdminResponder: HTTPResponder {
    private let service: ServiceLoop
    private let scrape: @Sendable () -> EventLoopFuture<[UInt8]>

    /// - Parameter scrape: gathers the metrics of all loops, as Prometheus text.
    init(_ service: ServiceLoop, scrape: @escaping @Sendable () -> EventLoopFuture<[UInt8]>) {
        self.service = service
        self.scrape = scrape
    }

    func bodyLimit(for head: HTTPRequestHead) -> Int { service.settings.maximumBody }

    func respond(to fault: HTTPFault, head: HTTPRequestHead?) -> HTTPResponse {
        service.response(to: fault, head, head.map { Route.admin($0.path) } ?? .unknown)
    }

    func respond(to request: HTTPRequest) -> HTTPReply {
        let route = Route.admin(request.head.path)
        let record = service.begin(route, request.head.headers)
        guard route != .unknown else { return .now(service.end(record, Problem.notFound)) }
        guard request.head.method == route.method else {
            return .now(service.end(record, Problem.methodNotAllowed(allow: route.method.rawValue)))
        }
        switch route {
        case .live: return .now(service.live(record))
        case .ready: return .now(service.ready(record))
        case .metrics:
            return later(scrape(), record) { text in
                self.service.end(record, .ok, "text/plain; version=0.0.4; charset=utf-8", text)
            }
        case .providers: return listProviders(record)
        default: return refresh(request, record)
        }
    }

    private func listProviders(_ record: ServiceLoop.RequestRecord) -> HTTPReply {
        let statuses = EventLoopFuture.whenAllSucceed(
            service.verifications.providers.map { $0.keys.status() }, on: service.loop)
        return later(statuses, record) { statuses in
            var json = JSONWriter()
            json.beginObject()
            json.name("providers")
            json.beginArray()
            for (provider, status) in zip(self.service.verifications.providers, statuses) {
                status.write(to: &json, provider)
            }
            json.endArray()
            json.endObject()
            return self.service.end(record, json: json.bytes)
        }
    }

    private func refresh(_ request: HTTPRequest, _ record: ServiceLoop.RequestRecord) -> HTTPReply {
        guard let id = Route.providerToRefresh(request.head.path),
            let index = service.verifications.index(ofProvider: String(id))
        else { return .now(service.end(record, Problem.providerUnknown)) }
        let provider = service.verifications.providers[index]
        let deadline = SystemClocks.monotonic() + service.settings.keysTimeout
        let status = provider.keys.wait(for: .refresh, judgedBy: 0, until: deadline).flatMap { _ in
            provider.keys.status()
        }
        return later(status, record) { status in
            guard status.snapshot?.isUsable(at: status.now) == true else {
                let pause = status.nextFetchIn.map { max($0.secondsRoundedUp, 1) } ?? 1
                return self.service.end(record, Problem.keysUnavailable(retryAfterSeconds: pause), provider: index)
            }
            var json = JSONWriter()
            status.write(to: &json, provider)
            return self.service.end(record, json: json.bytes)
        }
    }

    /// Brings a value from another loop back to this one, and makes a response of it.
    private func later<Value: Sendable>(
        _ future: EventLoopFuture<Value>, _ record: ServiceLoop.RequestRecord,
        _ respond: @escaping (Value) -> HTTPResponse
    ) -> HTTPReply {
        .later(future.hop(to: service.loop).assumeIsolated().map { respond($0) }.nonisolated())
    }
}

@available(*, unavailable) extension AdminResponder: Sendable {}

extension KeyStatus {
    /// Writes what an operator may see of a provider; nothing in it is secret.
    fileprivate func write(to json: inout JSONWriter, _ provider: Provider) {
        json.beginObject()
        json.name("id")
        json.value(provider.policy.id)
        json.name("issuer")
        json.value(provider.policy.issuer)
        json.name("state")
        json.value(KeyState(snapshot, at: now).rawValue)
        json.name("optional")
        json.value(provider.isOptional)
        json.name("source")
        json.value(snapshot?.source.rawValue)
        json.name("keys")
        json.beginArray()
        for key in snapshot?.keys.keys ?? [] {
            json.beginObject()
            json.name("kid")
            json.value(key.keyID)
            json.name("kty")
            json.value(key.keyType)
            json.name("crv")
            json.value(key.curve)
            json.name("alg")
            json.value(key.algorithm)
            json.name("use")
            json.value(key.use)
            json.name("usable")
            json.value(key.isUsable)
            json.endObject()
        }
        json.endArray()
        json.name("fetched_at")
        json.value(snapshot?.fetchedAtUnixSeconds)
        json.name("next_fetch_at")
        json.value(nextFetchIn.map { SystemClocks.unixSeconds() + $0.secondsRoundedUp })
        json.name("last_error")
        if let lastFailure {
            json.beginObject()
            json.name("at")
            json.value(lastFailureAtUnixSeconds)
            json.name("phase")
            json.value(lastFailure.phase.rawValue)
            json.name("message")
            json.value(lastFailure.message)
            json.endObject()
        } else {
            json.null()
        }
        json.endObject()
    }
}
