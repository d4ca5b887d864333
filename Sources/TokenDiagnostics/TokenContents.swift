public import IDToken
internal import JOSE
internal import JSON
internal import OpenSSL

/// The header and the claims of a token as an explanation shows them. Nothing of it is verified.
///
/// All texts are bounded and printable ASCII.
public struct TokenContents: Sendable, Equatable {
    /// The members of the JOSE header, in its order.
    public let header: [Member]
    /// The claims, in the payload's order.
    public let claims: [Member]

    /// A member of one of the two.
    public struct Member: Sendable, Equatable {
        /// As the token has it, bounded.
        public let name: String
        /// For people: the value, or, where it is masked, what kind of value it is.
        public let value: String
        /// Whether the value is not shown, since it may be somebody's.
        public let isMasked: Bool
    }

    /// - Parameter showingValues: whether to show values that may be somebody's: only to the one whose token it is.
    init(_ token: UnverifiedToken, showingValues: Bool, now: UnixTime, _ checker: SignatureChecker) {
        header = Self.members(of: token.headerObject) { _, value in (Self.plain(value), false) }
        claims = Self.members(of: token.claims.object) { name, value in
            if Self.times.contains(name), let time = UnixTime(numericDate: value) {
                return (Redaction.time(time, now: now), false)
            }
            if showingValues || Self.isImpersonal(name, value) { return (Self.plain(value), false) }
            return (Self.masked(value, hasFingerprint: Self.compared.contains(name), checker), true)
        }
    }

    /// Reads a text for showing it to its owner.
    ///
    /// - Returns: `nil` where it is no token.
    public init?(ofOwnToken text: String, now: UnixTime) {
        guard let token = try? UnverifiedToken(text), let checker = try? SignatureChecker() else { return nil }
        self.init(token, showingValues: true, now: now, checker)
    }

    // MARK: What is whose

    private static let times: Set = ["exp", "iat", "nbf", "auth_time", "updated_at"]

    /// Claims that belong to a kind of token, a provider, an app or an organization, and to nobody.
    private static let impersonal =
        Set([
            "iss", "aud", "azp", "scope", "scp", "client_id", "appid", "nonce_supported", "email_verified",
            "is_private_email", "real_user_status", "amr", "xms_edov",
        ]).union(CheckDescriptions.impersonalClaims)

    /// Secrets and names that have to be compared with others, of which 32 bits of a hash are shown.
    private static let compared: Set = ["sub", "nonce", "at_hash", "c_hash", "jti", "sid"]

    /// Whether a value is of a claim that is nobody's, and of a type that such a claim has.
    private static func isImpersonal(_ name: String, _ value: JSONValue) -> Bool {
        switch value.kind {
        case .null: true
        case .object, .real: false
        case .array: impersonal.contains(name) && value.elements?.allSatisfy { $0.kind == .string } == true
        case .string, .integer, .true, .false: impersonal.contains(name)
        }
    }

    // MARK: Members

    /// More are counted and not shown.
    private static let maximumCount = 100

    /// - Parameter show: what is shown of a member, and whether its value is masked.
    private static func members(
        of object: JSONObject?, _ show: (String, JSONValue) -> (value: String, isMasked: Bool)
    ) -> [Member] {
        var members: [Member] = []
        var count = 0
        object?.forEachMember { name, value in
            count += 1
            guard count <= maximumCount else { return }
            let shown = show(name, value)
            members.append(Member(name: Redaction.text(name), value: shown.value, isMasked: shown.isMasked))
        }
        if count > maximumCount {
            members.append(Member(name: "...", value: "\(count - maximumCount) more", isMasked: true))
        }
        return members
    }

    private static func plain(_ value: JSONValue) -> String {
        Redaction.text(value.string ?? String(decoding: value.json, as: UTF8.self))
    }

    /// The kind of a value. Of numbers not even a hash is shown: a few digits can be tried one by one.
    private static func masked(
        _ value: JSONValue, hasFingerprint: Bool, _ checker: SignatureChecker
    ) -> String {
        switch value.kind {
        case .string:
            let text = value.string ?? ""
            if hasFingerprint { return Redaction.fingerprint(text, checker) }
            let count = text.unicodeScalars.count
            return count == 1 ? "1 character" : "\(count) characters"
        case .integer, .real: return "a number"
        case .true, .false: return "true or false"
        case .array: return "a list of \(value.elementCount ?? 0)"
        case .object: return "an object"
        case .null: return "null"
        }
    }
}

extension UnverifiedToken {
    /// The header, for what the verifier does not read.
    var headerObject: JSONObject? {
        Base64URL.decode(jws.headerText.span).flatMap { try? JSONObject($0) }
    }
}
