internal import HTTP
private import OpenSSL
package import Verification

/// The API keys that callers may use, stored as digests only.
package struct CallerKeys: Sendable {
    private let keys: [APIKey]

    /// - Parameter keys: if empty, every caller is admitted.
    package init(_ keys: [APIKey]) { self.keys = keys }

    package var isRequired: Bool { !keys.isEmpty }

    /// Why a caller may not ask for this; `nil` if it may.
    func refusal(of fields: HTTPFields, to permissions: Set<APIKey.Permission>) -> Problem? {
        var name: String?
        do throws(Problem) {
            try admit(fields, to: permissions, &name)
            return nil
        } catch {
            return error
        }
    }

    /// Authenticates a caller.
    ///
    /// - Parameters:
    ///   - permissions: what its key must allow.
    ///   - name: becomes the name of its key, also if the key is for other paths.
    /// - Throws: ``Problem/callerUnauthenticated``, ``Problem/callerForbidden``.
    func admit(
        _ fields: HTTPFields, to permissions: Set<APIKey.Permission>, _ name: inout String?
    ) throws(Problem) {
        guard isRequired else { return }
        guard let key = key(presentedBy: fields) else { throw .callerUnauthenticated }
        name = key.name
        guard key.permissions.isSuperset(of: permissions) else { throw .callerForbidden }
    }

    /// Authenticates a gateway by `X-Assay-Key`, because `Authorization` carries the user's token.
    ///
    /// - Parameter name: becomes the name of its key, also if the key is for other paths.
    /// - Throws: ``Denial/gatewayUnauthenticated``, also if the field occurs twice; ``Denial/gatewayForbidden``.
    func admitGateway(_ fields: HTTPFields, _ name: inout String?) throws(Denial) {
        guard isRequired else { return }
        guard let sent = fields.only("X-Assay-Key"), let key = key(equalTo: sent.bytes) else {
            throw .gatewayUnauthenticated
        }
        name = key.name
        guard key.permissions.contains(.forwardAuth) else { throw .gatewayForbidden }
    }

    /// The key in `Authorization: Bearer <key>`.
    private func key(presentedBy fields: HTTPFields) -> APIKey? {
        guard let credentials = fields.only("Authorization")?.bytes, credentials.count > 7,
            String(decoding: credentials.prefix(7), as: UTF8.self).lowercased() == "bearer "
        else { return nil }
        return key(equalTo: credentials.dropFirst(7))
    }

    /// Compares every digest in constant time, so that the time taken reveals nothing.
    private func key(equalTo presentedKey: ArraySlice<UInt8>) -> APIKey? {
        do throws(OpenSSLError) {
            let digest = try DigestContext().digest(presentedKey.span, with: .sha256)
            var presented: APIKey?
            for key in keys where constantTimeEquals(key.digest.span, digest.span) { presented = presented ?? key }
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
