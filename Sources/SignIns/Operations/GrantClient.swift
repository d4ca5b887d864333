private import Bytes
internal import IDToken
internal import JOSE
internal import OAuth
internal import OpenSSL
internal import Verification

/// The members that name the client of a request, and whether they fit the settings.
struct GrantClient {
    let provider: String
    /// For a provider with `issuers: any`; `nil` for all others.
    let connection: Connection?
    /// What the backend keeps of the grant's key; `nil` if the request has none.
    let binding: String?
    private let audience: String?
    private let authentication: RequestAuthentication?

    /// - Parameter others: all members that the request may have, but for those of a connection.
    /// - Throws: ``Problem/requestInvalid(_:)``, also for an unknown member.
    init(_ object: JSONObject, beside others: [JSONName]) throws(Problem) {
        connection = try Connection(of: object, beside: others)
        provider = try object.provider()
        audience = try object.string(MemberNames.audience, characters: MemberBounds.audience)
        authentication = try RequestAuthentication(of: object)
        binding = try object.string(Self.binding, characters: 1...GrantBinding.maximumLength)
    }

    /// - Throws: ``Problem/audienceNotConfigured``, ``Problem/clientNotConfigured``, ``Problem/requestInvalid(_:)``.
    func client(of provider: Provider, in operation: Operation) throws(Problem) -> OAuthClient {
        try operation.choose(connection, of: provider)
        if let audience, !operation.policy(of: provider).audiences.containsExactly(audience) {
            throw .audienceNotConfigured
        }
        guard let rules = operation.grantRules(of: provider) else { throw .clientNotConfigured }
        if let audience {
            guard let client = rules.client(audience) else { throw .clientNotConfigured }
            return client
        }
        guard rules.clients.count == 1 else {
            throw .requestInvalid("The request needs a member audience, because this provider has several clients.")
        }
        return rules.clients[0]
    }

    /// - Throws: ``Problem/clientNotConfigured``, ``Problem/requestInvalid(_:)``.
    func calls(of operation: Operation, to provider: Provider, by client: OAuthClient) throws(Problem) -> GrantCalls {
        try GrantCalls(of: operation, to: provider, by: client.id, authentication)
    }
}

/// `client`: how the client of a connection authenticates, for a provider with `issuers: any`.
extension RequestAuthentication {
    static let name: JSONName = "client"

    /// Longer than any provider's secret.
    private static let maximumSecretLength = 4096

    /// Reads `client`. The secret is copied into memory that is overwritten when the request ends.
    ///
    /// - Returns: `nil` if the request has none.
    /// - Throws: ``Problem/requestInvalid(_:)``.
    init?(of object: JSONObject) throws(Problem) {
        guard let value = object[Self.name], value.kind != .null else { return nil }
        guard let members = value.object else { throw Self.wrongShape }
        try members.requireOnly([Names.auth, Names.secret], in: "object client")
        guard let text = try? members.string(Names.auth), let method = Method(rawValue: text) else {
            throw Self.wrongShape
        }
        let hasSecret = members.kind(of: Names.secret).map { $0 != .null } ?? false
        switch method {
        case .basic: self = .secret(try Self.secret(of: members), sentIn: .basic)
        case .post: self = .secret(try Self.secret(of: members), sentIn: .post)
        case .key, .none:
            guard !hasSecret else {
                throw .requestInvalid(
                    "client.secret is only valid with client_secret_post and client_secret_basic; omit it.")
            }
            self = method == .key ? .key : .none
        }
    }

    private static func secret(of members: JSONObject) throws(Problem) -> SecretBytes {
        guard let octets = try? members.utf8(Names.secret), (1...maximumSecretLength).contains(octets.count),
            octets.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
        else {
            throw .requestInvalid(
                "client.secret must be a string of 1 to \(maximumSecretLength) bytes without control characters.")
        }
        return try openSSL(SecretBytes(octets.span))
    }

    private static let wrongShape = Problem.requestInvalid(
        "client must be an object {\"auth\", \"secret\"}; auth is one of \(Method.allCases.map(\.rawValue).joined(separator: ", "))."
    )

    private enum Names {
        static let auth: JSONName = "auth"
        static let secret: JSONName = "secret"
    }
}

extension NamedClientRules {
    /// The request's authentication, if the settings allow it.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    func allowed(_ authentication: RequestAuthentication?) throws(Problem) -> RequestAuthentication {
        let known = methods.map(\.rawValue).joined(separator: ", ")
        guard let authentication else {
            throw .requestInvalid(
                "The request needs client, which says how the connection's client authenticates; its auth is one of \(known)."
            )
        }
        guard methods.contains(authentication.method) else {
            throw .requestInvalid("client.auth must be one of those in the setting clients.auth: \(known).")
        }
        return authentication
    }
}

extension Problem {
    static let clientNotNamed = Problem.requestInvalid(
        "client is only valid with a provider that has issuers: any and clients from the request; omit it.")
}

extension JSONObject {
    /// The ID of a configured provider.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``, also if there is none.
    func provider() throws(Problem) -> String {
        guard let provider = try string(MemberNames.provider, characters: MemberBounds.provider) else {
            throw .requestInvalid("The request needs a member provider, the id of a configured provider.")
        }
        return provider
    }

    /// A token, which is not read yet.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    func token(_ name: JSONName) throws(Problem) -> ArraySlice<UInt8>? {
        do throws(JSONTypeMismatch) {
            return try utf8(name)
        } catch {
            if kind(of: name) == .null { return nil }
            throw .requestInvalid("\(name.string) must be a string.")
        }
    }

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
