internal import HTTP
internal import Verification

/// The paths of both listeners. A closed set, so they can be used in metrics and logs.
enum Route: Int, CaseIterable {
    case verify, batch, signIns, finishSignIn, signOuts, refreshGrant, revokeGrant, proveGrant, notifications,
        accessTokens, forwardAuth
    case keySet, resourceMetadata, wellKnownMetadata
    case openAPI, live, ready, providers, refresh, explain, events, verdicts, metrics, unknown
    case root, console, consoleStyle, consoleScript

    /// The route that a responder has found.
    init(_ routing: HeadRouting) { self = Route(rawValue: routing.route) ?? .unknown }

    /// Who may call a route.
    enum Access {
        case anyone
        /// Callers whose API key allows all of this, if keys are configured.
        case keys(Set<APIKey.Permission>)
        /// Gateways. Their policy says whether they need a key, which is in a field of its own.
        case gateways

        /// Callers whose API key is not restricted.
        static let unrestrictedKeys = Access.keys(APIKey.Permission.all)
    }

    /// The facts about a route.
    private struct Row {
        let pattern: StaticString
        /// The only method that the route supports; `nil`: any.
        let method: RequestMethod?
        let access: Access
        var listeners: [ListenerName] = [.service]
        var feature: Feature?
        var usesSomethingUp = false
        /// Whether pages of any origin may call it, which begins with `OPTIONS`.
        var isForPages = false
        var isProbe = false
        /// Whether the console polls this path.
        var isPolled = false
        var consoleFile: Console.File?
    }

    /// Every fact about a route is here, once.
    private var row: Row {
        switch self {
        case .verify: Row(pattern: "/v1/verify", method: .post, access: .keys([.verify]))
        case .batch: Row(pattern: "/v1/verify/batch", method: .post, access: .keys([.verify]))
        case .signIns: Row(pattern: "/v1/sign-ins", method: .post, access: .keys([.signIns]), feature: .signIns)
        case .finishSignIn:
            Row(
                pattern: "/v1/sign-ins/finish", method: .post, access: .keys([.signIns]), feature: .signIns,
                usesSomethingUp: true)
        case .signOuts: Row(pattern: "/v1/sign-outs", method: .post, access: .keys([.signIns]), feature: .clients)
        case .refreshGrant:
            Row(
                pattern: "/v1/grants/refresh", method: .post, access: .keys([.grants]), feature: .clients,
                usesSomethingUp: true)
        case .revokeGrant:
            Row(
                pattern: "/v1/grants/revoke", method: .post, access: .keys([.grants]), feature: .clients,
                usesSomethingUp: true)
        case .proveGrant: Row(pattern: "/v1/grants/proof", method: .post, access: .keys([.grants]), feature: .clients)
        case .notifications:
            Row(
                pattern: "/v1/notifications/verify", method: .post, access: .keys([.notifications]),
                feature: .notifications)
        case .accessTokens:
            Row(
                pattern: "/v1/access-tokens/verify", method: .post, access: .keys([.accessTokens]),
                feature: .accessTokens)
        case .forwardAuth:
            Row(pattern: "/v1/forward-auth/{policy}", method: nil, access: .gateways, feature: .forwardAuth)
        case .resourceMetadata:
            Row(
                pattern: "/v1/resources/{id}/metadata", method: .get, access: .anyone, feature: .resources,
                isForPages: true)
        case .wellKnownMetadata:
            Row(
                pattern: "/.well-known/oauth-protected-resource", method: .get, access: .anyone, feature: .resources,
                isForPages: true)
        case .keySet: Row(pattern: "/v1/jwks", method: .get, access: .anyone, feature: .clientKeys)
        case .openAPI: Row(pattern: "/openapi.yaml", method: .get, access: .anyone)
        case .live: Row(pattern: "/livez", method: .get, access: .anyone, listeners: [.service, .admin], isProbe: true)
        case .ready:
            Row(pattern: "/readyz", method: .get, access: .anyone, listeners: [.service, .admin], isProbe: true)
        case .metrics: Row(pattern: "/metrics", method: .get, access: .anyone, listeners: [.admin], isProbe: true)
        case .providers: Row(pattern: "/v1/providers", method: .get, access: .unrestrictedKeys, listeners: [.admin])
        case .refresh:
            Row(pattern: "/v1/providers/{id}/refresh", method: .post, access: .unrestrictedKeys, listeners: [.admin])
        case .explain: Row(pattern: "/v1/explain", method: .post, access: .keys([.explain]), listeners: [.admin])
        case .events:
            Row(pattern: "/v1/events", method: .get, access: .unrestrictedKeys, listeners: [.admin], isPolled: true)
        case .verdicts:
            Row(pattern: "/v1/verdicts", method: .get, access: .unrestrictedKeys, listeners: [.admin], isPolled: true)
        case .root: Row(pattern: "/", method: .get, access: .anyone, listeners: [.admin])
        case .console: Row(pattern: "/console", method: .get, access: .anyone, listeners: [.admin], consoleFile: .page)
        case .consoleStyle:
            Row(
                pattern: "/console/console.css", method: .get, access: .anyone, listeners: [.admin], consoleFile: .style
            )
        case .consoleScript:
            Row(
                pattern: "/console/console.js", method: .get, access: .anyone, listeners: [.admin], consoleFile: .script
            )
        case .unknown: Row(pattern: "unknown", method: .get, access: .anyone, listeners: [])
        }
    }

