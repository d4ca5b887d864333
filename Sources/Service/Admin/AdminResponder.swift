internal import HTTP
private import IDToken
internal import JOSE
internal import Keys
internal import NIOCore
internal import NIOHTTP1
internal import Verification

/// Serves the admin listener on one event loop: endpoints for operators and their tools.
final class AdminResponder: HTTPResponder {
    private let service: ServiceLoop
    /// Longer than two consecutive fetches can take: the one in progress, and one that starts after the call.
    private static let refreshTimeout = Interval.seconds(45)

    private let scrape: @Sendable () -> EventLoopFuture<[UInt8]>
    private let verdicts: @Sendable () -> EventLoopFuture<Verdicts>
    private let history: @Sendable (String) -> KeyHistory
    private let process: ServiceProcess

    /// - Parameters:
    ///   - process: the version and the start time.
    ///   - scrape: collects the metrics of all loops, as Prometheus text.
    ///   - verdicts: collects the verdicts of all loops.
    ///   - history: the recent events of a provider's keys, by the provider's ID.
    init(
        _ service: ServiceLoop, process: ServiceProcess, scrape: @escaping @Sendable () -> EventLoopFuture<[UInt8]>,
        verdicts: @escaping @Sendable () -> EventLoopFuture<Verdicts>,
        history: @escaping @Sendable (String) -> KeyHistory
    ) {
        self.service = service
        self.process = process
        self.scrape = scrape
        self.verdicts = verdicts
        self.history = history
    }

    var isStopping: Bool { service.stage == .stopping }

    func route(_ head: RequestHead) -> HeadRouting {
        HeadRouting(bodyLimit: service.settings.maximumBody, route: Route.admin(head.path).rawValue)
    }

    func respond(to request: FailedRequest) -> HTTPResponse {
        service.response(to: request, request.routing.map(Route.init), on: .admin)
    }

    func respond(to request: HTTPRequest) -> HTTPReply {
        let route = Route(request.routing)
        var record = service.begin(route, request, on: .admin)
        do throws(Problem) {
            if let hosts = service.settings.operatorHosts, request.head.fields.isForForeignHost(besides: hosts) {
                throw .requestInvalid(
                    "This listener accepts only localhost and IP addresses as Host; add other names to admin.hosts.")
            }
            guard !route.belongsToConsole || service.settings.servesConsole else { throw Problem.consoleOff }
            guard route != .unknown else { throw Problem.notFoundByAdmin(paths: Route.pathsOfAdmin) }
            try route.check(request.head.method)
            try admit(request.head, to: route, &record.keyName)
            if route == .explain {
                return try explain(ExplainRequest(request.jsonObject(), service.proofChecks), record)
            }
        } catch {
            return .now(service.end(record, error))
        }
        switch route {
        case .live: return .now(service.live(record))
        case .ready: return .now(service.ready(record))
        case .metrics:
            return later(self.scrape(), record) { text in
                self.service.end(record, .ok, "text/plain; version=0.0.4; charset=utf-8", text)
            }
        case .providers: return listProviders(record)
        case .refresh: return refresh(request, record)
        case .events: return .now(listEvents(record))
        case .verdicts:
            return later(self.verdicts(), record) { verdicts in
                self.service.end(record, json: self.service.json { verdicts.write(to: &$0) })
            }
        case .root: return .now(redirectToConsole(record))
        default:
            guard let file = route.consoleFile else {
                return .now(service.end(record, Problem.notFoundByAdmin(paths: Route.pathsOfAdmin)))
            }
            return .now(
                service.end(record, .ok, file.contentType, constant: file.content, headers: Console.headers))
        }
    }

    /// Authenticates the caller. Probes and scrapes need no API key, since they return no secrets. The console's own
    /// files need none either, since a browser can't send a key with a navigation.
    ///
    /// - Parameter keyName: becomes the name of the caller's API key, if one is required.
    private func admit(_ head: RequestHead, to route: Route, _ keyName: inout String?) throws(Problem) {
        switch route {
        case .live, .ready, .metrics: return
        default: break
        }
        if !route.belongsToConsole {
            try service.settings.operatorKeys.admit(head.fields, to: route.permissions, &keyName)
        }
        if head.method == .post, head.fields.isCrossSite {
            throw .requestInvalid(
                "Pages of other sites may not send this request (Origin, Sec-Fetch-Site); send it from the console or from a tool."
            )
        }
    }

