import ArgumentParser
import JSON
import Verification

/// Options that select the kind of token to explain, if it is not an ID Token.
struct ExplainedKindOptions: ParsableArguments {
    enum Kind: String, ExpressibleByArgument {
        case id, access, notification
    }

    @Option(
        help:
            "What the token is verified as: id (an ID Token), access (an access token or a gateway's assertion) or notification (such as a logout token)."
    )
    var tokens = Kind.id

    @Option(
        name: .customLong("scope"),
        help: "With --tokens access: a scope that the token must grant. Repeat for more.")
    var scopes: [String] = []

    @Option(help: "Explain what the forward-auth policy with this id decides on the token.")
    var policy: String?

    var isIDToken: Bool { tokens == .id && policy == nil }

    /// Rejects options that have no effect.
    func validate(with signIn: SignInOptions) throws {
        guard scopes.isEmpty || tokens == .access else { throw ValidationError("--scope needs --tokens access") }
        if policy != nil {
            guard tokens == .id, signIn.isEmpty else {
                throw ValidationError("--policy decides on the token alone; omit the other options of the sign-in")
            }
        } else if tokens == .notification {
            guard signIn.isWithoutSignIn else {
                throw ValidationError("a notification belongs to no sign-in; keep only --provider of its options")
            }
        } else if tokens == .access {
            guard signIn.nonce == nil, signIn.maxAge == nil, signIn.accessToken == nil, signIn.code == nil else {
                throw ValidationError(
                    "--nonce, --max-age, --access-token and --code are for ID Tokens; omit them with --tokens access")
            }
        }
    }

    /// The body of `POST /v1/explain` for anything but an ID Token.
    ///
    /// - Parameter preset: the id of a preset's provider; `nil` for the one that the option names, if any.
    func body(for token: String, _ signIn: SignInOptions, provider preset: String? = nil) -> [UInt8] {
        var texts: [(name: StaticString, value: String?)] = [("token", token), ("policy", policy)]
        if tokens == .notification {
            texts += [("as", ExplainRequest.Kind.notification.rawValue), ("provider", preset ?? signIn.provider)]
        } else if policy == nil {
            texts += [
                ("provider", preset ?? signIn.provider), ("audience", signIn.audience), ("subject", signIn.subject),
                ("issuer", signIn.issuer),
            ]
        }
        var json = JSONWriter()
        json.object { json in
            for case (let name, let value?) in texts { json.member(name, value) }
            if let authenticatedAfter = signIn.authenticatedAfter {
                json.member("authenticated_after", authenticatedAfter)
            }
            if !scopes.isEmpty { json.array("scopes", scopes) }
        }
        return json.bytes
    }
}
