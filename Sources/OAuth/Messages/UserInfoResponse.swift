/// A response of a UserInfo endpoint.
package enum UserInfoResponse: Sendable, Equatable {
    /// Claims of the ID Token's user, as JSON.
    case claims([UInt8])
    /// A JWT, signed or encrypted, that is not verified yet.
    case token([UInt8])

    /// The media type of a JWT (OpenID Connect Core 1.0, section 5.3.2).
    package static let tokenType = "application/jwt"
}

/// How identities are completed from the UserInfo endpoint.
package enum UserInfoUse: Sendable, Equatable {
    /// The response may be plain, or a JWT.
    case accepted
    /// The response must be a signed JWT.
    case signed
}

/// Why a UserInfo response that is a JWT, or should be one, is refused.
package enum UserInfoTokenFault: Sendable, Equatable {
    case notSigned
    case notEncrypted
    /// The provider's entry opens no encrypted tokens.
    case encryptedUnexpectedly
    /// - Parameter reason: completes the sentence "the encrypted UserInfo response …".
    case encryption(String)
    case tooLong, form, header, algorithm, keyNotFound, keyUnsuitable, signature
    case member(String, MemberFault)

    /// What is wrong with a member of the signed claims.
    package enum MemberFault: Sendable {
        case missing, invalid, notTheProviders, notOurs, expired, notYet, notTheTokens
    }

    /// What was found.
    var text: String {
        switch self {
        case .notSigned:
            "the UserInfo response is not a JWT (application/jwt), which user_info.signed: required demands"
        case .notEncrypted: "the UserInfo response is not encrypted, which encryption.required demands"
        case .encryptedUnexpectedly: "the UserInfo response is encrypted, but the provider's entry has no encryption"
        case .encryption(let reason): "the encrypted UserInfo response \(reason)"
        case .tooLong: refused("it is longer than limits.max_token allows; raise that, or request fewer claims")
        case .form: refused("it is not one compact JWS with a JSON object inside")
        case .header: refused("its typ is that of another kind of token, or its header has crit, b64 or zip")
        case .algorithm: refused("its alg is missing, none, or not in algorithms")
        case .keyNotFound: refused("no published key of the provider fits it")
        case .keyUnsuitable: refused("the provider's key for it is too small, on another curve, or malformed")
        case .signature: refused("no published key of the provider has made its signature")
        case .member(let name, .missing): refused("it has no \(name)")
        case .member(let name, .invalid): refused("its \(name) has an invalid type or form")
        case .member(let name, .notTheProviders): refused("its \(name) is not the provider's issuer")
        case .member(let name, .notOurs): refused("its \(name) is not our client's id")
        case .member(let name, .expired): refused("its \(name) is in the past")
        case .member(let name, .notYet): refused("its \(name) is in the future")
        case .member(let name, .notTheTokens): refused("its \(name) is not the ID Token's")
        }
    }

    private func refused(_ reason: String) -> String { "the signed UserInfo response is refused: \(reason)" }
}
