private import Bytes
internal import IDToken
internal import Verification

/// Reads a policy's `request_url`.
enum RequestURLReader {
    private static let origin = Setting(
        "origin",
        ValueType(
            expected: "an origin such as https://api.example.com (http only for loopback hosts), without a path",
            form: .text(), parse: normalized, text: { $0 }),
        isRequired: true,
        "The scheme, host and port under which clients call the API. The header `Host` is never used, because it is the client's."
    )
    private static let method = part(
        "method",
        "Where the gateway puts the client's method: a header that it sets, or `request`, if it asks with that method.")
    private static let path = part(
        "path",
        "Where the gateway puts the path that the client called: a header that it sets, or `request`, if it asks below the policy's own path. A query is ignored."
    )

    static let description = SettingDescription(
        section: "request_url", [origin.description, method, path],
        "Turns on [DPoP proofs](gateways.md#tokens-bound-to-a-key) for this policy, and says how the gateway names the client's request, which a proof must name too. `Authorization` may then have the scheme `DPoP`. A request without one of these headers, or with it twice, is answered with 503."
    )

    private static let header = Setting("header", ValueType.fieldName, "A header's name.")
    private static let request = "request"

    private static func part(_ name: String, _ help: String) -> SettingDescription {
        SettingDescription(
            name: name, expected: "a mapping with header, or request",
            form: .either(.mapping(of: .text()), .words([request])), help: help, isRequired: true)
    }

    /// - Returns: `nil` if there is no such section, or an error was reported.
    static func read(_ element: Section, _ settings: Settings) -> RequestURL? {
        guard element.mentions(description.name) else { return nil }
        element.refuse(
            description.name, if: settings.dpop == nil,
            "request_url is for DPoP proofs, which are not checked; add dpop: {}, or remove it")
        let section = element.section(description.name)
        defer { section.finish() }
        let (origin, method, path) = (origin.read(section), part(method, section), part(path, section))
        section.require(
            [Self.origin.name, Self.method.name, Self.path.name], "request_url needs origin, method and path")
        guard let origin, let method, let path else { return nil }
        return RequestURL(origin: origin, method: method, path: path)
    }

    private static func part(_ description: SettingDescription, _ section: Section) -> RequestURL.Part? {
        let name = description.name
        guard let node = section.node(name) else { return nil }
        guard node.mapping == nil else {
            let nested = section.section(name)
            defer { nested.finish() }
            guard let field = header.read(nested) else {
                nested.refuseMissing(header.name, "\(name) needs header, the name of a header that the gateway sets")
                return nil
            }
            return .header(field)
        }
        guard section.scalarText(name) == request else {
            section.refuse(name, "\(name) must be \(description.expected)")
            return nil
        }
        return .request
    }

    private static func normalized(_ text: String) -> String? {
        guard let target = TargetURI(text), target.text.hasSuffix("/"), !text.contains("?"), !text.contains("#") else {
            return nil
        }
        let origin = String(target.text.dropLast())
        return origin.utf8.count { $0 == UInt8(ascii: "/") } == 2 ? origin : nil
    }
}

/// Reads a policy's `client_certificate`.
enum CertificateFieldReader {
    private static let header = Setting(
        "header", ValueType.fieldName, isRequired: true,
        "The header in which the gateway passes on the certificate. The gateway must delete the client's own.")
    private static let form = Setting(
        "form", ValueType<CertificateForm>.word, isRequired: true,
        "How it is written: `pem` (percent-encoded is decoded), `rfc9440` (base64 of DER between colons), or `xfcc` (Envoy's `X-Forwarded-Client-Cert`, with one element that has `Hash` or `Cert`)."
    )

    static let description = SettingDescription(
        section: "client_certificate", [header.description, form.description],
        "The header with the certificate of the client's TLS connection, to which [access tokens can be bound](gateways.md#tokens-bound-to-a-key)."
    )

