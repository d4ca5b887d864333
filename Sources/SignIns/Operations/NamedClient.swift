internal import IDToken
internal import JOSE
internal import OAuth
internal import OpenSSL
internal import Verification

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
