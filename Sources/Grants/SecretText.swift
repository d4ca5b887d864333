private import Bytes
package import JSON

/// A secret string of a grant. Descriptions omit it; only JSON for the backend and forms for the provider contain it.
package struct SecretText<Purpose>: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    let text: String

    /// The maximum number of characters. Providers' tokens have up to a few thousand.
    package static var maximumLength: Int { 16384 }

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

package enum CodePurpose {}
package enum AccessPurpose {}
package enum RefreshPurpose {}
package enum RevocationPurpose {}

extension RevocableToken {
    init<Other>(_ token: SecretText<Other>) { text = token.text }
}

extension JSONWriter {
    /// Writes a secret, for the backend that it belongs to.
    package mutating func member<Purpose>(_ name: StaticString, secret: SecretText<Purpose>?) {
        member(name, secret?.text)
    }
}
