private import Bytes
internal import Grants
internal import IDToken
internal import JSON
internal import Verification

/// The members that name the client of a request, and whether they fit the settings.
struct GrantClient {
    let provider: String
    private let audience: String?

    /// - Throws: ``Problem/requestInvalid(_:)``.
    init(_ object: JSONObject) throws(Problem) {
        guard let provider = try object.string(MemberNames.provider, characters: MemberBounds.provider) else {
            throw .requestInvalid("The request needs a member provider, the id of a configured provider.")
        }
        self.provider = provider
        audience = try object.string(MemberNames.audience, characters: MemberBounds.audience)
    }

    /// - Throws: ``Problem/audienceNotConfigured``, ``Problem/clientNotConfigured``, ``Problem/requestInvalid(_:)``.
    func client(under policy: ProviderPolicy, _ rules: GrantRules?) throws(Problem) -> OAuthClient {
        if let audience, !policy.audiences.containsExactly(audience) { throw .audienceNotConfigured }
        guard let rules else { throw .clientNotConfigured }
        if let audience {
            guard let client = rules.client(audience) else { throw .clientNotConfigured }
            return client
        }
        guard rules.clients.count == 1 else {
            throw .requestInvalid("The request needs a member audience, because this provider has several clients.")
        }
        return rules.clients[0]
    }
}

extension JSONObject {
    /// A secret of a grant.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    func secret<Purpose>(_ name: JSONName) throws(Problem) -> SecretText<Purpose>? {
        let maximum = SecretText<Purpose>.maximumLength
        guard let text = try string(name, characters: 1...maximum) else { return nil }
        guard let secret = SecretText<Purpose>(text) else {
            throw .requestInvalid("\(name.string) must have 1 to \(maximum) ASCII characters.")
        }
        return secret
    }
}
