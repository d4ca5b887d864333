internal import HTTP
internal import Verification

/// The paths of both listeners. A closed set, so they can be used in metrics and logs.
enum Route: Int, CaseIterable {
    case verify, batch, signIns, finishSignIn, refreshGrant, revokeGrant, notifications, accessTokens, forwardAuth
    case openAPI, live, ready, providers, refresh, explain, events, verdicts, metrics, unknown
    case root, console, consoleStyle, consoleScript

    /// The route that a responder has found.
    init(_ routing: HeadRouting) { self = Route(rawValue: routing.route) ?? .unknown }

    /// The path in the log and in metrics.
    var pattern: StaticString {
        switch self {
        case .verify: "/v1/verify"
        case .batch: "/v1/verify/batch"
        case .signIns: "/v1/sign-ins"
        case .finishSignIn: "/v1/sign-ins/finish"
        case .refreshGrant: "/v1/grants/refresh"
        case .revokeGrant: "/v1/grants/revoke"
        case .notifications: "/v1/notifications/verify"
        case .accessTokens: "/v1/access-tokens/verify"
        case .forwardAuth: "/v1/forward-auth/{policy}"
        case .openAPI: "/openapi.yaml"
        case .live: "/livez"
        case .ready: "/readyz"
        case .providers: "/v1/providers"
        case .refresh: "/v1/providers/{id}/refresh"
        case .explain: "/v1/explain"
        case .events: "/v1/events"
        case .verdicts: "/v1/verdicts"
        case .metrics: "/metrics"
        case .root: "/"
        case .console: "/console"
        case .consoleStyle: "/console/console.css"
        case .consoleScript: "/console/console.js"
        case .unknown: "unknown"
        }
    }

    /// Whether monitoring polls this path.
    var isProbe: Bool { self == .live || self == .ready || self == .metrics }

    /// The only method that the route supports; `nil`: any.
    var method: RequestMethod? {
        switch self {
        case .verify, .batch, .signIns, .finishSignIn, .refreshGrant, .revokeGrant, .notifications, .accessTokens,
            .refresh, .explain:
            .post
        case .openAPI, .live, .ready, .providers, .events, .verdicts, .metrics, .unknown: .get
        case .root, .console, .consoleStyle, .consoleScript: .get
        case .forwardAuth: nil
        }
    }

    /// Whether a problem must have `spent`: whether the request used up a sign-in, code or token.
    var usesSomethingUp: Bool { self == .finishSignIn || self == .refreshGrant || self == .revokeGrant }

    /// Whether the path exists only if the console is enabled.
    var belongsToConsole: Bool { self == .root || consoleFile != nil }

    /// The console's file at this path, if any.
    var consoleFile: Console.File? {
        switch self {
        case .console: .page
        case .consoleStyle: .style
        case .consoleScript: .script
        default: nil
        }
    }

    /// The feature without which the path does not exist.
    var feature: Feature? {
        switch self {
        case .signIns, .finishSignIn: .signIns
        case .refreshGrant, .revokeGrant: .clients
        case .notifications: .notifications
        case .accessTokens: .accessTokens
        case .forwardAuth: .forwardAuth
        default: nil
        }
    }

    /// Rejects methods that the route does not support.
    ///
    /// - Throws: ``Problem/methodNotAllowed(allow:)``.
    func check(_ method: RequestMethod) throws(Problem) {
        guard let supported = self.method, method != supported else { return }
        throw .methodNotAllowed(allow: supported.rawValue)
    }

    /// The routes of the service listener with constant paths, except ``verify``.
    private static let service: [Route] = [
        .batch, .signIns, .finishSignIn, .refreshGrant, .revokeGrant, .notifications, .accessTokens, .openAPI, .live,
        .ready,
    ]

    /// The route of a path on the service listener.
    static func service(_ path: HeadSlice) -> Route {
        // Most requests have this path, so it is checked before the list is searched.
        if path == Route.verify.pattern { return .verify }
        return service.first { path == $0.pattern } ?? (forwardAuthPolicy(path) == nil ? .unknown : .forwardAuth)
    }

    /// The ID of the policy in `/v1/forward-auth/{policy}` and any path below it, as sent. The rest may be the path of
    /// the request that a gateway asks about, so it is neither read nor normalized: `/../` has no effect.
    static func forwardAuthPolicy(_ path: HeadSlice) -> ArraySlice<UInt8>? {
        let prefix: StaticString = "/v1/forward-auth/"
        guard path.hasPrefix(prefix) else { return nil }
        return path.bytes.dropFirst(prefix.utf8CodeUnitCount).prefix { $0 != UInt8(ascii: "/") }
    }

    /// The routes of the admin listener with constant paths.
    private static let admin: [Route] = [
        .live, .ready, .metrics, .providers, .explain, .events, .verdicts, .root, .console, .consoleStyle,
        .consoleScript,
    ]

    /// The route of a path on the admin listener.
    static func admin(_ path: HeadSlice) -> Route {
        admin.first { path == $0.pattern } ?? (providerToRefresh(path) == nil ? .unknown : .refresh)
    }

    /// The provider ID in `/v1/providers/{id}/refresh`.
    static func providerToRefresh(_ path: HeadSlice) -> String? {
        let parts = path.string.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "v1", parts[2] == "providers", parts[4] == "refresh",
            !parts[3].isEmpty
        else { return nil }
        return String(parts[3])
    }
}
