private import Bytes
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

/// Makes values from a token safe to show: bounded, harmless in a terminal, and without secrets.
package enum Redaction {
    private static let maximumLength = 200

    /// Printable ASCII, and everything else as `\u{…}`, so that no character imitates another.
    static func text(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(maximumLength)
        return scalars.map { (" "..."~").contains($0) ? String($0) : $0.escaped(asASCII: true) }.joined()
            + (scalars.count < text.unicodeScalars.count ? "…" : "")
    }

    static func quoted(_ text: String) -> String { "“" + self.text(text) + "”" }

    package static func list(_ texts: [String]) -> String {
        let maximumCount = 20
        return texts.prefix(maximumCount).map(text).joined(separator: ", ")
            + (texts.count > maximumCount ? " and \(texts.count - maximumCount) more" : "")
    }

    /// For a secret: its length and the first 32 bits of its SHA-256, so that people can compare two of them.
    static func fingerprint(_ secret: Span<UInt8>, _ checker: SignatureChecker) -> String {
        var characters = 0
        for index in secret.indices where secret[index] & 0xc0 != 0x80 { characters += 1 }
        let length = characters == 1 ? "1 character" : "\(characters) characters"
        let digest = try? checker.withDigest(of: secret, .sha256) { String(hexadecimal: $0.extracting(..<4)) }
        return length + (digest.map { ", SHA-256 " + $0 + "…" } ?? "")
    }

    static func fingerprint(_ secret: String, _ checker: SignatureChecker) -> String {
        fingerprint(secret.utf8.span, checker)
    }

    /// A number of seconds in the most readable unit.
    static func duration(_ seconds: Int64) -> String {
        let seconds = seconds.magnitude
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86_400) days"
        }
    }

    /// A time and its distance from now: `2026-11-21T09:18:00Z (5 min ago)`.
    package static func time(_ time: UnixTime, now: UnixTime) -> String {
        let seconds = time.seconds(since: now)
        let distance =
            switch seconds {
            case 0: "now"
            case 1...: "in \(duration(seconds))"
            default: "\(duration(seconds)) ago"
            }
        return "\(self.time(time)) (\(distance))"
    }

    /// A time in ISO 8601, in UTC; outside the years 0 to 9999, the Unix time.
    static func time(_ time: UnixTime) -> String {
        // 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
        guard (-62_167_219_200...253_402_300_799).contains(time.seconds) else { return "Unix time \(time.seconds)" }
        let (date, second) = CivilDate.split(unixSeconds: time.seconds)
        return "\(date.text)T\(clock(second))Z"
    }
}

extension UnixTime {
    /// The seconds from another time to this one; saturates.
    func seconds(since other: UnixTime) -> Int64 {
        let (difference, overflow) = seconds.subtractingReportingOverflow(other.seconds)
        return overflow ? (seconds < 0 ? .min : .max) : difference
    }
}
