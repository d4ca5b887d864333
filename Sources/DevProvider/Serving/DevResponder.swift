private import Bytes
package import HTTP
package import IDToken
internal import JOSE
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import OpenSSL

/// Answers the requests of a development provider. Confined to its only event loop.
final class DevResponder: HTTPResponder {
    let loop: any EventLoop
    let calls: DevCalls
    /// The origin of the providers' URLs.
    private(set) var origin = ""
    var providers = EmulatedProviders()
    var people = People()

    init(on loop: any EventLoop, _ calls: DevCalls) {
        self.loop = loop
        self.calls = calls
    }

    var isStopping: Bool { false }

    /// - Parameter providers: the providers created from `settings`.
    func serve(_ settings: [DevProviderSettings], _ providers: [EmulatedProvider], origin: String) {
        self.origin = origin
        self.providers = EmulatedProviders(settings, providers, origin: origin)
    }

    var settings: [DevProviderSettings] { providers.settings }

    /// Generates a key on another thread.
    func makeKey(_ provider: DevProviderSettings) -> EventLoopFuture<SigningKey> {
        NIOThreadPool.singleton.runIfActive(eventLoop: loop) { try provider.makeKey() }
    }

    func route(_ head: RequestHead) -> HeadRouting { HeadRouting(bodyLimit: 64 * 1024) }

    func respond(to request: FailedRequest) -> HTTPResponse {
        .error(.badRequest, "the request can't be read")
    }

    func respond(to request: HTTPRequest) -> HTTPReply {
        if let refusal = refusal(of: request) { return .now(refusal) }
        let path = request.head.path.string
        if let common = common(path, request) { return common }
        let ofWellKnown = Self.issuerPath(ofWellKnown: path)
        do {
            guard let (id, rest) = try providers.provider(at: ofWellKnown ?? path) else {
                let known = settings.map { "/\($0.shown.id)" }.joined(separator: ", ")
                return .now(.error(.notFound, "there is no such page; the providers are \(known)"))
            }
            return reply(to: request, ofWellKnown == nil ? rest : "/.well-known/openid-configuration", id)
        } catch {
            return .now(.error(.internalServerError, "no key could be generated"))
        }
    }

    /// The issuer's own path, if the path is that of its metadata with the well-known part before it.
    ///
    /// - Source: RFC 8414, section 3.1.
    private static func issuerPath(ofWellKnown path: String) -> String? {
        for name in ["oauth-authorization-server", "openid-configuration"] {
            let prefix = "/.well-known/\(name)/"
            if path.hasPrefix(prefix) { return "/" + path.dropFirst(prefix.count) }
        }
        return nil
    }

    /// Refuses requests meant for another host, and all but GET, HEAD and OPTIONS from another site's page. Neither
    /// should be able to sign anything, or to change what a test sees. Signing out changes nothing here, and a relying
    /// party's form may ask for it.
    private func refusal(of request: HTTPRequest) -> HTTPResponse? {
        let fields = request.head.fields
        guard let host = fields.only("Host").flatMap({ HostName($0.string) }), host.isOfDevelopment else {
            return .error(
                .misdirectedRequest, "Host must be localhost, a loopback address, or a name that ends in .test")
        }
        let isRead =
            [.get, .head, .options].contains(request.head.method) || request.head.path.string.hasSuffix("/logout")
        // Over plain HTTP, browsers send Sec-Fetch-Site only to loopback, but Origin with every POST.
        let site = fields["Sec-Fetch-Site"]?.string ?? "none"
        let origin = fields["Origin"]?.string
        let isOwn =
            ["same-origin", "none"].contains(site)
            && (origin == nil || origin == "http://\(fields["Host"]?.string ?? "")")
        guard !isRead, !isOwn else { return nil }
        return .error(.forbidden, "the page of another site sent this request")
    }

    /// The pages and endpoints that belong to no single provider.
    private func common(_ path: String, _ request: HTTPRequest) -> HTTPReply? {
        switch (path, request.head.method) {
        case ("/", .get): .now(homePage())
        case ("/assets/dev.css", .get): .now(.file("text/css; charset=utf-8", Asset.devStyle.bytes))
        case ("/assets/submit.js", .get): .now(.file("text/javascript; charset=utf-8", Asset.devSubmitScript.bytes))
        case ("/people", .get): .now(.json(.array(people.all.map(\.json))))
        case ("/faults", .get): .now(.json(faultList()))
        case ("/faults", .post), ("/rotate", .post), ("/reset", .post), ("/people", .post):
            control(path, request)
        case ("/faults", _), ("/rotate", _), ("/reset", _), ("/people", _):
            .now(.error(.methodNotAllowed, "use POST for \(path)"))
        default: nil
        }
    }
}

@available(*, unavailable) extension DevResponder: Sendable {}

/// The host of a URL or of a request, in lower case and without a port.
struct HostName {
    private let name: String

    /// - Parameter authority: a host with an optional port, as in the field `Host`; `nil` if it is not one.
    init?(_ authority: some StringProtocol) {
        var host = authority.lowercased()[...]
        let isLiteral = host.hasPrefix("[")
        if let colon = host.lastIndex(of: ":"), !isLiteral || host[..<colon].hasSuffix("]") {
            guard host[host.index(after: colon)...].utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            host = host[..<colon]
        }
        let allowed = isLiteral ? ":.[]" : "-."
        guard !host.isEmpty, host.utf8.allSatisfy({ $0.isLetterOrDigit || allowed.utf8.contains($0) }) else {
            return nil
        }
        name = String(host)
    }