    /// Relative, like all URLs of the page: a proxy may serve it under a path prefix.
    private func redirectToConsole(_ record: RequestRecord) -> HTTPResponse {
        service.end(
            record, .found, "text/plain; charset=utf-8", Array("The console is at console.\n".utf8),
            headers: [("Location", "console")])
    }

    private static let listedEvents = 1000

    private func listEvents(_ record: RequestRecord) -> HTTPResponse {
        let ids = service.verifier.providers.map(\.provider.policy.id)
        let events = ids.flatMap { id in history(id).entries.map { (provider: id, entry: $0) } }
        // Newest first. Within the same second, the later entry first.
        let newestFirst = events.enumerated().sorted {
            ($0.element.entry.at, $0.offset) > ($1.element.entry.at, $1.offset)
        }
        let text = service.json { json in
            json.object { json in
                json.array("events", newestFirst.prefix(Self.listedEvents)) {
                    $1.element.entry.write(to: &$0, provider: $1.element.provider)
                }
            }
        }
        return service.end(record, json: text)
    }

    private func listProviders(_ record: RequestRecord) -> HTTPReply {
        let providers = service.verifier.providers.map(\.provider)
        let loop = service.loop
        return later(
            EventLoopFuture.whenAllSucceed(providers.map { $0.keys.status() }, on: loop), record
        ) { statuses in
            let text = self.service.json { json in
                json.object { json in
                    json.array("providers", zip(providers, statuses)) { $1.1.write(to: &$0, $1.0) }
                    json.object("service") { json in
                        json.member("version", self.process.version)
                        json.member("started_at", self.process.startedAtUnixSeconds)
                    }
                }
            }
            return self.service.end(record, json: text)
        }
    }

    private func refresh(_ request: HTTPRequest, _ record: RequestRecord) -> HTTPReply {
        let id = Route.providerToRefresh(request.head.path)
        guard let (number, provider) = id.flatMap(service.verifier.provider) else {
            return .now(service.end(record, service.verifier.unknownProvider(named: id)))
        }
        let need: KeyStore.StateMachine.FetchReason
        do throws(Problem) {
            need = .refresh(dropsOmitted: try Self.dropsOmitted(request.head.query.string))
        } catch {
            return .now(service.end(record, error, provider: number))
        }
        let deadline = SystemClocks.monotonic() + Self.refreshTimeout
        let refreshed = { provider.keys.wait(for: need, judgedBy: 0, until: deadline) }
        return later(refreshed().flatMap { _ in provider.keys.status() }, record) { status in
            guard status.snapshot?.isUsable(at: status.now) == true else {
                let pause = status.nextFetchIn.map { max($0.secondsRoundedUp, 1) } ?? 1
                return self.service.end(record, Problem.keysUnavailable(retryAfterSeconds: pause), provider: number)
            }
            return self.service.end(record, json: self.service.json { status.write(to: &$0, provider) })
        }
    }

    /// What a refresh does with keys that are missing from the response.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)`` for any other query: a typo must not change which keys are dropped.
    private static func dropsOmitted(_ query: String) throws(Problem) -> Bool {
        switch query {
        case "", "drop_omitted=false": false
        case "drop_omitted=true": true
        default: throw .requestInvalid("The only query parameter of a refresh is drop_omitted, true or false.")
        }
    }

    /// Explains a verification or a policy's decision. Fetches keys in the same cases, but counts as neither.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    private func explain(_ request: ExplainRequest, _ record: RequestRecord) throws(Problem) -> HTTPReply {
        let deadline = SystemClocks.monotonic() + service.settings.keysTimeout
        let explain = try service.verifier.explanation(
            of: request, service.forwardAuth, until: deadline)
        return .later {
            let explained = await explain()
            switch explained.answer {
            case .success(let answer):
                let text = self.service.json { answer.write(to: &$0) }
                return self.service.end(record, .ok, "application/json", text, provider: explained.provider)
            case .failure(let problem): return self.service.end(record, problem, provider: explained.provider)
            }
        }
    }

    /// Waits for a value from another loop, and creates the response.
    private func later<Value: Sendable>(
        _ future: @escaping @autoclosure () -> EventLoopFuture<Value>, _ record: RequestRecord,
        _ respond: @escaping (Value) -> HTTPResponse
    ) -> HTTPReply {
        .later { respond(try await future().get()) }
    }
}

