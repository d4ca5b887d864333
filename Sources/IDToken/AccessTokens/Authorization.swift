private import Bytes
private import JOSE

/// The permissions that an access token grants, and the client that it was issued to.
public struct Authorization: Sendable, Equatable {
    /// The client that the token was issued to; `nil` if the provider's tokens name none.
    public let clientID: String?
    /// In the token's order, each once.
    public let scopes: [String]
    public let roles: [String]
    /// `nil` if the user has too many for the provider to list.
    public let groups: [String]?
    public let entitlements: [String]

    /// Reads an access token's claims.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)`` unless the scopes are a string or a list of strings.
    /// - Source: RFC 9068, sections 2.2.3 and 2.2.3.1; some providers use `scp` instead of `scope`.
    init(_ claims: Claims, client: String?, _ names: AuthorizationClaims) throws(Rejection) {
        clientID = client
        scopes = try Self.scopes(in: claims)
        roles = claims.names(at: names.roles)
        groups = claims.leavesOutGroups(at: names.groups) ? nil : claims.names(at: names.groups)
        entitlements = claims.names(at: names.entitlements)
    }

    /// The scopes that an access token grants.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)`` unless they are a string or a list of strings.
    package static func scopes(in claims: Claims) throws(Rejection) -> [String] {
        if let scopes = try claims.scopes(.scope) { return scopes }
        return try claims.scopes(.shortScope) ?? []
    }
}

extension Claims {
    /// The scopes in a claim: a space-separated string, or a list; `nil` if the claim is absent or `null`.
    fileprivate func scopes(_ claim: ClaimName) throws(Rejection) -> [String]? {
        guard let value = object[claim.json], value.kind != .null else { return nil }
        var texts: [String]
        if let text = value.utf8 {
            texts = text.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
        } else if let elements = value.elements {
            texts = []
            for element in elements {
                guard let text = element.string else { throw .claimInvalid(claim) }
                texts.append(text)
            }
        } else {
            throw .claimInvalid(claim)
        }
        var seen: Set<ExactString> = []
        return texts.filter { seen.insert(ExactString($0)).inserted }
    }

    /// The names in a claim: a string, a list of strings, a list of SCIM values (RFC 7643, section 2.4), or the members
    /// of an object, as Zitadel lists roles. Anything else grants nothing.
    fileprivate func names(at path: ClaimPath) -> [String] {
        guard let value = value(at: path) else { return [] }
        if let name = value.string { return name.isEmpty ? [] : [name] }
        if let elements = value.elements { return elements.compactMap { $0.string ?? $0.object?[Names.value]?.string } }
        var names: [String] = []
        value.object?.forEachMember { name, _ in names.append(name) }
        return names
    }

    private enum Names {
        static let value: JSONName = "value"
    }
}