    /// The host of an absolute `http` or `https` URL.
    init?(ofURL url: String) {
        guard let scheme = ["http://", "https://"].first(where: url.hasPrefix) else { return nil }
        self.init(url.dropFirst(scheme.count).prefix { !"/?#\\".contains($0) })
    }

    /// Whether this is a loopback host, or a name that is reserved for tests (RFC 6761, sections 6.2 and 6.3).
    var isOfDevelopment: Bool {
        name == "localhost" || name == "[::1]" || name.hasSuffix(".test") || name.hasSuffix(".localhost")
            || isLoopbackAddress
    }

    /// Whether a development issuer may use it: it must not be mistaken for a real provider's host.
    fileprivate var isOfIssuer: Bool { name == "127.0.0.1" || name.hasSuffix(".test") }

    private var isLoopbackAddress: Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}

/// Stands in for OpenID Providers in development and tests. It signs anything that it is asked to sign, with keys that
/// it generates at each start. Never trust it in production.
package final class DevProviderServer: Sendable {
    private let listener: HTTPListener
    private let responder: NIOLoopBound<DevResponder>
    private let loop: any EventLoop
    /// The address on which it listens, such as `127.0.0.1:9400`.
    package let address: String
    /// The origin of its providers' URLs.
    package let origin: String

    /// Starts to listen.
    ///
    /// - Parameter origin: `nil`: the address, or 127.0.0.1 if it listens on all addresses.
    /// - Throws: an I/O error if the address can't be used.
    package static func start(
        _ listen: ListenAddress, origin: String? = nil, calls: DevCalls
    ) async throws -> DevProviderServer {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let responder = try await loop.submit { NIOLoopBound(DevResponder(on: loop, calls), eventLoop: loop) }.get()
        let listener = try await HTTPListener.bind(
            listen, on: group, acceptor: loop, limits: ListenerLimits(), unixSeconds: SystemClocks.unixSeconds
        ) { _ in responder.value }
        return DevProviderServer(listener, responder, loop, origin: origin)
    }

    private init(
        _ listener: HTTPListener, _ responder: NIOLoopBound<DevResponder>, _ loop: any EventLoop, origin: String?
    ) {
        self.listener = listener
        self.responder = responder
        self.loop = loop
        address = listener.address
        let port = listener.address.split(separator: ":").last ?? ""
        let isEverywhere = ["0.0.0.0:", "[::]:"].contains(where: listener.address.hasPrefix)
        self.origin = origin ?? "http://" + (isEverywhere ? "127.0.0.1:\(port)" : listener.address)
    }

    /// The issuer that stands in for a provider's issuer. If that has a tenant placeholder, this one has it too.
    package func issuer(of policy: ProviderPolicy) -> String {
        let base = "\(origin)/\(policy.id)"
        guard let template = policy.issuerTemplates?.first else { return base }
        return "\(base)/{\(template.claim.string)}/v2.0"
    }

    /// The redirect URI of sign-ins that start on a development provider's own pages. Clients in the settings must list
    /// it.
    package func callback(of provider: String) -> String { Self.callback(of: provider, at: origin) }

    static func callback(of provider: String, at origin: String) -> String { "\(origin)/\(provider)/callback" }

    /// Whether a text can be ``origin``: an http URL of 127.0.0.1 or of a name that ends in `.test`, without a path.
    package static func isOrigin(_ text: String) -> Bool {
        text.hasPrefix("http://") && !text.dropFirst("http://".count).contains { "/?#".contains($0) }
            && HostName(ofURL: text)?.isOfIssuer == true
    }

    /// Stands in for these providers from now on.
    ///
    /// - Throws: ``OpenSSLError`` if a key can't be generated.
    package func serve(_ settings: [DevProviderSettings]) async throws {
        // Generating an RSA key takes about 80 ms of CPU time.
        let providers = try await withThrowingTaskGroup { [origin] group in
            for provider in settings {
                group.addTask {
                    let key = try await NIOThreadPool.singleton.runIfActive { try provider.makeKey() }
                    return try EmulatedProvider(provider, origin: origin, key: key)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        try await loop.submit { [responder, origin] in
            responder.value.serve(settings, providers, origin: origin)
        }.get()
    }

    package func stop() async { await listener.close() }

    /// IDs that a provider can't have, because the server uses them as paths.
    package static let reservedNames = ["assets", "faults", "people", "reset", "rotate"]
}

/// The calls that a development provider makes: to the service beside it, and to backends that receive notifications.
package struct DevCalls: Sendable {
    /// Posts a JSON object to the service; `nil` if it does not answer.
    let service: @Sendable (_ path: String, _ body: [UInt8]) async -> Answer?
    /// Posts a request to `POST /v1/explain` of the admin listener; `nil` if it does not answer.
    let explain: @Sendable (_ body: [UInt8]) async -> Answer?
    /// Posts a notification; `nil` if nothing answers.
    let deliver: @Sendable (_ url: String, _ contentType: String, _ body: [UInt8]) async -> Answer?

    /// Whether notifications may go to other machines.
    let deliversAnywhere: Bool

    package init(
        deliversAnywhere: Bool,
        service: @escaping @Sendable (_ path: String, _ body: [UInt8]) async -> Answer?,
        explain: @escaping @Sendable (_ body: [UInt8]) async -> Answer?,
        deliver: @escaping @Sendable (_ url: String, _ contentType: String, _ body: [UInt8]) async -> Answer?
    ) {
        self.deliversAnywhere = deliversAnywhere
        self.service = service
        self.explain = explain
        self.deliver = deliver
    }

    package struct Answer: Sendable {
        let status: Int
        let body: [UInt8]

        package init(status: Int, body: [UInt8]) {
            self.status = status
            self.body = body
        }
    }
}
