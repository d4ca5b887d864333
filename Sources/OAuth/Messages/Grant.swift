internal import Bytes
package import IDToken
package import JOSE

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
        json.name("scopes")
        if let scopes {
            json.beginArray()
            for scope in scopes { json.value(scope) }
            json.endArray()
        } else {
            json.null()
        }
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
