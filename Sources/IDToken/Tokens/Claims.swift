private import Bytes
package import JOSE

/// Typed access to a JWT Claims Set. This type does not know whether the claims have been verified.
package struct Claims: Sendable {
    /// The whole Claims Set, for display.
    package let object: JSONObject

    package init(_ object: JSONObject) { self.object = object }

    /// Whether a claim has a value: it is not absent, `null` or an empty string.
    package func hasValue(_ claim: ClaimName) -> Bool { object.hasValue(claim.json) }

    /// Whether the Claims Set has this claim, whatever its value.
    package func contains(_ claim: ClaimName) -> Bool { object.kind(of: claim.json) != nil }

    /// A claim that must be a string if present.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)``.
    package func string(_ claim: ClaimName) throws(Rejection) -> String? {
        do throws(JSONTypeMismatch) { return try object.string(claim.json) } catch { throw .claimInvalid(claim) }
    }

    /// A claim that must be a string if it has a value; `nil` if it is absent or `null`.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)``.
    func optionalString(_ claim: ClaimName) throws(Rejection) -> String? {
        do throws(Rejection) {
            return try string(claim)
        } catch {
            guard object.kind(of: claim.json) == .null else { throw error }
            return nil
        }
    }

    /// A claim that must be a string, as UTF-8.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)``.
    package func utf8(_ claim: ClaimName) throws(Rejection) -> ArraySlice<UInt8>? {
        do throws(JSONTypeMismatch) { return try object.utf8(claim.json) } catch { throw .claimInvalid(claim) }
    }

    /// A descriptive claim: `nil` if it is absent or of another type. Providers differ (LinkedIn's `locale` is an
    /// object), and no decision depends on it.
    package func text(_ claim: ClaimName) -> String? { try? object.string(claim.json) }

    /// A descriptive claim, as an integer.
    func integer(_ claim: ClaimName) -> Int64? { try? object.integer(claim.json) }

    /// A descriptive claim, as a list of strings. A single string becomes a list of one.
    package func texts(_ claim: ClaimName) -> [String] {
        guard let value = object[claim.json] else { return [] }
        if let string = value.string { return [string] }
        return (value.elements ?? []).compactMap(\.string)
    }

    /// `jti`, `sid`, `acr` and `amr`: descriptive claims of every kind of token.
    @inline(__always)
    var session: (tokenID: String?, sessionID: String?, contextClass: String?, methods: [String]) {
        (text(.tokenID), text(.sessionID), text(.authenticationContextClass), texts(.authenticationMethods))
    }

    /// The value at a path; `nil` if the path leads nowhere.
    package func value(at path: ClaimPath) -> JSONValue? {
        var value: JSONValue?
        var object: JSONObject? = object
        for step in path.steps {
            value = object?[step.json]
            object = value?.object
        }
        return value
    }

    /// A descriptive claim at a path: a string, or the first string of a list.
    package func text(at path: ClaimPath) -> String? {
        guard let value = value(at: path) else { return nil }
        return value.string ?? value.elements?.first?.string
    }

    /// Whether the claim at a path is that of the user's groups, and the provider left the groups out because there are
    /// too many. The user then has groups, but the token does not say which.
    ///
    /// - Source: learn.microsoft.com/entra/identity-platform/access-token-claims-reference, "Groups overage claim".
    package func leavesOutGroups(at path: ClaimPath) -> Bool {
        guard path.steps == [.groups] else { return false }
        if let names = object[ClaimName.claimNames.json]?.object, names.kind(of: ClaimName.groups.json) != nil {
            return true
        }
        switch object.kind(of: ClaimName.hasGroups.json) {
        case nil, .null, .false: return false
        default: return true
        }
    }

    /// `aud`: a string or an array of strings (RFC 7519, section 4.1.3); empty if it is absent, `null` or `[]`.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)``.
    package func audiences() throws(Rejection) -> [String] {
        // Fast path: nearly all tokens have a single audience, as a string.
        if let string = text(.audience) { return [string] }
        guard let value = object[ClaimName.audience.json], value.kind != .null else { return [] }
        guard let elements = value.elements else { throw .claimInvalid(.audience) }
        var audiences: [String] = []
        for element in elements {
            guard let string = element.string else { throw .claimInvalid(.audience) }
            audiences.append(string)
        }
        return audiences
    }

    /// A NumericDate.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)`` for anything but a number.
    package func time(_ claim: ClaimName) throws(Rejection) -> UnixTime? {
        if let seconds = integer(claim) { return UnixTime(claimedSeconds: seconds) }
        guard let value = object[claim.json] else { return nil }
        guard let time = UnixTime(numericDate: value) else { throw .claimInvalid(claim) }
        return time
    }

    /// A boolean in any of the forms that providers send: `true`, `"true"`, `1`.
    ///
    /// Other values are rejected. Converting by truthiness would turn `"false"` into `true`.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)``.
    func bool(_ claim: ClaimName) throws(Rejection) -> Bool? {
        switch object.kind(of: claim.json) {
        case nil: return nil
        case .true: return true
        case .false: return false
        case .integer where integer(claim) == 1: return true
        case .integer where integer(claim) == 0: return false
        case .string where object.isString(claim.json, "true"): return true
        case .string where object.isString(claim.json, "false"): return false
        default: throw .claimInvalid(claim)
        }
    }
}

