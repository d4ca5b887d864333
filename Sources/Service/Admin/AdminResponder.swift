internal import HTTP
private import IDToken
internal import JOSE
internal import Keys
internal import NIOCore
internal import NIOHTTP1
internal import SignIns
internal import Verification

/// Serves the admin listener on one event loop: endpoints for operators and their tools.
final class AdminResponder: HTTPResponder {
    let service: ServiceLoop
    let process: ProcessReport

    init(_ service: ServiceLoop, _ process: ProcessReport) {
        self.service = service
        self.process = process
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
                let request = try ExplainRequest(
                    request.jsonObject(), service.proofChecks, for: service.verifier.resources)
                return try explain(request, record)
            }
        } catch {
            return .now(service.end(record, error))
        }
        switch route {
        case .live: return .now(service.live(record))
        case .ready: return .now(service.ready(record))
        case .metrics:
            return later(self.process.metrics(), record) { text in
                self.service.end(record, .ok, "text/plain; version=0.0.4; charset=utf-8", text)
            }
        case .providers: return listProviders(request, record)
        case .refresh: return refresh(request, record)
        case .events: return .now(listEvents(record))
        case .verdicts:
            return later(self.process.verdicts(), record) { verdicts in
                self.service.end(record) { verdicts.write(to: &$0) }
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
        if case .keys(let permissions) = route.access {
            try service.settings.operatorKeys.admit(head.fields, to: permissions, &keyName)
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
        let ids = service.verifier.providers.map(\.policy.id)
        let events = ids.flatMap { id in process.history(id).entries.map { (provider: id, entry: $0) } }
        // Newest first. Within the same second, the later entry first.
        let newestFirst = events.enumerated().sorted {
            ($0.element.entry.at, $0.offset) > ($1.element.entry.at, $1.offset)
        }
        return service.end(record) { json in
            json.object { json in
                json.array("events", newestFirst.prefix(Self.listedEvents)) {
                    $1.element.entry.write(to: &$0, provider: $1.element.provider)
                }
            }
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
                return self.service.end(record, provider: explained.provider) { answer.write(to: &$0) }
            case .failure(let problem): return self.service.end(record, problem, provider: explained.provider)
            }
        }
    }

    /// Waits for a value from another loop, and creates the response.
    func later<Value: Sendable>(
        _ future: @escaping @autoclosure () -> EventLoopFuture<Value>, _ record: RequestRecord,
        _ respond: @escaping (Value) -> HTTPResponse
    ) -> HTTPReply {
        .later { respond(try await future().get()) }
    }
}

/// The numbers of tokens and sign-ins by verdict since the process started, the same as in the metrics.
struct Verdicts: Sendable {
    let metrics: LoopMetrics
    /// One per event loop; empty if nothing is single-use.
    let stores: [StoreStatus]
    /// Indexed by number.
    let providerIDs: [String]
    let features: ProviderFeatures
    /// Whether there are policies.
    let answersGateways: Bool

    func write(to json: inout JSONWriter) {
        json.object { json in
            write("verdicts", metrics.verifications, to: &json)
            if features.acceptsNotifications {
                json.objects("notifications", metrics.notifications) { json, each in
                    json.member("provider", each.label.provider.map { providerIDs[$0] })
                    json.member("kind", each.label.kind?.rawValue)
                    json.member("code", each.label.code)
                    json.member("count", Int64(each.count))
                }
            }
            if features.acceptsAccessTokens { write("access_tokens", metrics.accessTokens, to: &json) }
            if answersGateways {
                json.objects("forward_auth", metrics.forwardAuth) { json, each in
                    json.member("policy", each.label.policy)
                    json.member("code", each.label.code)
                    json.member("count", Int64(each.count))
                }
            }
            guard let health = stores.map(\.health).max() else { return }
            let begun = metrics.signInsBegun.map {
                (label: LoopMetrics.VerdictLabel(provider: $0.label, code: "begun"), count: $0.count)
            }
            write("sign_ins", begun + metrics.signInsFinished, as: "outcome", to: &json)
            json.object("store") { json in
                json.member("state", health.rawValue)
                json.member("entries", stores.compactMap(\.entries).max().map(Int64.init))
            }
        }
    }

    private func write(
        _ name: StaticString, _ verdicts: some Sequence<(label: LoopMetrics.VerdictLabel, count: Int)>,
        as code: StaticString = "code", to json: inout JSONWriter
    ) {
        json.objects(name, verdicts) { json, each in
            json.member("provider", each.label.provider.map { providerIDs[$0] })
            json.member(code, each.label.code)
            json.member("count", Int64(each.count))
        }
    }
}

/// What operators learn about the whole process.
struct ProcessReport: Sendable {
    let version: String
    let startedAtUnixSeconds: Int64
    /// Collects the metrics of all loops, as Prometheus text.
    let metrics: @Sendable () -> EventLoopFuture<[UInt8]>
    /// Collects the verdicts of all loops.
    let verdicts: @Sendable () -> EventLoopFuture<Verdicts>
    /// The recent events of a provider's keys, by the provider's ID.
    let history: @Sendable (String) -> KeyHistory
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
    fileprivate var isForPublicHost: Bool {
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

/// A page for operators on the admin listener. It shows what the other endpoints of that listener return.
enum Console {
    /// The page loads only its own script and style, connects only to this listener, and can't be framed. Text can't
    /// become markup (`require-trusted-types-for`).
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; \
        form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'
        """

    /// Header fields of the console's files, in addition to those of every response.
    static let headers: [(name: String, value: String)] = [
        ("Content-Security-Policy", policy),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    /// One of the console's files, which are built into the executable.
    struct File {
        let contentType: StaticString
        private let asset: Asset

        static let page = File(contentType: "text/html; charset=utf-8", asset: .consolePage)
        static let style = File(contentType: "text/css; charset=utf-8", asset: .consoleStyle)
        static let script = File(contentType: "text/javascript; charset=utf-8", asset: .consoleScript)

        // Not kept, because every request reads the rows of the routes, which have these files.
        var content: ByteBuffer { ByteBuffer(bytes: asset.bytes) }
    }
}

/// Serves the service listener of `assay dev`: refuses requests for a host name that someone could register.
///
/// It is around the usual responder, so that requests cost nothing where there is no such rule.
final class LocalHostsResponder: HTTPResponder {
    private let responder: ServiceResponder

    init(_ responder: ServiceResponder) { self.responder = responder }

    var isStopping: Bool { responder.isStopping }

    func route(_ head: RequestHead) -> HeadRouting { responder.route(head) }

    func respond(to request: FailedRequest) -> HTTPResponse { responder.respond(to: request) }

    func respond(to request: HTTPRequest) -> HTTPReply {
        let route = Route(request.routing)
        // Gateways ask about requests for their own, public hosts, and so do clients for a resource's metadata.
        guard request.head.fields.isForPublicHost, route != .forwardAuth, route != .wellKnownMetadata else {
            return responder.respond(to: request)
        }
        let service = responder.service
        let problem = Problem.requestInvalid(
            "Host names a public host, and a page on the Internet could send this; use localhost, an IP address, or a name without a dot or in .test or .internal."
        )
        return .now(service.end(service.begin(route, request, on: .service), problem))
    }
}
