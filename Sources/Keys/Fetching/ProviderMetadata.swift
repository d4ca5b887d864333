private import Bytes
package import JOSE

/// The parts of a provider's discovery document that a verifier needs (OpenID Connect Discovery 1.0, section 3).
package struct ProviderMetadata: Sendable, Equatable {
    package let jwksURI: String
    /// The supported ones of `id_token_signing_alg_values_supported`, possibly none; all supported algorithms if it is
    /// absent.
    package let algorithms: SignatureAlgorithms
    /// Listed algorithms that don't authenticate the provider: `none`, and those with a secret that the client also
    /// has. Tokens with these are refused, even though the document lists them.
    let unsafeAlgorithms: [String]
    package let endpoints: DiscoveredEndpoints

    /// Reads a discovery document.
    ///
    /// - Parameters:
    ///   - issuer: the configured issuer. The document's must equal it byte for byte; otherwise anyone who controls the
    ///     URL could substitute another provider's keys.
    ///   - rules: decide which URLs may be used. One that may not counts as absent.
    /// - Throws: ``FetchFailure``.
    /// - Source: OpenID Connect Discovery 1.0, section 4.3.
    package init(_ json: [UInt8], issuer: String, under rules: NetworkRules = NetworkRules()) throws(FetchFailure) {
        let members = try Self.members(of: json, issuer: issuer)
        guard let jwksURI = members["jwks_uri"]?.string else {
            throw FetchFailure(.parse, "the discovery document has no jwks_uri")
        }
        if rules.requiresDefaultPort, (try? rules.url(jwksURI)) == nil {
            throw FetchFailure(.parse, "the discovery document's jwks_uri is not an https URL with the default port")
        }
        self.jwksURI = jwksURI
        endpoints = DiscoveredEndpoints(members, under: rules)
        if let listed = members["id_token_signing_alg_values_supported"]?.elements?.compactMap(\.string) {
            algorithms = SignatureAlgorithms(naming: listed)
            unsafeAlgorithms = Self.unsafeNames.filter { name in
                listed.contains { $0.lowercased() == name.lowercased() }
            }
        } else {
            algorithms = .all
            unsafeAlgorithms = []
        }
    }

    /// The members of a discovery document, which must name this issuer.
    ///
    /// - Throws: ``FetchFailure``.
    fileprivate static func members(
        of json: [UInt8], issuer: String
    ) throws(FetchFailure) -> JSONObject {
        guard let members = try? JSONObject(json) else {
            throw FetchFailure(.parse, "the discovery document is not one JSON object")
        }
        guard let claimed = members["issuer"]?.string else {
            throw FetchFailure(.parse, "the discovery document names no issuer")
        }
        guard claimed.isExactly(issuer) else {
            throw FetchFailure(
                .parse,
                "the discovery document's issuer is not the configured one, byte for byte; a trailing slash counts")
        }
        return members
    }

    private static let unsafeNames = ["none", "HS256", "HS384", "HS512"]

    /// The issuer in a discovery document, without checking it.
    static func issuer(in json: [UInt8]) -> String? {
        (try? JSONObject(json))?["issuer"]?.string
    }

    /// The URL of an issuer's discovery document: the issuer without a trailing slash, and the well-known path.
    ///
    /// - Source: OpenID Connect Discovery 1.0, section 4.1.
    package static func address(forIssuer issuer: String) -> String {
        (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + "/.well-known/openid-configuration"
    }

    /// The URL of an authorization server's metadata: the well-known path between the issuer's host and its path.
    ///
    /// - Parameter name: of the document below `/.well-known/`.
    /// - Source: RFC 8414, section 3.1.
    package static func address(forAuthorizationServer issuer: String, _ name: String = "oauth-authorization-server")
        -> String
    {
        let hostStart = issuer.firstRange(of: "://")?.upperBound ?? issuer.startIndex
        let pathStart = issuer[hostStart...].firstIndex(of: "/") ?? issuer.endIndex
        let path = issuer[pathStart...]
        return issuer[..<pathStart] + "/.well-known/\(name)" + (path.hasSuffix("/") ? path.dropLast() : path)
    }
}

/// The endpoints for sign-ins that a provider's discovery document names.
///
/// Each is read on its own: one that is missing or can't be used is `nil`, and never makes a key fetch fail.
// A class, so that a `KeySnapshot` holds only a reference to it.
package final class DiscoveredEndpoints: Sendable, Equatable {
    package let authorization: FetchURL?
    package let token: FetchURL?
    package let revocation: FetchURL?
    package let userInfo: FetchURL?
    package let introspection: FetchURL?
    /// Where users sign out (RP-Initiated Logout 1.0, section 2.1).
    package let endSession: FetchURL?
    /// All others, those for clients with certificates included: for pushed requests, devices, registration and the like.
    package let others: [FetchURL]
    /// Those for clients with certificates, if they differ (RFC 8705, section 5).
    package let aliases: Aliases
    /// How clients may authenticate at ``revocation`` (RFC 8414, section 2); `nil` if the document does not say.
    package let revocationMethods: [String]?
    /// Whether responses of the authorization endpoint name the issuer (RFC 9207, section 3).
    package let sendsResponseIssuer: Bool
    /// For authorization requests that are sent before the browser (RFC 9126, section 5).
    package let pushedRequest: FetchURL?
    /// Whether authorization requests must be pushed (RFC 9126, section 5).
    package let requiresPushedRequests: Bool
    /// Whether authorization requests must be signed (RFC 9101, section 10.5).
    package let requiresSignedRequests: Bool

    /// `mtls_endpoint_aliases`; `nil` for an endpoint that has no other URL.
    package struct Aliases: Sendable, Equatable {
        package let token: FetchURL?
        package let revocation: FetchURL?
        package let userInfo: FetchURL?
        package let introspection: FetchURL?
        package let pushedRequest: FetchURL?

        fileprivate init(_ url: (String) -> FetchURL?) {
            token = url("token_endpoint")
            revocation = url("revocation_endpoint")
            userInfo = url("userinfo_endpoint")
            introspection = url("introspection_endpoint")
            pushedRequest = url("pushed_authorization_request_endpoint")
        }
    }

    /// Reads the endpoints alone, from a document that need not name keys.
    ///
    /// - Throws: ``FetchFailure`` unless the document is this issuer's.
    convenience init(reading json: [UInt8], issuer: String, under rules: NetworkRules) throws(FetchFailure) {
        self.init(try ProviderMetadata.members(of: json, issuer: issuer), under: rules)
    }

    /// - Parameter members: those of the discovery document.
    init(_ members: JSONObject, under rules: NetworkRules) {
        func url(_ name: String) -> FetchURL? {
            members[JSONName(name)]?.string.flatMap { try? rules.url($0) }
        }
        authorization = url("authorization_endpoint")
        token = url("token_endpoint")
        revocation = url("revocation_endpoint")
        userInfo = url("userinfo_endpoint")
        introspection = url("introspection_endpoint")
        endSession = url("end_session_endpoint")
        others = Self.others(members).compactMap { try? rules.url($0) }
        let own = members["mtls_endpoint_aliases"]?.object
        aliases = Aliases { name in own?[JSONName(name)]?.string.flatMap { try? rules.url($0) } }
        revocationMethods = members["revocation_endpoint_auth_methods_supported"]?.elements?.compactMap(\.string)
        sendsResponseIssuer = members["authorization_response_iss_parameter_supported"]?.bool == true
        pushedRequest = url("pushed_authorization_request_endpoint")
        requiresPushedRequests = members["require_pushed_authorization_requests"]?.bool == true
        requiresSignedRequests = members["require_signed_request_object"]?.bool == true
    }

    /// The URLs of the endpoints that have no property of their own, in the order of their texts.
    private static func others(_ members: JSONObject) -> [String] {
        let known = ["authorization", "token", "revocation", "userinfo", "introspection"].map { $0 + "_endpoint" }
        var texts: Set<String> = []
        func collect(_ members: JSONObject?, except known: [String]) {
            members?.forEachMember { name, value in
                if name.hasSuffix("_endpoint"), !known.contains(name), let text = value.string { texts.insert(text) }
            }
        }
        collect(members, except: known)
        collect(members["mtls_endpoint_aliases"]?.object, except: ["userinfo_endpoint"])
        return Array(texts.sorted().prefix(maximumOthers))
    }

    private static let maximumOthers = 64

    /// Reads what ``archived`` wrote.
    init(archived members: [String: JSONTree]) {
        func url(_ name: String) -> FetchURL? {
            members[name]?.string.flatMap { try? FetchURL($0, allowingHTTP: true) }
        }
        authorization = url("authorization")
        token = url("token")
        revocation = url("revocation")
        userInfo = url("userinfo")
        introspection = url("introspection")
        endSession = url("end_session")
        others = (members["others"]?.array ?? []).compactMap { value in
            value.string.flatMap { try? FetchURL($0, allowingHTTP: true) }
        }
        let own = members["aliases"]?.object ?? [:]
        aliases = Aliases { name in own[name]?.string.flatMap { try? FetchURL($0, allowingHTTP: true) } }
        revocationMethods = members["revocation_methods"]?.array?.compactMap(\.string)
        sendsResponseIssuer = members["sends_response_issuer"] == .bool(true)
        pushedRequest = url("pushed_request")
        requiresPushedRequests = members["requires_pushed_requests"] == .bool(true)
        requiresSignedRequests = members["requires_signed_requests"] == .bool(true)
    }

    /// Everything, for a file.
    var archived: JSONTree {
        func text(_ url: FetchURL?) -> JSONTree { url.map { .string($0.text) } ?? .null }
        return .object([
            "authorization": text(authorization), "token": text(token), "revocation": text(revocation),
            "userinfo": text(userInfo), "introspection": text(introspection),
            "end_session": text(endSession),
            "others": .array(others.map { .string($0.text) }),
            "aliases": .object([
                "token_endpoint": text(aliases.token), "revocation_endpoint": text(aliases.revocation),
                "userinfo_endpoint": text(aliases.userInfo), "introspection_endpoint": text(aliases.introspection),
                "pushed_authorization_request_endpoint": text(aliases.pushedRequest),
            ]),
            "revocation_methods": revocationMethods.map { .array($0.map(JSONTree.string)) } ?? .null,
            "sends_response_issuer": .bool(sendsResponseIssuer), "pushed_request": text(pushedRequest),
            "requires_pushed_requests": .bool(requiresPushedRequests),
            "requires_signed_requests": .bool(requiresSignedRequests),
        ])
    }

    package static func == (left: DiscoveredEndpoints, right: DiscoveredEndpoints) -> Bool {
        left.authorization == right.authorization && left.token == right.token && left.revocation == right.revocation
            && left.userInfo == right.userInfo && left.introspection == right.introspection
            && left.endSession == right.endSession && left.others == right.others && left.aliases == right.aliases
            && left.revocationMethods == right.revocationMethods
            && left.sendsResponseIssuer == right.sendsResponseIssuer && left.pushedRequest == right.pushedRequest
            && left.requiresPushedRequests == right.requiresPushedRequests
            && left.requiresSignedRequests == right.requiresSignedRequests
    }
}