/// The name of a claim, known from this code or from the provider's settings, and never taken from a token.
public struct ClaimName: Sendable, Hashable {
    package let json: JSONName

    public init(_ name: String) { json = JSONName(name) }

    public var string: String { json.string }

    public static func == (left: ClaimName, right: ClaimName) -> Bool { left.string.isExactly(right.string) }

    public func hash(into hasher: inout Hasher) { hasher.combine(ExactString(string)) }

    // RFC 7519, section 4.1.
    package static let issuer = ClaimName("iss")
    package static let subject = ClaimName("sub")
    package static let audience = ClaimName("aud")
    package static let expiration = ClaimName("exp")
    package static let notBefore = ClaimName("nbf")
    package static let issuedAt = ClaimName("iat")
    package static let tokenID = ClaimName("jti")

    // OpenID Connect Core, sections 2 and 3.
    package static let authorizedParty = ClaimName("azp")
    package static let authTime = ClaimName("auth_time")
    package static let nonce = ClaimName("nonce")
    package static let authenticationContextClass = ClaimName("acr")
    package static let authenticationMethods = ClaimName("amr")
    package static let accessTokenHash = ClaimName("at_hash")
    package static let codeHash = ClaimName("c_hash")
    package static let stateHash = ClaimName("s_hash")
    package static let sessionID = ClaimName("sid")

    // RFC 9068, section 2.2: claims of access tokens. `scp` is what some providers use instead of `scope`.
    package static let scope = ClaimName("scope")
    package static let shortScope = ClaimName("scp")
    package static let clientID = ClaimName("client_id")

    // RFC 7800, section 3.1: the key that the token is bound to.
    package static let confirmation = ClaimName("cnf")

    // AWS load balancers: a member of the header of their assertions.
    package static let signer = ClaimName("signer")

    // OpenID Connect Core, section 5.1.
    package static let name = ClaimName("name")
    package static let givenName = ClaimName("given_name")
    package static let familyName = ClaimName("family_name")
    package static let preferredUsername = ClaimName("preferred_username")
    package static let picture = ClaimName("picture")
    package static let locale = ClaimName("locale")
    package static let email = ClaimName("email")
    package static let emailVerified = ClaimName("email_verified")

    // RFC 8417, section 2.2: marks a security event token, which is not an ID Token.
    package static let events = ClaimName("events")

    // Apple: "Authenticating users with Sign in with Apple", the identity token's claims.
    package static let isPrivateEmail = ClaimName("is_private_email")
    package static let realUserStatus = ClaimName("real_user_status")
    package static let transferSubject = ClaimName("transfer_sub")

    // Microsoft Entra ID and Google Workspace.
    package static let tenant = ClaimName("tid")
    package static let hostedDomain = ClaimName("hd")

    // RFC 9068, section 2.2.3.1; and what Microsoft Entra ID sends instead if there are too many.
    package static let groups = ClaimName("groups")
    package static let claimNames = ClaimName("_claim_names")
    package static let hasGroups = ClaimName("hasgroups")
}