    /// - Returns: `nil` if there is no such section, or an error was reported.
    static func read(_ element: Section) -> CertificateField? {
        guard element.mentions(description.name) else { return nil }
        let section = element.section(description.name)
        defer { section.finish() }
        let (header, form) = (header.read(section), form.read(section))
        section.require([Self.header.name, Self.form.name], "client_certificate needs header and form")
        guard let header, let form else { return nil }
        return CertificateField(header: header, form: form)
    }
}

/// Reads a policy's `token`.
enum TokenSourceReader {
    private static let header = Setting("header", .fieldName, "A header's name.")
    private static let scheme = Setting(
        "scheme", .fieldName,
        "The word before the token in the header, such as `Bearer`. With `request_url`, `Authorization` may have `DPoP` instead."
    )
    private static let cookie = Setting("cookie", .fieldName, "A cookie's name, byte for byte.")
    private static let chunked = Setting(
        "chunked", .boolean, defaultDescription: "`false`",
        "Whether the token may be divided among cookies: `session.0`, `session.1` and so on, or `session_0` and so on, at most 8."
    )
    private static let webSocketProtocol = Setting(
        "websocket_protocol", .boolean, defaultDescription: "`false`",
        "Reads the token from `Sec-WebSocket-Protocol` in the handshake of a WebSocket: `bearer, <token>`, or Kubernetes' `base64url.bearer.authorization.k8s.io.<base64url of the token>`. The response's `Sec-WebSocket-Protocol` has the list without the token, for the backend."
    )
    private static let origins = Setting(
        "origins", listOf: .origin, refusesEmpty: "must name at least one origin",
        "With `websocket_protocol`: the origins of the pages whose WebSockets count, because pages of any site can open one."
    )

    static let setting = SettingDescription(
        name: "token", expected: "a list of mappings",
        form: .list(
            of: .section([
                header.description, scheme.description, cookie.description, chunked.description,
                webSocketProtocol.description, origins.description,
            ]), isNeverEmpty: true),
        help:
            "Where to look for the token. The first source that the request has is used, even if its token is refused. With a cookie, the backend must defend itself against CSRF.",
        defaultDescription: "`[{ header: Authorization, scheme: Bearer }]`")

    /// - Returns: `nil` if there is no list, or an error was reported.
    static func read(_ element: Section) -> [TokenSource]? {
        let sources = element.mappings(
            setting.name, expected: "a mapping with header, cookie or websocket_protocol", read: source)
        if sources?.isEmpty == true {
            element.refuse(setting.name, "token must have at least one header or cookie, or websocket_protocol")
        }
        return sources
    }

    private static func source(_ element: Section) -> TokenSource? {
        let (header, scheme) = (header.read(element), scheme.read(element))
        let (cookie, chunked) = (cookie.read(element), chunked.read(element))
        let (isProtocol, origins) = (webSocketProtocol.read(element), origins.read(element))
        defer { element.finish() }
        switch (header, cookie, isProtocol, origins) {
        case (let header?, nil, nil, nil) where chunked == nil: return .header(header, scheme: scheme)
        case (nil, let cookie?, nil, nil) where scheme == nil: return .cookie(cookie, isChunked: chunked ?? false)
        case (nil, nil, true?, let origins?) where scheme == nil && chunked == nil:
            return .webSocketProtocol(origins: origins)
        default:
            element.refuse(
                nil,
                "each element of token must have either header, with or without scheme; or cookie, with or without chunked; or websocket_protocol: true and origins"
            )
            return nil
        }
    }
}

extension ValueType where Value == String {
    static var origin: Self {
        .text("an origin such as https://app.example.com, in lower case, without a path") { $0.isOrigin }
    }

    /// The name of a header or a cookie.
    fileprivate static var fieldName: Self {
        .text("1 to 128 letters, digits and the characters !#$%&'*+-.^_`|~") {
            (1...128).contains($0.utf8.count) && $0.utf8.allSatisfy(\.isTokenCharacter)
        }
    }
}

extension String {
    /// Whether a browser would send exactly this as `Origin`.
    fileprivate var isOrigin: Bool { TargetURI(self)?.text == self + "/" }
}
