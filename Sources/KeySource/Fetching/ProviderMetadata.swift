private import Bytes
package import JOSE
private import JSON

/// What a verifier needs of a provider's discovery document (OpenID Connect Discovery 1.0, section 3).
package struct ProviderMetadata: Sendable, Equatable {
    package let jwksURI: String
    /// The supported ones of `id_token_signing_alg_values_supported`, maybe none; all that are supported, where it is absent.
    package let algorithms: SignatureAlgorithms
    /// Those it lists that nobody can tell the provider by: `none`, and those of a secret that the client has as well. Tokens
    /// that are signed so are refused whatever the document says.
    let unsafeAlgorithms: [String]

    /// Reads a discovery document.
    ///
    /// - Parameter issuer: the configured one. The document's must be the same, byte for byte, or anyone who can answer for
    ///   its URL could answer with another provider's keys.
    /// - Throws: ``FetchFailure``.
    /// - Source: OpenID Connect Discovery 1.0, section 4.3.
    package init(_ json: [UInt8], issuer: String) throws(FetchFailure) {
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

    /// The issuer that a discovery document names, whoever's it is.
    static func issuer(in json: [UInt8]) -> String? {
        (try? JSONTree(readingObject: json))?.object?["issuer"]?.string
    }

    /// Where an issuer's discovery document is: a trailing slash goes, then the well-known path follows.
    ///
    /// - Source: OpenID Connect Discovery 1.0, section 4.1.
    package static func address(forIssuer issuer: String) -> String {
        (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + "/.well-known/openid-configuration"
    }
}
