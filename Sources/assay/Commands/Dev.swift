import HTTPServer
import Telemetry
import ArgumentParser
import Service
import DevProvider
import Glibc
import Grants
import IDToken
import KeySource
import Notifications
import OpenSSL
import Settings

struct Dev: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the service with a development provider, to try it out.",
        discussion: """
            Needs no network, no account and no configuration. The provider signs any claims, with new keys at each \
            start. It listens on loopback only.

            Prints addresses and commands to paste. Without --log, standard error has only warnings and errors.
            """)

    @Option(help: "Where the service listens; loopback only.")
    var listen = "127.0.0.1:8080"

    @Option(help: "Where the admin listener listens; loopback only.")
    var adminListen = "127.0.0.1:9090"

    @Option(help: "Where the provider listens; loopback only.")
    var issuerListen = "127.0.0.1:9400"

    @Option(
        help:
            "The origin of a backend whose users sign in through the browser. Its redirect URIs are ORIGIN/callback/apple and ORIGIN/callback/google."
    )
    var origin = "http://localhost:8000"

    @Flag(
        help:
            "Write the service's log to standard error, one JSON object per line.")
    var log = false

    func run() async throws {
        let service = try loopback(listen, "--listen")
        let admin = try loopback(adminListen, "--admin-listen")
        guard case .network("127.0.0.1", let port) = try loopback(issuerListen, "--issuer-listen") else {
            throw ValidationError("--issuer-listen must be 127.0.0.1 with a port")
        }
        guard isOrigin(origin) else {
            throw ValidationError("--origin must be a scheme, a host and a port, such as http://localhost:8000")
        }
        let issuer: DevProviderServer
        do {
            issuer = try await DevProviderServer.start(port: port)
        } catch {
            throw ConfigurationError(text: "the development provider: \(error)")
        }
        var settings = Settings()
        settings.service = Settings.Listener(service)
        settings.admin = Settings.Listener(admin)
        settings.servesConsole = true
        settings.signIns = Settings.SignIns()
        settings.providers = DevProviderKind.allCases.map { provider($0, issuer) }
        if !log {
            settings.log.level = "warning"
            settings.log.requests = .none
        }
        // These settings are right for a loopback address, and the user can't change them.
        let application = try Application(settings, credentials: Self.credentials(), tellsOfRisks: false)
        application.log.write(.info, "listening", [("listener", .text("issuer")), ("address", .text(issuer.address))])
        try await application.run { server in
            print(
                Self.welcome(
                    server.serviceAddress, admin: server.adminAddress, issuer: issuer.address, origin: origin))
            // Also if standard output is a pipe, whose reader waits for these lines.
            fflush(nil)
        }
        await issuer.stop()
    }

    /// - Throws: `ValidationError` for an address that other machines could reach.
    private func loopback(_ text: String, _ option: String) throws -> ListenAddress {
        guard let listen = ListenAddress(text), listen.isLocal else {
            throw ValidationError(
                "\(option) must be a loopback address such as 127.0.0.1:8080: this is not for production")
        }
        return listen
    }

    private func isOrigin(_ text: String) -> Bool {
        guard let scheme = ["http://", "https://"].first(where: text.hasPrefix) else { return false }
        let authority = text.dropFirst(scheme.count)
        return !authority.isEmpty
            && authority.utf8.allSatisfy { (0x21...0x7e).contains($0) && !"/?#@\"\\".utf8.contains($0) }
    }

    private func provider(_ kind: DevProviderKind, _ issuer: DevProviderServer) -> ProviderSettings {
        let preset: ProviderPreset = kind == .apple ? .apple : .google
        var policy = preset.policy(
            id: kind.rawValue, issuer: issuer.issuer(of: kind), audiences: [DevProviderServer.audience(of: kind)])
        policy.issuerAliases = []
        var provider = ProviderSettings(policy: policy, keys: .discovery(of: policy))
        provider.network.allowHTTP = true
        provider.network.allowPrivateAddresses = true
        var client = OAuthClient(id: DevProviderServer.audience(of: kind))
        client.redirectURIs = ["\(origin)/callback/\(kind.rawValue)"]
        // Apple then posts its response as a form, with the name at the first sign-in.
        if kind == .apple { client.scopes = ["name", "email"] }
        provider.clients = [ClientSettings(client: client, authentication: .none)]
        provider.quirks = preset.facts(PresetArguments()).quirks
        provider.notifications = NotificationRules(kinds: kind == .apple ? [.apple] : [.securityEvent, .logout])
        return provider
    }

    /// What the clients authenticate with. There are no files: everything is made anew at each start.
    private static func credentials() throws -> [String: ClientCredential] {
        let key = try SigningKey(generating: .ellipticCurve(.p256))
        let apple = AppleClientSecret(key, teamID: "DEVTEAM000", keyID: "DEVKEY0000").map(ClientCredential.apple)
        let secret = try SecretBytes(DevProviderServer.clientSecret.utf8.span)
        return [
            DevProviderServer.audience(of: .apple): apple ?? .none,
            DevProviderServer.audience(of: .google): .secret(secret, sentIn: .post),
        ]
    }

    private static func welcome(_ service: String, admin: String, issuer: String, origin: String) -> String {
        """
        Assay is running with a development provider, for trying it out on this machine. Ctrl-C stops it.

            console   http://\(admin)/console   providers, keys, verdicts; paste a token to see why it is refused
            service   http://\(service)           POST /v1/verify, /v1/sign-ins, /v1/sign-ins/finish,
                                                      /v1/grants/refresh, /v1/grants/revoke, /v1/notifications/verify
            provider  http://\(issuer)           signs any token that you ask for
            backend   \(origin)           yours, for sign-ins in the browser: /callback/apple, /callback/google

        Paste these into another terminal:

        # an Apple-like token: the provider echoes the SHA-256 of the raw nonce, as the app would have sent it
        token=$(curl -s http://\(issuer)/apple/token -d '{"nonce":"n-0S6_WzA2Mj"}' | sed 's/.*"id_token":"\\([^"]*\\)".*/\\1/')
        curl -s http://\(service)/v1/verify -H 'Content-Type: application/json' -d "{\\"provider\\":\\"apple\\",\\"id_token\\":\\"$token\\",\\"nonce\\":\\"n-0S6_WzA2Mj\\"}"

        # the same token for another sign-in: refused
        curl -s http://\(service)/v1/verify -H 'Content-Type: application/json' -d "{\\"provider\\":\\"apple\\",\\"id_token\\":\\"$token\\",\\"nonce\\":\\"another\\"}"

        # a Google-like token with a claim of your choice
        curl -s http://\(issuer)/google/token -d '{"nonce":"abc","claims":{"email":"you@example.com"}}'

        # a sign-in with a code: begin, finish, and refresh the grant
        begun=$(curl -s http://\(service)/v1/sign-ins -H 'Content-Type: application/json' -d '{"provider":"google"}')
        code=$(curl -s http://\(issuer)/google/token -d "{\\"nonce\\":\\"$(echo "$begun" | sed 's/.*"nonce":"\\([^"]*\\)".*/\\1/')\\",\\"code\\":true}" | sed 's/.*"code":"\\([^"]*\\)".*/\\1/')
        finished=$(curl -s http://\(service)/v1/sign-ins/finish -H 'Content-Type: application/json' -d "{\\"sign_in\\":\\"$(echo "$begun" | sed 's/.*"sign_in":"\\([^"]*\\)".*/\\1/')\\",\\"code\\":\\"$code\\"}"); echo "$finished"
        curl -s http://\(service)/v1/grants/refresh -H 'Content-Type: application/json' -d "{\\"provider\\":\\"google\\",\\"subject\\":\\"110248495921238986420\\",\\"refresh_token\\":\\"$(echo "$finished" | sed 's/.*"refresh_token":"\\([^"]*\\)".*/\\1/')\\"}"

        # what Apple sends when somebody revokes the app, and what it means
        curl -s http://\(issuer)/apple/notification -d '{"type":"consent-revoked"}' |
            curl -s http://\(service)/v1/notifications/verify -H 'Content-Type: application/json' -d @-

        # new keys
        curl -s -X POST http://\(issuer)/rotate

        """
    }
}
