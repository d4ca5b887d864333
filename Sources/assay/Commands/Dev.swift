import ArgumentParser
import Bytes
import DevProvider
import FoundationEssentials
import Glibc
import HTTP
import IDToken
import JOSE
import Keys
import NIOHTTP1
import Service
import Settings
import Synchronization

struct Dev: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the service with development providers: whole sign-ins without a network or an account.",
        discussion: """
            Stands in for every provider of --config: the same client IDs, nonce rules and claims, with keys of its own. \
            The files with secrets and private keys that the settings name are not opened, and any client secret is accepted. \
            Without --config: Apple, Google, Microsoft and an OpenID Provider.

            Prints the page to open, the console, and a curl command. Without --log, standard error has only warnings \
            and errors. Anyone can sign in as anyone, so it listens on loopback only.
            """, subcommands: [Token.self])

    @Option(
        name: .customLong("config"),
        help: ArgumentHelp("The settings to develop with. Without it, four providers.", valueName: "file"))
    var path: String?

    @Option(help: "Where the service listens. With port 0, the system chooses all ports. Default: 127.0.0.1:8080.")
    var listen: String?

    @Option(help: "Where the admin listener listens. Default: port 9090.")
    var adminListen: String?

    @Option(help: "Where the providers listen. Default: port 9400.")
    var issuerListen: String?

    @Option(
        help: ArgumentHelp(
            "What the providers' URLs begin with, such as http://provider.test:9400. Default: http://127.0.0.1 and the port.",
            valueName: "url"))
    var issuerOrigin: String?

    @Option(
        help:
            "Without --config: the origin of a backend whose users sign in through the browser. The redirect URIs are ORIGIN/callback/ and the provider."
    )
    var origin = "http://localhost:8000"

    @Option(
        help: ArgumentHelp(
            "Stand in for this many issuers: of each provider in --config that has issuers or issuers_file; without --config, of the provider connections. Each is at /PROVIDER/1, /PROVIDER/2 and so on.",
            valueName: "number"))
    var issuers: Int?

    @Flag(help: "Allow addresses that other machines can reach, for containers. The default is then 0.0.0.0.")
    var allowRemote = false

    @Flag(help: "Print one line of JSON instead, once the service is ready.")
    var json = false

    @Flag(help: "Print a web app in Python that signs in here, and exit: assay dev --sample > sample.py.")
    var sample = false

    @Flag(
        help:
            "Write the service's log to standard error, one JSON object per line.")
    var log = false

    func validate() throws {
        _ = try DevAddresses(self)
        guard (1...DevIssuers.maximum).contains(issuers ?? 1) else {
            throw ValidationError("--issuers must be 1 to \(DevIssuers.maximum)")
        }
    }

    func run() async throws {
        guard !sample else {
            print(String(decoding: Asset.sample.bytes, as: UTF8.self), terminator: "")
            return
        }
        let addresses = try DevAddresses(self)
        let team = try teamSettings()
        let listening = Mutex<(service: ListenAddress?, admin: ListenAddress?)>((nil, nil))
        let provider: DevProviderServer
        do {
            provider = try await DevProviderServer.start(
                addresses.issuer, origin: issuerOrigin,
                calls: .calls(
                    deliversAnywhere: allowRemote, service: { listening.withLock { $0.service } },
                    admin: { listening.withLock { $0.admin } }))
        } catch {
            throw ConfigurationError("--issuer-listen: \(error)")
        }
        let development = try DevelopmentSettings(
            team, provider, service: addresses.service, admin: addresses.admin,
            issuers: issuers ?? DevIssuers.usualCount)
        try await provider.serve(development.providers)
        var settings = development.settings
        if !log {
            settings.log.level = .warning
            settings.log.requests = .none
        }
        // These settings are right for a development provider, and the user can't change them.
        let application = try Application(settings, credentials: development.credentials, tellsOfRisks: false)
        application.log.write(
            .info, "listening", [("listener", .text("issuer")), ("address", .text(provider.address))])
        try await application.run(addressSource: { $0 == .service ? "--listen" : "--admin-listen" }) { server in
            listening.withLock { $0 = (ListenAddress(server.serviceAddress), ListenAddress(server.adminAddress)) }
            await ListenAddress(server.adminAddress)?.waitUntilReady()
            let started = DevAnnouncement(
                service: server.serviceAddress, admin: server.adminAddress, provider: provider,
                providers: development.providers, origin: path == nil ? origin : nil)
            print(json ? started.json : started.text)
            // A pipe is not flushed at each line, and its reader may be waiting for these.
            fflush(nil)
        }
        await provider.stop()
    }

    private func teamSettings() throws -> Settings {
        if let path {
            let file = SettingsFile(path: path, environment: ProcessInfo.processInfo.environment)
            let settings = try file.settings(file.content)
            guard issuers == nil || settings.providers.contains(where: { $0.issuers != nil }) else {
                throw ConfigurationError(
                    "--issuers: no provider in \(path) has issuers or issuers_file; omit the option, or add one")
            }
            return settings
        }
        guard isOrigin(origin), let settings = try? Settings.development(origin: origin, hasConnections: issuers != nil)
        else {
            throw ValidationError("--origin must be a scheme, a host and a port, such as http://localhost:8000")
        }
        return settings
    }

    private func isOrigin(_ text: String) -> Bool {
        guard let scheme = ["http://", "https://"].first(where: text.hasPrefix) else { return false }
        let authority = text.dropFirst(scheme.count)
        return !authority.isEmpty
            && authority.utf8.allSatisfy { $0.isVisibleASCII && !"/?#@\"\\".utf8.contains($0) }
    }
}

