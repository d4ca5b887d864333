import HTTP
@testable import Service
import Testing
import Verification

@Suite struct RouteTests {
    /// The route of a path as parsed by a connection; `nil` if the connection would reject it.
    private func route(_ path: String, on listener: (HeadSlice) -> Route) -> Route? {
        RequestHead("GET", path).map { listener($0.path) }
    }

    private func provider(in path: String) -> String? {
        RequestHead("POST", path).flatMap { Route.providerToRefresh($0.path) }
    }

    @Test(arguments: [
        ("/v1/verify", Route.verify, "POST"), ("/v1/verify/batch", .batch, "POST"), ("/openapi.yaml", .openAPI, "GET"),
        ("/v1/grants/refresh", .refreshGrant, "POST"), ("/v1/grants/proof", .proveGrant, "POST"),
        ("/v1/grants/revoke", .revokeGrant, "POST"),
        ("/v1/notifications/verify", .notifications, "POST"),
        ("/livez", .live, "GET"), ("/readyz", .ready, "GET"),
    ])
    func `the service listener answers the calls of backends`(path: String, route: Route, method: String) {
        #expect(self.route(path, on: Route.service) == route)
        #expect(route.method?.rawValue == method)
        #expect("\(route.pattern)" == path)
    }

    @Test(arguments: [
        ("/v1/resources/mcp/metadata", Route.resourceMetadata, "mcp" as String?),
        ("/v1/resources/a%2Fb/metadata", .resourceMetadata, "a%2Fb"),
        ("/.well-known/oauth-protected-resource", .wellKnownMetadata, nil),
        ("/.well-known/oauth-protected-resource/mcp", .wellKnownMetadata, nil),
        ("/.well-known/oauth-protected-resource/", .wellKnownMetadata, nil),
        ("/.well-known/oauth-protected-resources", .unknown, nil), ("/v1/resources//metadata", .unknown, nil),
        ("/v1/resources/mcp/metadata/", .unknown, nil), ("/v1/resources/mcp", .unknown, nil),
    ])
    func `a resource's metadata has two places`(path: String, route: Route, id: String?) throws {
        #expect(self.route(path, on: Route.service) == route)
        #expect(RequestHead("GET", path).flatMap { Route.resource($0.path) } == id)
        #expect(self.route(path, on: Route.admin) == .unknown)
    }

    @Test func `pages of other origins may ask whether they may read metadata, and nothing else`() {
        for route in [Route.resourceMetadata, .wellKnownMetadata] {
            #expect(throws: Never.self) { try route.check(.options) }
            #expect(throws: Problem.methodNotAllowed(allow: "GET, OPTIONS")) { try route.check(.post) }
        }
        #expect(throws: Problem.methodNotAllowed(allow: "GET")) { try Route.live.check(.options) }
    }

    @Test(arguments: [
        ("/livez", Route.live, "GET"), ("/readyz", .ready, "GET"), ("/metrics", .metrics, "GET"),
        ("/v1/providers", .providers, "GET"), ("/v1/events", .events, "GET"), ("/v1/verdicts", .verdicts, "GET"),
        ("/", .root, "GET"), ("/console", .console, "GET"), ("/console/console.css", .consoleStyle, "GET"),
        ("/console/console.js", .consoleScript, "GET"),
        ("/v1/explain", .explain, "POST"), ("/v1/providers/apple/refresh", .refresh, "POST"),
        ("/v1/providers/a.b-c_d/refresh", .refresh, "POST"),
    ])
    func `the admin listener answers operators`(path: String, route: Route, method: String) {
        #expect(self.route(path, on: Route.admin) == route)
        #expect(route.method?.rawValue == method)
    }

    @Test(arguments: [
        "/metrics", "/v1/explain", "/v1/providers", "/v1/providers/apple/refresh", "/v1/events", "/v1/verdicts",
        "/", "/console", "/console/console.js",
    ])
    func `what is an operator's is not on the service listener`(path: String) {
        #expect(route(path, on: Route.service) == .unknown)
    }

    @Test(arguments: ["/v1/verify", "/v1/verify/batch", "/openapi.yaml"])
    func `what is a backend's is not on the admin listener`(path: String) {
        #expect(route(path, on: Route.admin) == .unknown)
    }

    @Test(arguments: [
        "", "//", "*", "/v1", "/v1/verify/", "/v1/verify//", "//v1/verify", "/v1//verify", "/V1/verify", "/v1/Verify",
        "/v1/verify ",
        "/v1/verify%20", "/v1/%76erify", "/v1/verify/batch/", "/v1/verify/batch/x", "/v1/explain/", "/v1/Explain",
        "/v1/verify;x", "/v1/./verify",
        "/v2/verify",
        "/livez/", "/live", "/healthz", "v1/verify", "/v1/verify\u{0}", "/v1/providers/", "/v1/providers/refresh",
        "/v1/providers//refresh",
        "/v1/providers/apple", "/v1/providers/apple/refresh/", "/v1/providers/a/b/refresh",
        "/v1/providers/apple/Refresh",
        "/console/", "/console/console.html", "/Console", "/console.js", "/v1/events/", "/v1/verdict",
        "x/v1/providers/apple/refresh", "/../metrics", "/livez\u{301}",
    ])
    func `no other path is a route, on either`(path: String) {
        #expect([nil, .unknown].contains(route(path, on: Route.service)))
        #expect([nil, .unknown].contains(route(path, on: Route.admin)))
    }

    @Test(arguments: [
        ("/v1/forward-auth/api", "api"), ("/v1/forward-auth/api/", "api"), ("/v1/forward-auth/api/../other", "api"),
        ("/v1/forward-auth/%61pi/x", "%61pi"), ("/v1/forward-auth/api?policy=other", "api"),
        ("/v1/forward-auth/", ""), ("/v1/forward-auth//api", ""), ("http://host/v1/forward-auth/api/x", "api"),
    ])
    func `a policy is the third segment, whatever follows`(path: String, policy: String) throws {
        #expect(route(path, on: Route.service) == .forwardAuth)
        #expect(route(path, on: Route.admin) == .unknown)
        let head = try #require(RequestHead("PATCH", path))
        #expect(Route.forwardAuthPolicy(head.path).map { String(decoding: $0, as: UTF8.self) } == policy)
        #expect(throws: Never.self) { try Route.forwardAuth.check(head.method) }
    }

    @Test(arguments: [
        "/v1/forward-auth", "/v1/forward-authx/api", "/v1/Forward-Auth/api", "//v1/forward-auth/api",
        "/v1/./forward-auth/api", "/x/v1/forward-auth/api",
    ])
    func `a gateway's path has one spelling`(path: String) {
        #expect(route(path, on: Route.service) == .unknown)
    }

    @Test func `a provider to refresh is named in the path`() {
        #expect(provider(in: "/v1/providers/apple/refresh") == "apple")
        #expect(provider(in: "/v1/providers/%61pple/refresh") == "%61pple")
        #expect(provider(in: "/v1/providers//refresh") == nil)
    }

    @Test func `without a key, the service listener has these routes alone`() {
        let open = Route.allCases.filter { route in
            let path = "\(route.pattern)".replacing("{id}", with: "mcp")
            guard case .anyone = route.access else { return false }
            return self.route(path, on: Route.service) == route && route != .unknown
        }
        #expect(open == [.keySet, .resourceMetadata, .wellKnownMetadata, .openAPI, .live, .ready])
    }

    @Test func `every route has a pattern of its own`() {
        #expect(Set(Route.allCases.map { "\($0.pattern)" }).count == Route.allCases.count)
    }
}
