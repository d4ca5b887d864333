internal import Bytes
package import IDToken
package import JOSE
package import OpenSSL

/// The tokens that a token endpoint issued. Only ``EndpointAnswer`` creates one.
package struct Grant: Sendable {
    package let accessToken: AccessToken
    /// `nil` if the provider does not say, which is allowed only with ``ProviderQuirk/noTokenType``.
    package let tokenType: String?
    /// `nil` if the provider does not say.
    package let expiresAt: UnixTime?
    /// `nil` if there is none; after a refresh, the previous one then stays valid.
    package let refreshToken: RefreshToken?
    /// `nil` if the provider does not say; it then granted the requested scopes.
    package let scopes: [String]?
    /// Not verified.
    package let idToken: [UInt8]?

    /// The text of the access token, to check the ID Token's `at_hash`.
    package var accessTokenText: String { accessToken.text }

    /// Writes the members of the grant's object, for the backend that it belongs to.
    package func writeMembers(to json: inout JSONWriter) {
        json.member("access_token", secret: accessToken)
        json.member("token_type", tokenType)
        json.member("expires_at", expiresAt?.seconds)
        json.member("refresh_token", secret: refreshToken)
        if let scopes { json.array("scopes", scopes) } else { json.member("scopes", String?.none) }
        json.member("id_token", idToken.map { String(decoding: $0, as: UTF8.self) })
    }
}