/// The addresses of `assay dev`: loopback only, unless others are allowed.
private struct DevAddresses {
    let service: ListenAddress
    let admin: ListenAddress
    let issuer: ListenAddress

    /// - Throws: `ValidationError`.
    init(_ options: Dev) throws {
        let usual = options.allowRemote ? "0.0.0.0" : "127.0.0.1"
        let (service, isPortChosen) = try Self.address(
            options.listen ?? "\(usual):8080", "--listen", allowRemote: options.allowRemote)
        self.service = service
        func other(_ text: String?, _ option: String, port: Int) throws -> ListenAddress {
            try Self.address(text ?? "\(usual):\(isPortChosen ? port : 0)", option, allowRemote: options.allowRemote).0
        }
        admin = try other(options.adminListen, "--admin-listen", port: 9090)
        issuer = try other(options.issuerListen, "--issuer-listen", port: 9400)
        guard case .network(let host, _) = issuer, ["127.0.0.1", "0.0.0.0"].contains(host) else {
            throw ValidationError(
                "--issuer-listen must be 127.0.0.1 with a port; with --allow-remote, 0.0.0.0 with a port")
        }
        if let origin = options.issuerOrigin, !DevProviderServer.isOrigin(origin) {
            throw ValidationError(
                "--issuer-origin must be http://, then 127.0.0.1 or a name that ends in .test, and a port")
        }
    }

    /// - Returns: also whether the port is fixed.
    private static func address(
        _ text: String, _ option: String, allowRemote: Bool
    ) throws -> (ListenAddress, isPortChosen: Bool) {
        guard let listen = ListenAddress(text) else {
            throw ValidationError("\(option) must be an address such as 127.0.0.1:8080; found \"\(text)\"")
        }
        guard allowRemote || listen.isLocal else {
            throw ValidationError(
                "\(option) must be a loopback address such as 127.0.0.1:8080, because anyone can sign in here as anyone; for a container, add --allow-remote"
            )
        }
        if case .network(_, port: 0) = listen { return (listen, false) }
        return (listen, true)
    }
}

/// The output of `assay dev` once it has started.
private struct DevAnnouncement {
    /// The addresses of the listeners.
    let service: String
    let admin: String
    let provider: DevProviderServer
    let providers: [DevProviderSettings]
    /// The origin of the backend whose users sign in through the browser; `nil` if the settings list redirect URIs.
    let origin: String?

