import DevProvider
import HTTP
import IDToken
import JOSE
import Keys
import NIOHTTP1
import Settings

/// The output of `assay dev` once it has started.
struct DevAnnouncement {
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
        let answer = await address.request(
            .POST, path, tls: nil, fields: ["Content-Type": contentType], body: body,
            limits: HTTPExchange.Limits(
                connectTimeout: .seconds(5), totalTimeout: .seconds(30), maximumBody: 1024 * 1024))
        guard let status = answer.head?.status.code, case .success(let body) = answer.body else { return nil }
        return Answer(status: Int(status), body: body)
    }
}

extension ListenAddress {
    /// Waits until the service has the keys of its providers, so that a test can begin at once, even one that injects
    /// faults into key fetches. Gives up after a few seconds.
    func waitUntilReady() async {
        let limits = HTTPExchange.Limits(
            connectTimeout: .seconds(1), totalTimeout: .seconds(1), maximumBody: 64 * 1024)
        for _ in 0..<500 {
            guard await request(.GET, "/readyz", tls: nil, limits: limits).head?.status != .ok else { return }
            try? await Task.sleep(for: .milliseconds(10))
        }
    }
}
