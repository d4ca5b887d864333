private import Bytes
private import JOSE
package import OpenSSL

/// A team's private key from Apple. It signs the client secrets that Apple requires: for each client an ES256 JWT that
/// expires.
///
/// ```swift
/// let key = try AppleClientKey(pem: pem, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
/// let secret = try key.clientSecret(for: "com.example.app", now: now)
/// ```
///
/// It reads no clock, and opens no file: the key is secret, so keep it where only your program can read it.
///
/// - Source: developer.apple.com/documentation/accountorganizationaldatasharing, "Creating a client secret".
public struct AppleClientKey: Sendable {
    private let signer: JWSSigner
    private let teamID: String
    private let keyID: String

    /// The longest lifetime of a secret that Apple accepts, in seconds.
    public static let maximumLifetimeSeconds: Int64 = 15_777_000
    /// The lifetime of a secret that is used at once, in seconds.
    public static let usualLifetimeSeconds: Int64 = 15 * 60
    /// Apple refuses an `iat` in the future, and our clock may be ahead.
    private static let backdatingSeconds: Int64 = 30

    /// - Returns: `nil` unless the key is on P-256, the only curve that Apple makes keys on.
    package init?(_ key: SigningKey, teamID: String, keyID: String) {
        guard let signer = JWSSigner(key, .es256) else { return nil }
        self.signer = signer
        self.teamID = teamID
        self.keyID = keyID
    }

    /// - Parameters:
    ///   - pem: the content of the file `AuthKey_….p8`.
    ///   - keyID: ten characters, which are also in the file's name.
    ///   - teamID: ten characters.
    /// - Throws: ``AppleClientKeyError``.
    public init(pem: String, keyID: String, teamID: String) throws(AppleClientKeyError) {
        for (name, text) in [("keyID", keyID), ("teamID", teamID)] where !Self.isIdentifier(text) {
            throw AppleClientKeyError("\(name) is not ten digits and capital letters")
        }
        let key: SigningKey
        do throws(PrivateKeyError) {
            key = try SigningKey(pem: pem.utf8.span)
        } catch {
            throw AppleClientKeyError("pem can't be used: \(error.text)")
        }
        guard let made = AppleClientKey(key, teamID: teamID, keyID: keyID) else {
            throw AppleClientKeyError("pem holds a key that is not on the curve P-256, so it is not from Apple")
        }
        self = made
    }

    /// Whether a text has the form of a Team ID or a Key ID.
    package static func isIdentifier(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 10 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) }
    }

    /// A new secret, for requests to Apple's token and revocation endpoints.
    ///
    /// - Parameters:
    ///   - clientID: the app's Bundle ID, or the website's Services ID.
    ///   - now: the current time.
    ///   - lifetimeSeconds: at most ``maximumLifetimeSeconds``. Make a new secret for each request, or keep one that has
    ///     some of its lifetime left.
    /// - Throws: ``AppleClientKeyError``.
    public func clientSecret(
        for clientID: String, now: UnixTime, lifetimeSeconds: Int64 = usualLifetimeSeconds
    ) throws(AppleClientKeyError) -> String {
        guard (1...Self.maximumLifetimeSeconds).contains(lifetimeSeconds) else {
            throw AppleClientKeyError("lifetimeSeconds is not in 1...\(Self.maximumLifetimeSeconds)")
        }
        do throws(OpenSSLError) {
            let octets = try secretOctets(for: clientID, now: now, lifetimeSeconds: lifetimeSeconds)
            return String(decoding: octets, as: UTF8.self)
        } catch {
            throw AppleClientKeyError("OpenSSL is out of memory")
        }
    }

    /// The same, as octets. The caller overwrites them after use.
    ///
    /// - Throws: ``OpenSSLError``.
    package func secretOctets(
        for clientID: String, now: UnixTime, lifetimeSeconds: Int64
    ) throws(OpenSSLError) -> [UInt8] {
        var header = JSONWriter()
        header.beginObject()
        header.member("alg", "ES256")
        header.member("kid", keyID)
        header.endObject()
        var claims = JSONWriter()
        claims.beginObject()
        claims.member("iss", teamID)
        claims.member("iat", now.advanced(bySeconds: -Self.backdatingSeconds).seconds)
        claims.member("exp", now.advanced(bySeconds: lifetimeSeconds).seconds)
        claims.member("aud", "https://appleid.apple.com")
        claims.member("sub", clientID)
        claims.endObject()
        return try signer.compactJWS(header: header.bytes, payload: claims.bytes)
    }
}

/// A key, or an argument, that makes no client secret.
public struct AppleClientKeyError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Names the error, and contains nothing of the key.
    public let description: String

    init(_ description: String) { self.description = description }
}
