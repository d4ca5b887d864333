internal import HTTPListener
private import OpenSSL

/// The API keys that callers may present, known by their digests only.
package struct CallerKeys: Sendable {
    private let digests: [[UInt8]]

    /// - Parameter digests: SHA-256 digests, 32 octets each; none: every caller is let in.
    package init(digests: [[UInt8]]) { self.digests = digests }

    package var isRequired: Bool { !digests.isEmpty }

    /// Whether `Authorization: Bearer <key>` carries one of the keys. Every digest is compared, each in constant time, so
    /// that the time taken tells nothing.
    func admits(_ fields: HTTPFields) -> Bool {
        guard isRequired else { return true }
        let presented = fields.all("Authorization")
        guard presented.count == 1, let credentials = presented.first?.string.utf8, credentials.count > 7,
            String(credentials.prefix(7))?.lowercased() == "bearer "
        else { return false }
        do throws(OpenSSLError) {
            let digest = try DigestContext().digest(Array(credentials.dropFirst(7)).span, with: .sha256)
            var isKnown = false
            for known in digests where constantTimeEquals(known.span, digest.span) { isKnown = true }
            return isKnown
        } catch {
            return false
        }
    }
}
