private import Bytes
package import JOSE
private import JSON

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
    ///   - allowingHTTP: whether endpoints may be `http` URLs.
    /// - Throws: ``FetchFailure``.
    /// - Source: OpenID Connect Discovery 1.0, section 4.3.
    package init(_ json: [UInt8], issuer: String, allowingHTTP: Bool = false) throws(FetchFailure) {
        guard let members = (try? JSONTree(readingObject: json))?.object else {
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
        guard let jwksURI = members["jwks_uri"]?.string else {
            throw FetchFailure(.parse, "the discovery document has no jwks_uri")
        }
        self.jwksURI = jwksURI
        endpoints = DiscoveredEndpoints(members, allowingHTTP: allowingHTTP)
        if let listed = members["id_token_signing_alg_values_supported"]?.array?.compactMap(\.string) {
            algorithms = SignatureAlgorithms(naming: listed)
            unsafeAlgorithms = Self.unsafeNames.filter { name in
                listed.contains { $0.lowercased() == name.lowercased() }
            }
        } else {
            algorithms = .all
            unsafeAlgorithms = []
        }
    }

    private static let unsafeNames = ["none", "HS256", "HS384", "HS512"]

    /// The issuer in a discovery document, without checking it.
    static func issuer(in json: [UInt8]) -> String? {
        (try? JSONTree(readingObject: json))?.object?["issuer"]?.string
    }

    /// The URL of an issuer's discovery document: the issuer without a trailing slash, and the well-known path.
    ///
    /// - Source: OpenID Connect Discovery 1.0, section 4.1.
    package static func address(forIssuer issuer: String) -> String {
        (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + "/.well-known/openid-configuration"
    }
}
