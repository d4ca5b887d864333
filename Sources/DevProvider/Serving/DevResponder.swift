private import Bytes
internal import HTTP
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
    var isOfIssuer: Bool { name == "127.0.0.1" || name.hasSuffix(".test") }

    private var isLoopbackAddress: Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