    /// Indexed by raw value.
    private static let rows = allCases.map(\.row)

    /// The path in the log and in metrics.
    var pattern: StaticString { Self.rows[rawValue].pattern }

    /// Whether monitoring polls this path.
    var isProbe: Bool { Self.rows[rawValue].isProbe }

    var method: RequestMethod? { Self.rows[rawValue].method }

    /// Whether a problem must have `spent`: whether the request used up a sign-in, code or token.
    var usesSomethingUp: Bool { Self.rows[rawValue].usesSomethingUp }

    /// Who may call the route.
    var access: Access { Self.rows[rawValue].access }

    /// The console's file at this path, if any.
    var consoleFile: Console.File? { Self.rows[rawValue].consoleFile }

    /// Probes, scrapes and the console poll constantly, and their traces are of no use. Unknown paths are not traced
    /// either.
    var isTraced: Bool { !isProbe && !Self.rows[rawValue].isPolled && !belongsToConsole && self != .unknown }

    /// Whether the path exists only if the console is enabled.
    var belongsToConsole: Bool { self == .root || consoleFile != nil }

    /// The feature without which the path does not exist.
    var feature: Feature? { Self.rows[rawValue].feature }

    /// Rejects methods that the route does not support.
    ///
    /// - Throws: ``Problem/methodNotAllowed(allow:)``.
    func check(_ method: RequestMethod) throws(Problem) {
        guard let supported = self.method, method != supported else { return }
        guard Self.rows[rawValue].isForPages else { throw .methodNotAllowed(allow: supported.rawValue) }
        if method != .options { throw .methodNotAllowed(allow: "\(supported.rawValue), OPTIONS") }
    }

    /// The routes of a listener, in the order in which paths are compared. Paths with a parameter are recognized apart.
    private static func routes(of listener: ListenerName) -> [Route] {
        allCases.filter { rows[$0.rawValue].listeners.contains(listener) }
    }

    private static let service = routes(of: .service)
    private static let admin = routes(of: .admin)

    /// The paths of the admin listener, without the console's, as a list for people.
    static let pathsOfAdmin: String = {
        let paths = admin.filter { !$0.belongsToConsole }.map { "\($0.pattern)" }
        return paths.dropLast().joined(separator: ", ") + " and " + (paths.last ?? "")
    }()

    /// The route of a path on the service listener.
    static func service(_ path: HeadSlice) -> Route {
        // Most requests are to verify, which is the first of the list.
        if let route = service.first(where: { path == $0.pattern }) { return route }
        if forwardAuthPolicy(path) != nil { return .forwardAuth }
        if path.hasPrefix("/.well-known/oauth-protected-resource/") { return .wellKnownMetadata }
        return parameter(of: path, between: "resources", "metadata") == nil ? .unknown : .resourceMetadata
    }

    /// The resource ID in `/v1/resources/{id}/metadata`.
    static func resource(_ path: HeadSlice) -> String? { parameter(of: path, between: "resources", "metadata") }

    /// The ID of the policy in `/v1/forward-auth/{policy}` and any path below it, as sent. The rest may be the path of
    /// the request that a gateway asks about, so it is neither read nor normalized: `/../` has no effect.
    static func forwardAuthPolicy(_ path: HeadSlice) -> ArraySlice<UInt8>? {
        let prefix: StaticString = "/v1/forward-auth/"
        guard path.hasPrefix(prefix) else { return nil }
        return path.bytes.dropFirst(prefix.utf8CodeUnitCount).prefix { $0 != UInt8(ascii: "/") }
    }

    /// What follows the ID of the policy in the path.
    static func pathBelowPolicy(_ path: HeadSlice) -> ArraySlice<UInt8> {
        let id = forwardAuthPolicy(path) ?? []
        return path.bytes[id.endIndex...]
    }

    /// The route of a path on the admin listener.
    static func admin(_ path: HeadSlice) -> Route {
        admin.first { path == $0.pattern } ?? (providerToRefresh(path) == nil ? .unknown : .refresh)
    }

    /// The provider ID in `/v1/providers/{id}/refresh`.
    static func providerToRefresh(_ path: HeadSlice) -> String? {
        parameter(of: path, between: "providers", "refresh")
    }

    /// The third segment of a path of the API with four segments; `nil` if it is empty, or the others differ.
    private static func parameter(of path: HeadSlice, between second: String, _ fourth: String) -> String? {
        let parts = path.string.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "v1", parts[2] == second, parts[4] == fourth,
            !parts[3].isEmpty
        else { return nil }
        return String(parts[3])
    }
}
