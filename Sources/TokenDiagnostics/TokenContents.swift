public import IDToken
internal import JOSE
internal import OpenSSL

/// The header and the claims of a token as an explanation shows them. They are not verified.
///
/// All texts are bounded and printable ASCII.
public struct TokenContents: Sendable, Equatable {
    /// The members of the JOSE header, in its order.
    public let header: [Member]
    /// The claims, in the payload's order.
    public let claims: [Member]

    /// A header parameter or a claim.
    public struct Member: Sendable, Equatable {
        /// The name in the token, shortened if it is long.
        public let name: String
        /// For people: the value or, if it is masked, its type.
        public let value: String
        /// Whether the value is hidden, because it may be personal.
        public let isMasked: Bool
    }

    /// - Parameter showingValues: whether to show values that may be personal. Only the owner of the token may see
    ///   them.
    init(_ token: UnverifiedToken, showingValues: Bool, now: UnixTime, _ checker: SignatureChecker) {
        header = Self.members(of: token.jws.headerObject) { _, value in (Self.plain(value), false) }
        claims = Self.members(of: token.claims, showingValues: showingValues, now: now, checker)
    }

    /// What the issuer of an opaque token says of it.
    init(introspected claims: Claims, now: UnixTime, _ checker: SignatureChecker) {
        header = []
        self.claims = Self.members(of: claims, showingValues: false, now: now, checker)
    }

    private static func members(
        of claims: Claims, showingValues: Bool, now: UnixTime, _ checker: SignatureChecker
    ) -> [Member] {
        members(of: claims.object) { name, value in
            if times.contains(name), let time = UnixTime(numericDate: value) {
                return (Redaction.time(time, now: now), false)
            }
            if showingValues || isImpersonal(name, value) { return (plain(value), false) }
            return (masked(value, hasFingerprint: compared.contains(name), checker), true)
        }
    }

    /// - Parameter text: an encrypted token, whose header is all that can be read.
    init?(ofEncrypted text: ArraySlice<UInt8>) {
        let header = text.prefix { $0 != UInt8(ascii: ".") }
        guard let octets = Base64URL.decode(header.span), let object = try? JSONObject(octets) else { return nil }
        self.header = Self.members(of: object) { _, value in (Self.plain(value), false) }
        claims = []
    }

    /// Reads a token to show it to its owner.
    ///
    /// - Returns: `nil` if the text is not a token.
    public init?(ofOwnToken text: String, now: UnixTime) {
        guard let token = try? UnverifiedToken(text), let checker = try? SignatureChecker() else { return nil }
        self.init(token, showingValues: true, now: now, checker)
    }

    // MARK: Masking

    private static let times: Set = ["exp", "iat", "nbf", "auth_time", "updated_at"]

    /// Claims that identify a kind of token, a provider, an app or an organization, not a person.
    private static let impersonal =
        Set([
            "iss", "aud", "azp", "scope", "scp", "client_id", "appid", "nonce_supported", "email_verified",
            "is_private_email", "real_user_status", "amr", "xms_edov",
        ]).union(CheckDescriptions.impersonalClaims)

    /// Secrets and identifiers that people need to compare: 32 bits of a hash are shown.
    private static let compared: Set = ["sub", "nonce", "at_hash", "c_hash", "jti", "sid"]

    /// Whether a value belongs to a claim that is not personal, and has a type that such a claim may have.
    private static func isImpersonal(_ name: String, _ value: JSONValue) -> Bool {
        switch value.kind {
        case .null: true
        case .object, .real: false
        case .array: impersonal.contains(name) && value.elements?.allSatisfy { $0.kind == .string } == true
        case .string, .integer, .true, .false: impersonal.contains(name)
        }
    }

    // MARK: Members

    /// The maximum number of members shown; further ones are only counted.
    private static let maximumCount = 100

    /// - Parameter show: the text that is shown for a member, and whether its value is masked.
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

    /// The type of a value. For numbers, not even a hash is shown, because a few digits can be guessed.
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
