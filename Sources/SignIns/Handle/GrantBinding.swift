private import Bytes
internal import IDToken
internal import JOSE
internal import OAuth
internal import OpenSSL
internal import Verification

/// The key that a grant is bound to, and whose grant it is: what the backend keeps, sealed, beside the refresh token.
struct GrantBinding: Equatable {
    let provider: String
    /// The client ID.
    let audience: String
    let key: ProofKey

    /// The sealed text for the backend. Each is new, so that it is sealed by the first of the handle keys.
    ///
    /// - Throws: ``OpenSSLError``.
    func sealed(by sealer: SignInSealer) throws(OpenSSLError) -> String {
        var writer = FieldWriter()
        writer.write(text: provider)
        writer.write(text: audience)
        writer.write(key)
        var text = writer.take()
        defer { wipe(&text) }
        let salt = try randomBytes(SignInSealer.saltLength)
        return String(decoding: try sealer.seal(text, version: Self.version, salt: salt), as: UTF8.self)
    }

    /// Opens a sealed text.
    ///
    /// - Returns: `nil` if it is no binding, was sealed by other keys, or was changed.
    /// - Throws: ``OpenSSLError`` when out of memory.
    static func opened(_ text: String, by sealer: SignInSealer) throws(OpenSSLError) -> GrantBinding? {
        guard let opened = try sealer.open(Array(text.utf8)), opened.version == version else { return nil }
        return opened.content.withBytes { octets in
            var reader = FieldReader(octets.count)
            guard let provider = try? reader.requiredText(octets), let audience = try? reader.requiredText(octets),
                let key = try? reader.requiredKey(octets), reader.isAtEnd
            else { return nil }
            return GrantBinding(provider: provider, audience: audience, key: key)
        }
    }

    /// That of no handle.
    private static let version: UInt8 = 64
    /// In characters.
    static let maximumLength = 4096
}

/// A grant, and what ties it to its client.
struct BoundGrant {
    let grant: Grant
    /// What the backend keeps of its key; `nil` for bearer tokens.
    let binding: String?

    /// Writes the grant as a JSON object.
    func write(to json: inout JSONWriter) {
        json.beginObject()
        grant.writeMembers(to: &json)
        if let binding { json.member("binding", binding) }
        json.endObject()
    }
}

extension GrantClient {
    static let binding: JSONName = "binding"

    /// The key of the request's grant; `nil` if the grant is not bound.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)`` if the client's grants are bound and the request has no binding,
    ///   ``Problem/bindingInvalid``, and ``Problem/rejected(_:of:)`` if OpenSSL fails.
    func proofKey(of client: OAuthClient, by signIns: LoopSignIns?) throws(Problem) -> ProofKey? {
        guard let binding else {
            guard client.senderConstraint != .dpop else {
                throw .requestInvalid(
                    "The request needs a member binding, because this client has sender_constraint: dpop; send the grant's latest one."
                )
            }
            return nil
        }
        guard let signIns else { throw .bindingInvalid }
        guard let opened = try openSSL(GrantBinding.opened(binding, by: signIns.sealer)),
            opened.provider.isExactly(provider), opened.audience.isExactly(client.id)
        else { throw .bindingInvalid }
        return opened.key
    }
}