    /// For people: the page to open, the console, and a command to paste.
    var text: String {
        """
        Sign in   \(provider.origin)/
        Console   \(Self.url(admin))/console
        Clients   \(clients)
        Try       \(command)
        """
    }

    /// The first audience of each provider, which a backend's sign-ins name, and where it may send browsers back to.
    private var clients: String {
        let named = providers.map(\.shown).filter { !$0.policy.audiences.isEmpty }
        let ids = named.map { "\($0.policy.id) \($0.policy.audiences[0])" }.joined(separator: ", ")
        return origin.map { "\(ids); for a backend at \($0)" } ?? ids
    }

    /// Gets a token from the first provider, and verifies it.
    private var command: String {
        let first = providers.first
        let path = first?.accessTokens == nil ? "/v1/verify" : "/v1/access-tokens/verify"
        return "curl -s \(provider.origin)/\(first?.page ?? "")/token -d '{}' | "
            + "curl -s \(Self.url(service))\(path) -H 'Content-Type: application/json' -d @-"
    }

    /// For tools: one line.
    var json: String {
        var json = JSONWriter()
        json.object { json in
            json.member("page", provider.origin + "/")
            json.member("console", Self.url(admin) + "/console")
            json.member("service", Self.url(service))
            json.member("admin", Self.url(admin))
            json.member("provider", provider.origin)
            json.objects("providers", providers) { json, provider in
                let shown = provider.shown
                json.member("id", provider.policy.id)
                json.member("preset", provider.preset)
                json.member("issuer", shown.policy.issuer)
                json.member("url", "\(self.provider.origin)/\(shown.policy.id)")
                json.array("audiences", shown.policy.audiences)
                if let issuers = provider.issuers { json.member("issuers", Int64(issuers.count)) }
            }
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// The URL of a listener, as a client on this machine reaches it.
    private static func url(_ address: String) -> String {
        for everywhere in ["0.0.0.0:", "[::]:"] where address.hasPrefix(everywhere) {
            return "http://127.0.0.1:" + address.dropFirst(everywhere.count)
        }
        return address.hasPrefix("unix:") ? address : "http://" + address
    }
}

extension DevCalls {
    /// Calls over HTTP.
    ///
    /// - Parameters:
    ///   - service: the address of the service listener, once it listens.
    ///   - admin: that of the admin listener.
    static func calls(
        deliversAnywhere: Bool, service: @escaping @Sendable () -> ListenAddress?,
        admin: @escaping @Sendable () -> ListenAddress?
    ) -> DevCalls {
        DevCalls(deliversAnywhere: deliversAnywhere) { path, body in
            guard let address = service() else { return nil }
            return await post(path, to: address, "application/json", body)
        } explain: { body in
            guard let address = admin() else { return nil }
            return await post("/v1/explain", to: address, "application/json", body)
        } deliver: { url, type, body in
            guard let url = try? FetchURL(url, allowingHTTP: true), !url.isSecure else { return nil }
            return await post(url.requestTarget, to: .network(host: url.host, port: url.port), type, body)
        }
    }

    private static func post(
        _ path: String, to address: ListenAddress, _ contentType: String, _ body: [UInt8]
    ) async -> Answer? {
        await address.post(body, to: path, as: contentType).map { Answer(status: $0.status, body: $0.body) }
    }
}

extension ListenAddress {
    /// Waits until the service has the keys of its providers, so that a test can begin at once, even one that injects
    /// faults into key fetches. Gives up after a few seconds.
    fileprivate func waitUntilReady() async {
        let limits = HTTPExchange.Limits(
            connectTimeout: .seconds(1), totalTimeout: .seconds(1), maximumBody: 64 * 1024)
        for _ in 0..<500 {
            guard await request(.GET, "/readyz", tls: nil, limits: limits).head?.status != .ok else { return }
            try? await Task.sleep(for: .milliseconds(10))
        }
    }
}
