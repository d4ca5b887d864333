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

/// An endpoint for sign-ins or tokens, which a discovery document may name.
package enum EndpointName: CaseIterable, Sendable {
    case authorization, token, revocation, userInfo, introspection
    /// Where users sign out (RP-Initiated Logout 1.0, section 2.1).
    case endSession
    /// For authorization requests that are sent before the browser (RFC 9126, section 5).
    case pushedRequest

    /// The member of a discovery document that names it.
    package var member: String {
        switch self {
        case .authorization: "authorization_endpoint"
        case .token: "token_endpoint"
        case .revocation: "revocation_endpoint"
        case .userInfo: "userinfo_endpoint"
        case .introspection: "introspection_endpoint"
        case .endSession: "end_session_endpoint"
        case .pushedRequest: "pushed_authorization_request_endpoint"
        }
    }

    /// Its name in an archive.
    fileprivate var archived: String {
        self == .pushedRequest ? "pushed_request" : String(member.dropLast("_endpoint".count))
    }
}

/// The endpoints that a provider's discovery document names.
///
/// Each is read on its own: one that is missing or can't be used is `nil`, and never makes a key fetch fail.
// A class, so that a `KeySnapshot` holds only a reference to it.
package final class DiscoveredEndpoints: Sendable, Equatable {
    private let urls: [EndpointName: FetchURL]
    /// Those for clients with certificates, if they differ (RFC 8705, section 5).
    private let aliases: [EndpointName: FetchURL]
    /// All others, those for clients with certificates included: for devices, registration and the like.
    private let others: [FetchURL]
    /// How clients may authenticate at the revocation endpoint (RFC 8414, section 2); `nil` if the document does not say.
    package let revocationMethods: [String]?
    /// Whether responses of the authorization endpoint name the issuer (RFC 9207, section 3).
    package let sendsResponseIssuer: Bool
    /// Whether authorization requests must be pushed (RFC 9126, section 5).
    package let requiresPushedRequests: Bool
    /// Whether authorization requests must be signed (RFC 9101, section 10.5).
    package let requiresSignedRequests: Bool

    package subscript(name: EndpointName) -> FetchURL? { urls[name] }

    /// - Parameter presents: whether the client presents a certificate there.
    package func url(_ name: EndpointName, presentingCertificate presents: Bool) -> FetchURL? {
        (presents ? aliases[name] : nil) ?? urls[name]
    }

    /// All but the UserInfo endpoints.
    package var allButUserInfo: [FetchURL] {
        [urls, aliases].flatMap { $0.filter { $0.key != .userInfo }.values } + others
    }

    /// Reads the endpoints alone, from a document that need not name keys.
    ///
    /// - Throws: ``FetchFailure`` unless the document is this issuer's.
    convenience init(reading json: [UInt8], issuer: String, under rules: NetworkRules) throws(FetchFailure) {
        self.init(try ProviderMetadata.members(of: json, issuer: issuer), under: rules)
    }

    /// - Parameter members: those of the discovery document.
    init(_ members: JSONObject, under rules: NetworkRules) {
        func endpoints(in object: JSONObject?) -> [EndpointName: FetchURL] {
            .each { object?[JSONName($0.member)]?.string.flatMap { try? rules.url($0) } }
        }
        urls = endpoints(in: members)
        aliases = endpoints(in: members["mtls_endpoint_aliases"]?.object)
        others = Self.others(members).compactMap { try? rules.url($0) }
        revocationMethods = members["revocation_endpoint_auth_methods_supported"]?.elements?.compactMap(\.string)
        sendsResponseIssuer = members["authorization_response_iss_parameter_supported"]?.bool == true
        requiresPushedRequests = members["require_pushed_authorization_requests"]?.bool == true
        requiresSignedRequests = members["require_signed_request_object"]?.bool == true
    }

    /// The URLs of the endpoints that have no name here, in the order of their texts.
    private static func others(_ members: JSONObject) -> [String] {
        let named = EndpointName.allCases.map(\.member)
        var texts: Set<String> = []
        for object in [members, members["mtls_endpoint_aliases"]?.object] {
            object?.forEachMember { name, value in
                if name.hasSuffix("_endpoint"), !named.contains(name), let text = value.string { texts.insert(text) }
            }
        }
        return Array(texts.sorted().prefix(maximumOthers))
    }

    private static let maximumOthers = 64

    /// Reads what ``archived`` wrote.
    init(archived members: [String: JSONTree]) {
        func url(_ value: JSONTree?) -> FetchURL? {
            value?.string.flatMap { try? FetchURL($0, allowingHTTP: true) }
        }
        urls = .each { url(members[$0.archived]) }
        let own = members["aliases"]?.object ?? [:]
        aliases = .each { url(own[$0.member]) }
        others = (members["others"]?.array ?? []).compactMap(url)
        revocationMethods = members["revocation_methods"]?.array?.compactMap(\.string)
        sendsResponseIssuer = members["sends_response_issuer"] == .bool(true)
        requiresPushedRequests = members["requires_pushed_requests"] == .bool(true)
        requiresSignedRequests = members["requires_signed_requests"] == .bool(true)
    }

    /// Everything, for a file.
    var archived: JSONTree {
        let aliases = aliases.map { ($0.member, JSONTree.string($1.text)) }
        var members: [String: JSONTree] = [
            "aliases": .object(Dictionary(uniqueKeysWithValues: aliases)),
            "others": .array(others.map { .string($0.text) }),
            "revocation_methods": revocationMethods.map { .array($0.map(JSONTree.string)) } ?? .null,
            "sends_response_issuer": .bool(sendsResponseIssuer),
            "requires_pushed_requests": .bool(requiresPushedRequests),
            "requires_signed_requests": .bool(requiresSignedRequests),
        ]
        for (name, url) in urls { members[name.archived] = .string(url.text) }
        return .object(members)
    }

    package static func == (left: DiscoveredEndpoints, right: DiscoveredEndpoints) -> Bool {
        left.urls == right.urls && left.aliases == right.aliases && left.others == right.others
            && left.revocationMethods == right.revocationMethods
            && left.sendsResponseIssuer == right.sendsResponseIssuer
            && left.requiresPushedRequests == right.requiresPushedRequests
            && left.requiresSignedRequests == right.requiresSignedRequests
    }
}

extension [EndpointName: FetchURL] {
    /// The endpoints for which there is a URL.
    fileprivate static func each(_ url: (EndpointName) -> FetchURL?) -> Self {
        EndpointName.allCases.reduce(into: [:]) { $0[$1] = url($1) }
    }
}
