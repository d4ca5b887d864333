private import Bytes
internal import IDToken
internal import JOSE
internal import OAuth
internal import OpenSSL
internal import Verification

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
        do throws(OpenSSLError) {
            if let opened = try GrantBinding.opened(binding, by: signIns.sealer), opened.provider.isExactly(provider),
                opened.audience.isExactly(client.id)
            {
                return opened.key
            }
        } catch {
            throw .rejected(.cryptographyUnavailable)
        }
        throw .bindingInvalid
    }
}