@available(*, unavailable) extension AdminResponder: Sendable {}

/// Information about the process for operators.
struct ServiceProcess: Sendable {
    let version: String
    let startedAtUnixSeconds: Int64
}

extension KeyStatus {
    /// Writes a provider's settings and the state of its keys, as far as operators may see them. None of it is secret.
    fileprivate func write(to json: inout JSONWriter, _ provider: Provider) {
        json.beginObject()
        json.member("id", provider.policy.id)
        json.member("issuer", provider.policy.issuer)
        json.array("audiences", provider.policy.audiences)
        json.member("state", KeyState(snapshot, at: now).rawValue)
        json.member("optional", provider.isOptional)
        json.member("source", snapshot?.source.rawValue)
        let keys = snapshot?.keys.keys ?? []
        let firstOmitted = keys.count - (snapshot?.omittedKeyCount ?? 0)
        json.objects("keys", keys.enumerated()) { json, entry in
            let (index, key) = entry
            json.member("kid", key.keyID)
            json.member("kty", key.keyType)
            json.member("crv", key.curve)
            json.member("alg", key.algorithm)
            json.member("use", key.use)
            json.member("usable", key.isUsable)
            json.member("omitted", index >= firstOmitted)
        }
        json.member("keys_hash", snapshot?.fingerprint)
        json.member("fetched_at", snapshot?.fetchedAtUnixSeconds)
        json.member("next_fetch_at", nextFetchAt(unixSeconds: SystemClocks.unixSeconds()))
        json.name("last_error")
        writeLastError(to: &json)
        json.endObject()
    }
}

/// Detects browsers by a request's header fields.
extension HTTPFields {
    /// Whether a browser sent the request for a page of another site.
    ///
    /// Uses Fetch Metadata, which pages can't forge. If a browser doesn't send it, `Origin` is used (RFC 6454, section
    /// 7). Other clients send neither.
    var isCrossSite: Bool {
        let sites = all("Sec-Fetch-Site")
        guard sites.isEmpty else {
            return !(sites.count == 1 && sites.allSatisfy { $0 == "same-origin" || $0 == "none" })
        }
        let origins = all("Origin")
        guard let origin = origins.first else { return false }
        guard origins.count == 1, let host = self["Host"]?.string.lowercased() else { return true }
        let text = origin.string.lowercased()
        return text != "http://" + host && text != "https://" + host
    }

    /// Whether the request's host is other than `localhost`, an IP address, or one of these names. An attacker can
    /// point their own domain name at this listener (DNS rebinding).
    ///
    /// - Parameter names: in lower case.
    func isForForeignHost(besides names: [String]) -> Bool {
        guard let host = hostName, host != "localhost", !names.contains(where: { host == $0 }) else { return false }
        return !host.isIPAddress
    }

    /// Whether the request's host is a name that someone could register, and point at this listener (DNS rebinding).
    ///
    /// Names without a dot and those that end in `.test`, `.localhost` (RFC 6761) or `.internal` can't be registered:
    /// they are what containers and tests call each other.
    var isForPublicHost: Bool {
        guard let host = hostName, host.contains("."),
            ![".test", ".localhost", ".internal"].contains(where: host.hasSuffix)
        else { return false }
        return !host.isIPAddress
    }

    /// The request's host in lower case, without a port or brackets; `nil` if there is none.
    private var hostName: Substring? {
        guard var host = self["Host"]?.string.lowercased()[...] else { return nil }
        if let colon = host.lastIndex(of: ":"), host[colon...].dropFirst().allSatisfy(\.isNumber), !host.hasSuffix("]")
        {
            host = host[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return host.isEmpty ? nil : host
    }
}

extension Substring {
    fileprivate var isIPAddress: Bool { (try? SocketAddress(ipAddress: String(self), port: 0)) != nil }
}
