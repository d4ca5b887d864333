private import JOSE
package import OpenSSL

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
