internal import HTTP
private import OpenSSL
internal import Verification

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

    /// Authenticates a gateway by `X-Assay-Key`, because `Authorization` carries the user's token.
    ///
    /// - Returns: the name of its key; `nil` if no key is required.
    /// - Throws: ``Denial/gatewayUnauthenticated``, also if the field occurs twice.
    func admitGateway(_ fields: HTTPFields) throws(Denial) -> String? {
        guard isRequired else { return nil }
        guard let key = fields.only("X-Assay-Key"), let name = name(of: key.bytes) else {
            throw .gatewayUnauthenticated
        }
        return name
    }

    /// The name of the key in `Authorization: Bearer <key>`.
    private func name(presentedBy fields: HTTPFields) -> String? {
        guard let credentials = fields.only("Authorization")?.bytes, credentials.count > 7,
            String(decoding: credentials.prefix(7), as: UTF8.self).lowercased() == "bearer "
        else { return nil }
        return name(of: credentials.dropFirst(7))
    }

    /// The name of a key. Compares every digest in constant time, so that the time taken reveals nothing.
    private func name(of presentedKey: ArraySlice<UInt8>) -> String? {
        do throws(OpenSSLError) {
            let digest = try DigestContext().digest(presentedKey.span, with: .sha256)
            var presented: String?
            for key in keys where constantTimeEquals(key.digest.span, digest.span) { presented = presented ?? key.name }
            return presented
        } catch {
            return nil
        }
    }
}

/// The two listeners, as named in the log, in metrics and in the settings.
package enum ListenerName: String, Hashable, Sendable {
    case service, admin
}

/// A listener that can't be bound to its address.
package struct UnboundListener: Error {
    package let name: ListenerName
    /// Human-readable, with the address.
    package let reason: String
}
