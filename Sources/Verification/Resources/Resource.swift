private import Bytes
package import IDToken
package import JOSE

/// An API as its clients know it: what its tokens are for, where they come from, and what its metadata says.
///
/// - Source: RFC 9728.
package struct Resource: Sendable, Equatable {
    /// The ID in requests to this service, byte for byte.
    package var id: String
    package var address: ResourceAddress
    /// The audiences, one of which a token must have, instead of those of its provider's entry. Empty: tokens have none,
    /// and only their clients tie them to this API.
    package var audiences: [String]
    /// The IDs of the providers whose tokens are accepted. No two of them have the same issuer.
    package var providers: [String]
    /// The issuers that a client may ask for a token.
    package var authorizationServers: [String]
    /// The scopes in a challenge, if a request or a policy needs no others.
    package var scopes: [String]
    /// The members of the metadata that Assay does not know itself.
    package var metadata: [String: JSONTree]
    /// What DPoP proofs for it need, where that differs from its provider's settings.
    package var proofUse = ProofUse()

    package init(
        id: String, address: ResourceAddress, audiences: [String]? = nil, providers: [String],
        authorizationServers: [String], scopes: [String] = [], metadata: [String: JSONTree] = [:]
    ) {
        self.id = id
        self.address = address
        self.audiences = audiences ?? address.spellings
        self.providers = providers
        self.authorizationServers = authorizationServers
        self.scopes = scopes
        self.metadata = metadata
    }
}

extension ProofUse {
    /// These, with those of more general settings for what they leave open.
    package func completed(by general: ProofUse) -> ProofUse {
        var use = self
        use.passesOnce = passesOnce ?? general.passesOnce
        use.needsNonce = needsNonce ?? general.needsNonce
        return use
    }
}

/// A resource's identifier, and the address of its metadata that follows from it.
///
/// - Source: RFC 9728, sections 1.2 and 3.1.
package struct ResourceAddress: Sendable, Equatable {
    /// The identifier as written in the settings, in the metadata, and in audiences.
    package let identifier: String
    /// Scheme and host, and the port if it is not the scheme's own; in lower case.
    private let origin: String
    /// The path of the metadata on the resource's host.
    package let metadataPath: String
    private let hasEmptyPath: Bool

    /// - Returns: `nil` for anything but an `https` URL, or an `http` URL of this machine, without user name, query and
    ///   fragment.
    package init?(_ identifier: String) {
        guard let target = TargetURI(identifier), !identifier.utf8.contains(where: { "?#".utf8.contains($0) }) else {
            return nil
        }
        let path = String(Self.afterAuthority(identifier))
        self.identifier = identifier
        origin = String(target.text.dropLast(Self.afterAuthority(target.text).count))
        hasEmptyPath = path.isEmpty || path == "/"
        metadataPath = Self.wellKnown + (hasEmptyPath ? "" : path)
    }

    private static let wellKnown = "/.well-known/oauth-protected-resource"

    /// The path of a URL as written; empty if it has none.
    private static func afterAuthority(_ url: String) -> Substring {
        guard let scheme = url.firstRange(of: "://") else { return "" }
        return url[scheme.upperBound...].drop { $0 != "/" }
    }

    /// The URL of the metadata. Two resources with the same one can't be told apart.
    package var metadataURL: String { origin + metadataPath }

    /// The spellings of the identifier that deployed clients send. Some add a slash to an empty path, and some remove it.
    fileprivate var spellings: [String] {
        guard hasEmptyPath else { return [identifier] }
        return [identifier, identifier.hasSuffix("/") ? String(identifier.dropLast()) : identifier + "/"]
    }

    /// Whether `Host` names the resource's host: without regard to case, and with or without the scheme's own port.
    package func isHost(_ host: ArraySlice<UInt8>) -> Bool {
        let isSecure = origin.hasPrefix("https://")
        let authority = origin.dropFirst(isSecure ? "https://".count : "http://".count)
        let usualPort = isSecure ? ":443" : ":80"
        return host.span.isEqualIgnoringCase(to: authority.utf8.span)
            || host.span.isEqualIgnoringCase(to: (authority + usualPort).utf8.span)
    }
}
