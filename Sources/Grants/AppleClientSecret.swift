package import IDToken
private import JOSE
private import JSON
package import OpenSSL

/// Creates the client secrets that Apple requires: for each client an ES256 JWT that expires.
package struct AppleClientSecret: Sendable {
    private let signer: JWSSigner
    private let teamID: String
    private let keyID: String

    /// The longest lifetime of a secret that Apple accepts.
    package static let maximumLifetimeSeconds: Int64 = 15_777_000
    /// The lifetime of a secret that is used at once.
    static let lifetimeSeconds: Int64 = 15 * 60
    /// Apple refuses an `iat` in the future, and our clock may be ahead.
    private static let backdatingSeconds: Int64 = 30

    /// - Returns: `nil` unless the key is on P-256, the only curve that Apple makes keys on.
    package init?(_ key: SigningKey, teamID: String, keyID: String) {
        guard let signer = JWSSigner(key, .es256) else { return nil }
        self.signer = signer
        self.teamID = teamID
        self.keyID = keyID
    }

    /// Whether a text has the form of a Team ID or a Key ID.
    package static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) }
    }

    /// A secret for one client. The caller overwrites it after use.
    ///
    /// - Throws: ``OpenSSLError``.
    package func make(
        clientID: String, now: UnixTime, lifetimeSeconds: Int64
    ) throws(OpenSSLError) -> [UInt8] {
        var header = JSONWriter()
        header.beginObject()
        header.member("alg", "ES256")
        header.member("kid", keyID)
        header.endObject()
        var claims = JSONWriter()
        claims.beginObject()
        claims.member("iss", teamID)
        claims.member("iat", now.seconds - Self.backdatingSeconds)
        claims.member("exp", now.seconds + lifetimeSeconds)
        claims.member("aud", "https://appleid.apple.com")
        claims.member("sub", clientID)
        claims.endObject()
        return try signer.compactJWS(header: header.bytes, payload: claims.bytes)
    }
}

/// Caches one client's secret, and reuses it while it is fresh.
struct AppleClientSecretCache {
    private var latest: (secret: SecretBytes, from: UnixTime, until: UnixTime)?

    /// A secret is replaced when this much of its lifetime is left.
    private static let reserveSeconds: Int64 = 5 * 60

    /// - Throws: ``OpenSSLError``.
    mutating func secret(
        _ maker: AppleClientSecret, clientID: String, now: UnixTime
    ) throws(OpenSSLError) -> SecretBytes {
        // The clock may have been set back: then Apple would see an `iat` in the future.
        if let latest, (latest.from.seconds..<latest.until.seconds).contains(now.seconds) { return latest.secret }
        var text = try maker.make(clientID: clientID, now: now, lifetimeSeconds: AppleClientSecret.lifetimeSeconds)
        defer { wipe(&text) }
        let secret = try SecretBytes(text.span)
        let until = now.seconds + AppleClientSecret.lifetimeSeconds - Self.reserveSeconds
        latest = (secret, now, UnixTime(seconds: until))
        return secret
    }
}
