private import Bytes
package import IDToken
package import JOSE
internal import OAuth
internal import OpenSSL
package import Verification

/// The body of `POST /v1/grants/proof`.
private struct ProofRequest {
    let provider: String
    /// That the grant must be of; `nil` for any.
    let audience: String?
    let binding: String
    let accessToken: AccessToken
    let method: String
    let target: TargetURI
    /// `nil` if the server demands none.
    let nonce: String?

    /// - Throws: ``Problem/requestInvalid(_:)``.
    init(_ object: JSONObject) throws(Problem) {
        try object.requireOnly(Names.all, in: "request")
        func text(_ name: JSONName, _ length: ClosedRange<Int>, _ what: String) throws(Problem) -> String {
            guard let text = try object.string(name, characters: length) else {
                throw .requestInvalid("The request needs a member \(name.string): \(what).")
            }
            return text
        }
        provider = try text(MemberNames.provider, MemberBounds.provider, "the id of a configured provider")
        audience = try object.string(MemberNames.audience, characters: MemberBounds.audience)
        binding = try text(GrantClient.binding, 1...GrantBinding.maximumLength, "the grant's latest binding")
        guard let accessToken: AccessToken = try object.secret(MemberNames.accessToken) else {
            throw .requestInvalid("The request needs a member access_token: the one that the call has.")
        }
        self.accessToken = accessToken
        method = try text(Names.method, 1...32, "the method of the call, such as GET")
        guard method.utf8.allSatisfy(\.isTokenCharacter) else {
            throw .requestInvalid("method must be the name of an HTTP method, such as GET.")
        }
        guard let target = TargetURI(try text(Names.url, 1...2048, "the URL of the call")) else {
            throw .requestInvalid(
                "url must be the whole URL of the call: https, or http for a loopback host, without a user name.")
        }
        self.target = target
        nonce = try object.checkedString(MemberNames.nonce, characters: 1...EndpointAnswer.longestNonce)
        if let nonce, !EndpointAnswer.isNonce(nonce) {
            throw .requestInvalid("nonce must be the value of DPoP-Nonce, as the server sent it.")
        }
    }

    /// The client and the key of the request's grant.
    ///
    /// - Throws: ``Problem/bindingInvalid``, and ``Problem/rejected(_:of:)`` if OpenSSL fails.
    func opened(by signIns: LoopSignIns?, _ rules: GrantRules) throws(Problem) -> (OAuthClient, ProofKey) {
        guard let signIns else { throw .bindingInvalid }
        let opened = try openSSL(GrantBinding.opened(binding, by: signIns.sealer))
        guard let opened, opened.provider.isExactly(provider), audience?.isExactly(opened.audience) ?? true,
            let client = rules.client(opened.audience)
        else { throw .bindingInvalid }
        return (client, opened.key)
    }

    private enum Names {
        static let method: JSONName = "method"
        static let url: JSONName = "url"
        static let all = [
            MemberNames.provider, MemberNames.audience, GrantClient.binding, MemberNames.accessToken, method, url,
            MemberNames.nonce,
        ]
    }
}

extension Operation {
    /// A DPoP proof for a call that the backend makes itself.
    ///
    /// - Parameter signIns: `nil` if sign-ins are off; no grant is bound then.
    /// - Throws: ``Problem/requestInvalid(_:)``, ``Problem/providerUnknown(nearest:)``,
    ///   ``Problem/clientNotConfigured``, ``Problem/audienceNotConfigured``, ``Problem/bindingInvalid``,
    ///   ``Problem/urlNotAllowed``, ``Problem/providerUnavailable(retryAfterSeconds:limit:)``, and
    ///   ``Problem/rejected(_:of:)`` if OpenSSL fails.
    package func prove(_ body: JSONObject, by signIns: LoopSignIns?, at now: UnixTime) throws(Problem) -> String {
        let request = try ProofRequest(body)
        let provider = try provider(named: request.provider)
        guard let grants = provider.grants else { throw .clientNotConfigured }
        guard grants.rules.named == nil else {
            throw .requestInvalid(
                "This provider has issuers: any, whose grants are not bound to keys; name another provider.")
        }
        if let audience = request.audience, !provider.policy.audiences.containsExactly(audience) {
            throw .audienceNotConfigured
        }
        let (client, key) = try request.opened(by: signIns, grants.rules)
        switch grants.allowsProof(for: request.target, of: client, discovered) {
        case true?: break
        case false?: throw .urlNotAllowed
        case nil: throw .endpointUnknown
        }
        return try openSSL(
            key.proof(
                method: request.method, url: request.target.text, accessToken: request.accessToken,
                nonce: request.nonce, now: now))
    }
}
