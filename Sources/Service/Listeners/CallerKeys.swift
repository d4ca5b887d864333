internal import Verification
internal import HTTPServer
private import OpenSSL

/// The API keys that callers may use, stored as digests only.
package struct CallerKeys: Sendable {
    private let keys: [Key]

    /// A key's digest, and its name in the log and in metrics.
    package struct Key: Sendable, Equatable {
        package let name: String
        /// SHA-256, 32 octets.
        package let digest: [UInt8]

        package init(name: String, digest: [UInt8]) {
            self.name = name
            self.digest = digest
        }
    }

    /// - Parameter keys: if empty, every caller is admitted.
    package init(_ keys: [Key]) { self.keys = keys }

    /// Keys without names; they are called `key-1`, and so on.
    package init(digests: [[UInt8]]) {
        self.init(digests.enumerated().map { Key(name: "key-\($0.offset + 1)", digest: $0.element) })
    }

    package var isRequired: Bool { !keys.isEmpty }

    func admits(_ fields: HTTPFields) -> Bool { !isRequired || name(presentedBy: fields) != nil }

    /// Authenticates a caller.
    ///
    /// - Returns: the name of its key; `nil` if no key is required.
    /// - Throws: ``Problem/callerUnauthenticated``.
    func admit(_ fields: HTTPFields) throws(Problem) -> String? {
        guard isRequired else { return nil }
        guard let name = name(presentedBy: fields) else { throw .callerUnauthenticated }
        return name
    }

    /// The name of the key in `Authorization: Bearer <key>`. Compares every digest in constant time, so that the time
    /// taken reveals nothing.
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