extension Grant: CustomStringConvertible, CustomReflectable {
    package var description: String { "(grant)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A secret string of a grant. Descriptions omit it; only JSON for the backend and forms for the provider contain it.
package struct SecretText<Purpose: SecretPurpose>: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    let text: String

    /// The maximum number of characters.
    package static var maximumLength: Int { Purpose.maximumLength }

    /// - Returns: `nil` for an empty or overlong text, and one with characters that no code or token has (RFC 6749,
    ///   appendix A: visible ASCII and space).
    package init?(_ text: String) {
        guard (1...Self.maximumLength).contains(text.utf8.count), text.utf8.allSatisfy(\.isPrintableASCII)
        else {
            return nil
        }
        self.text = text
    }

    package static func == (left: SecretText, right: SecretText) -> Bool { left.text.isExactly(right.text) }

    package var description: String { "(secret)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// An authorization code.
package typealias AuthorizationCode = SecretText<CodePurpose>
/// An access token.
package typealias AccessToken = SecretText<AccessPurpose>
/// A refresh token.
package typealias RefreshToken = SecretText<RefreshPurpose>
/// A token to revoke: a refresh token or an access token.
package typealias RevocableToken = SecretText<RevocationPurpose>

/// What a secret is for, which limits its length.
package protocol SecretPurpose {
    static var maximumLength: Int { get }
}

extension SecretPurpose {
    /// Providers' codes and refresh tokens have up to a few thousand characters.
    package static var maximumLength: Int { 16384 }
}

/// A token that Assay verifies, or that may be such a token: as long as the settings can allow.
package protocol TokenPurpose: SecretPurpose {}

extension TokenPurpose {
    package static var maximumLength: Int { UnverifiedToken.maximumLengths.upperBound }
}

package enum CodePurpose: SecretPurpose {}
package enum AccessPurpose: TokenPurpose {}
package enum RefreshPurpose: SecretPurpose {}
package enum RevocationPurpose: TokenPurpose {}

extension RevocableToken {
    init<Other>(_ token: SecretText<Other>) { text = token.text }
}

extension JSONWriter {
    /// Writes a secret, for the backend that it belongs to.
    package mutating func member<Purpose>(_ name: StaticString, secret: SecretText<Purpose>?) {
        member(name, secret?.text)
    }
}

extension String {
    /// Whether the text is a token type of at most 255 characters: a registered name, or the absolute URI of another type
    /// (RFC 6749, section 8.1).
    var isTokenType: Bool {
        guard (1...255).contains(utf8.count) else { return false }
        let rest = utf8.drop { $0.isLetter || $0.isDigit || "-._".utf8.contains($0) }
        guard !rest.isEmpty else { return true }
        return utf8.first?.isLetter == true && rest.first == UInt8(ascii: ":")
            && rest.allSatisfy { $0.isLetter || $0.isDigit || "-._~:/?#[]@!$&'()*+,;=%".utf8.contains($0) }
    }

    /// Whether the text is a single scope (RFC 6749, section 3.3) of at most 255 characters.
    package var isScope: Bool {
        (1...255).contains(utf8.count)
            && utf8.allSatisfy { $0.isVisibleASCII && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }
}

/// A request to a token endpoint, without client authentication.
package enum GrantRequest: Sendable {
    /// - Parameter resources: what the access token is for (RFC 8707).
    case code(AuthorizationCode, redirectURI: String?, verifier: CodeVerifier?, resources: [String] = [])
    case refresh(RefreshToken, scopes: [String])
    /// For the client itself, not for a user.
    case clientCredentials(scope: String)
}

/// A request to a revocation endpoint (RFC 7009), without client authentication.
package struct RevocationRequest: Sendable {
    let token: RevocableToken
    let hint: TokenHint?

    package init(_ token: RevocableToken, hint: TokenHint?) {
        self.token = token
        self.hint = hint
    }

    package init(_ token: RefreshToken) { self.init(RevocableToken(token), hint: .refreshToken) }
    package init(_ token: AccessToken) { self.init(RevocableToken(token), hint: .accessToken) }
}

/// A registered `token_type_hint`.
package enum TokenHint: String, Sendable, CaseIterable {
    case refreshToken = "refresh_token"
    case accessToken = "access_token"
}

/// A request to a UserInfo endpoint (OpenID Connect Core 1.0, section 5.3.1).
package struct UserInfoRequest: Sendable {
    let accessToken: AccessToken
    /// The key that the token is bound to; `nil` for a bearer token.
    let proofKey: ProofKey?
    /// Whether the token is bound to the client's certificate, which the connection then presents.
    let isOfCertificate: Bool

    package init(_ accessToken: AccessToken, provenBy proofKey: ProofKey? = nil, isOfCertificate: Bool = false) {
        self.accessToken = accessToken
        self.proofKey = proofKey
        self.isOfCertificate = isOfCertificate
    }

    /// The value of `Authorization`.
    package var authorization: String { (proofKey == nil ? "Bearer " : "DPoP ") + accessToken.text }

    /// - Throws: ``OpenSSLError`` when out of memory.
    package func secrets() throws(OpenSSLError) -> SentSecrets {
        SentSecrets([try SecretBytes(accessToken.text.utf8.span)])
    }
}

/// The code verifier of PKCE (RFC 7636): 32 random octets, whose base64url is sent to the token endpoint.
package struct CodeVerifier: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    package static let length = 32
    package let octets: [UInt8]

    /// - Returns: `nil` unless there are ``length`` octets.
    package init?(_ octets: [UInt8]) {
        guard octets.count == Self.length else { return nil }
        self.octets = octets
    }

    /// A new random code verifier.
    ///
    /// - Throws: ``OpenSSLError`` if the random generator can't be seeded.
    package static func random() throws(OpenSSLError) -> CodeVerifier {
        CodeVerifier(unchecked: try randomBytes(length))
    }

    private init(unchecked octets: [UInt8]) { self.octets = octets }

    /// The `code_verifier`: 43 characters.
    var text: [UInt8] { Base64URL.encode(octets) }

    /// The `code_challenge` of the method `S256`.
    ///
    /// - Throws: ``OpenSSLError`` when out of memory.
    package func challenge(_ digests: borrowing DigestContext) throws(OpenSSLError) -> String {
        String(decoding: Base64URL.encode(try digests.digest(text.span, with: .sha256)), as: UTF8.self)
    }

    package var description: String { "(secret)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The secrets that a request contained: codes, tokens, and what authenticates the client.
package struct SentSecrets: Sendable {
    private let secrets: [SecretBytes]

    init(_ secrets: [SecretBytes]) { self.secrets = secrets }

    /// - Throws: ``OpenSSLError`` when out of memory.
    func adding(_ text: String) throws(OpenSSLError) -> SentSecrets {
        SentSecrets(secrets + [try SecretBytes(text.utf8.span)])
    }

    /// The number of consecutive characters of a secret by which it is recognized: a provider may repeat only a part.
    private static let windowLength = 8
    /// Longer texts are cut before they are searched.
    private static let maximumSearched = 512

    /// A provider's text without the words that contain a secret, or a part of one.
    ///
    /// - Parameter maximumLength: in characters; longer texts are cut.
    /// - Returns: printable ASCII; `nil` if nothing is left.
    func removed(from text: String, maximumLength: Int) -> String? {
        var octets: [UInt8] = []
        for octet in text.utf8.prefix(Self.maximumSearched) {
            // A line break, or a run of characters that are not shown, becomes one space.
            let shown = octet.isPrintableASCII ? octet : UInt8(ascii: " ")
            if shown != UInt8(ascii: " ") || octets.last.map({ $0 != shown }) ?? false { octets.append(shown) }
        }
        if octets.last == UInt8(ascii: " ") { octets.removeLast() }
        guard !octets.isEmpty else { return nil }
        var isSecret = [Bool](repeating: false, count: octets.count)
        for secret in secrets { secret.withBytes { Self.mark($0, in: octets, &isSecret) } }
        var start = 0
        let words = octets.split(separator: UInt8(ascii: " ")).map { word in
            defer { start += word.count + 1 }
            return isSecret[start..<start + word.count].contains(true)
                ? "[removed]" : String(decoding: word, as: UTF8.self)
        }
        let shown = words.joined(separator: " ")
        return shown.utf8.count <= maximumLength ? shown : shown.prefix(maximumLength - 3) + "..."
    }

    /// Marks the places of a text where a part of the secret is, in whichever case. Copies nothing of the secret.
    private static func mark(_ secret: borrowing Span<UInt8>, in text: [UInt8], _ isSecret: inout [Bool]) {
        let length = min(windowLength, secret.count)
        guard length > 0, length <= text.count else { return }
        for place in 0...text.count - length {
            for start in 0...secret.count - length {
                var count = 0
                while count < length, secret[start + count].asciiLowercased == text[place + count].asciiLowercased {
                    count += 1
                }
                guard count == length else { continue }
                for index in place..<place + length { isSecret[index] = true }
                break
            }
        }
    }
}
