private import Bytes
private import IDToken
internal import Verification

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
    static var fieldName: Self {
        .text("1 to 128 letters, digits and the characters !#$%&'*+-.^_`|~") {
            (1...128).contains($0.utf8.count) && $0.utf8.allSatisfy(\.isTokenCharacter)
        }
    }
}

extension String {
    /// Whether a browser would send exactly this as `Origin`.
    fileprivate var isOrigin: Bool { TargetURI(self)?.text == self + "/" }
}
