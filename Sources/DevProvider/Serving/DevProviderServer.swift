package import HTTP
package import IDToken
internal import NIOCore
private import NIOPosix

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
