import DevProvider
import IDToken
import JSON
import Settings

/// The output of `assay dev` once it has started.
struct DevAnnouncement {
    /// The addresses of the listeners.
    let service: String
    let admin: String
    let provider: DevProviderServer
    let providers: [ProviderSettings]

    /// For people: the page to open, the console, and a command to paste.
    var text: String {
        """
        Sign in   \(provider.origin)/
        Console   \(Self.url(admin))/console
        Try       \(command)
        """
    }

    /// Gets a token from the first provider, and verifies it.
    private var command: String {
        let first = providers.first
        let path = first?.accessTokens == nil ? "/v1/verify" : "/v1/access-tokens/verify"
        return "curl -s \(provider.origin)/\(first?.policy.id ?? "")/token -d '{}' | "
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
                json.member("id", provider.policy.id)
                json.member("preset", provider.preset)
                json.member("issuer", provider.policy.issuer)
                json.member("url", "\(self.provider.origin)/\(provider.policy.id)")
                json.array("audiences", provider.policy.audiences)
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
