private import Bytes
internal import IDToken
internal import JOSE
internal import OAuth
internal import Verification

/// `claims`, `resource` and `require_acr` of a begin request, and what they make the finish check.
struct RequestedClaims {
    /// The value of `claims`, as the backend sent it.
    let claims: [UInt8]?
    let resources: [String]
    /// The token's `acr` must be one of these; `nil`: any.
    let contextClasses: [String]?
    /// Whether the token must have an `auth_time`.
    let requiresAuthenticationTime: Bool

    private static let longestClaims = 4096
    private static let longestResources = 512

    /// - Parameter acrValues: the request's `acr_values`.
    /// - Throws: ``Problem/requestInvalid(_:)``.
    init(_ object: JSONObject, acrValues: String?) throws(Problem) {
        let claims = try Self.claims(object)
        self.claims = claims.map { Array($0.json) }
        resources = try Self.resources(object)
        let essential = try Self.idTokenClaims(claims?.object)
        requiresAuthenticationTime = try Self.isEssential(Names.authTime, in: essential)
        var classes: [String]?
        if try object.boolean(Names.requireACR) == true {
            let values = (acrValues ?? "").split(separator: " ").map(String.init)
            guard !values.isEmpty else {
                throw .requestInvalid("require_acr needs acr_values, one of which the token must have; send them.")
            }
            classes = values
        }
        if try Self.isEssential(Names.acr, in: essential), let acr = essential?[Names.acr],
            let values = try Self.values(of: acr)
        {
            classes = classes.map { $0.filter(values.containsExactly) } ?? values
            guard classes?.isEmpty == false else {
                throw .requestInvalid(
                    "No acr would be accepted: claims and acr_values (require_acr) have no value in common.")
            }
        }
        contextClasses = classes
    }

    /// Whether the request sets a parameter itself, so that the client's own of this name does not count.
    func sets(_ parameter: String) -> Bool {
        parameter == "claims" && claims != nil || parameter == "resource" && !resources.isEmpty
    }

    private static func claims(_ object: JSONObject) throws(Problem) -> JSONValue? {
        guard let value = object[Names.claims], value.kind != .null else { return nil }
        guard value.kind == .object, value.json.count <= longestClaims else {
            throw .requestInvalid(
                "claims must be an object of at most \(longestClaims) bytes (OpenID Connect Core, 5.5).")
        }
        return value
    }

    private static func idTokenClaims(_ claims: JSONObject?) throws(Problem) -> JSONObject? {
        guard let value = claims?[MemberNames.idToken], value.kind != .null else { return nil }
        guard let object = value.object else { throw .requestInvalid("claims.id_token must be an object.") }
        return object
    }

    /// Whether the token must have a claim. Something that looks like a demand must not turn the check off.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    /// - Source: OpenID Connect Core 1.0, section 5.5.1.
    private static func isEssential(_ name: JSONName, in claims: JSONObject?) throws(Problem) -> Bool {
        guard let claim = claims?[name], claim.kind != .null else { return false }
        do throws(JSONTypeMismatch) {
            if let object = claim.object { return try object.bool(Names.essential) ?? false }
        } catch {}
        throw .requestInvalid(
            "claims.id_token.\(name.string) must be null, or an object whose essential is true or false; correct it, or omit it."
        )
    }

    /// The values that a claim may have; `nil` if any.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    private static func values(of claim: JSONValue) throws(Problem) -> [String]? {
        let (value, values) = (claim.object?[Names.value], claim.object?[Names.values])
        guard value != nil || values != nil else { return nil }
        let texts = values.map { $0.elements?.map(\.string) ?? [nil] } ?? [value?.string]
        let found = texts.compactMap(\.self)
        guard !found.isEmpty, found.count == texts.count, value == nil || values == nil else {
            throw .requestInvalid("claims.id_token.acr must have either value, a string, or values, a list of strings.")
        }
        return found
    }

    private static func resources(_ object: JSONObject) throws(Problem) -> [String] {
        guard let value = object[Names.resource], value.kind != .null else { return [] }
        let texts = value.elements?.map { $0.string ?? "" }
        guard let texts, texts.allSatisfy(isResource), texts.reduce(0, { $0 + $1.utf8.count }) <= longestResources
        else {
            throw .requestInvalid(
                "resource must be a list of absolute URIs without fragments, together at most \(longestResources) bytes."
            )
        }
        return texts
    }

    /// - Source: RFC 8707, section 2.
    private static func isResource(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), text.utf8.first?.isLetter == true else {
            return false
        }
        return text.utf8.allSatisfy { $0.isVisibleASCII && $0 != UInt8(ascii: "#") }
            && text.utf8[..<colon].allSatisfy { $0.isLetterOrDigit || "+-.".utf8.contains($0) }
            && text.utf8.index(after: colon) < text.utf8.endIndex
    }

    enum Names {
        static let claims: JSONName = "claims"
        static let resource: JSONName = "resource"
        static let requireACR: JSONName = "require_acr"
        fileprivate static let acr: JSONName = "acr"
        fileprivate static let authTime: JSONName = "auth_time"
        fileprivate static let essential: JSONName = "essential"
        fileprivate static let value: JSONName = "value"
        fileprivate static let values: JSONName = "values"
        static let all = [claims, resource, requireACR]
    }
}

extension SignIn {
    /// Checks what the authorization request asked for.
    ///
    /// - Parameter answer: whose token the finish returns.
    /// - Throws: ``Problem/acrMismatch``, and ``Problem/rejected(_:of:)`` if `auth_time` is missing.
    func check(_ answer: VerifyAnswer) throws(Problem) {
        guard case .browser(let browser) = kind, let requested = browser.requested else { return }
        if !requested.contextClasses.isEmpty {
            guard let acr = answer.contextClass, requested.contextClasses.containsExactly(acr) else {
                throw .acrMismatch
            }
        }
        if requested.requiresAuthenticationTime, answer.authenticatedAt == nil {
            throw .rejected(.claimMissing(.authTime))
        }
    }
}
