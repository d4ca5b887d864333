internal import Verification
internal import HTTPServer
private import OpenSSL

/// The API keys that callers may present, known by their digests only.
package struct CallerKeys: Sendable {
    private let keys: [Key]

    /// A key's digest, and the name by which log and metrics call it.
    package struct Key: Sendable, Equatable {
        package let name: String
        /// SHA-256, 32 octets.
        package let digest: [UInt8]

        package init(name: String, digest: [UInt8]) {
            self.name = name
            self.digest = digest
        }
    }

    /// - Parameter keys: none: every caller is let in.
    package init(_ keys: [Key]) { self.keys = keys }

    /// Keys without names of their own: `key-1`, and so on.
    package init(digests: [[UInt8]]) {
        self.init(digests.enumerated().map { Key(name: "key-\($0.offset + 1)", digest: $0.element) })
    }

    package var isRequired: Bool { !keys.isEmpty }

    /// Whether a caller is let in.
    func admits(_ fields: HTTPFields) -> Bool { !isRequired || name(presentedBy: fields) != nil }

    /// Lets a caller in.
    ///
    /// - Returns: the name of the key that it presents; `nil` where none is asked for.
    /// - Throws: ``Problem/callerUnauthenticated``.
    func admit(_ fields: HTTPFields) throws(Problem) -> String? {
        guard isRequired else { return nil }
        guard let name = name(presentedBy: fields) else { throw .callerUnauthenticated }
        return name
    }

    /// The name of the key in `Authorization: Bearer <key>`. Every digest is compared, each in constant time, so that the time
    /// taken tells nothing.
    private func name(presentedBy fields: HTTPFields) -> String? {
        guard let credentials = fields.only("Authorization")?.string.utf8, credentials.count > 7,
            String(credentials.prefix(7))?.lowercased() == "bearer "
        else { return nil }
        do throws(OpenSSLError) {
            let digest = try DigestContext().digest(Array(credentials.dropFirst(7)).span, with: .sha256)
            var presented: String?
            for key in keys where constantTimeEquals(key.digest.span, digest.span) { presented = presented ?? key.name }
            return presented
        } catch {
            return nil
        }
    }
}
