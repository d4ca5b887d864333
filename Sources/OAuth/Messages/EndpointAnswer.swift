private import Bytes
package import IDToken
internal import JOSE

/// A complete response of a provider's endpoint, and its meaning.
package struct EndpointAnswer: Sendable {
    let status: UInt
    private let retryAfter: String?
    let hasContentCoding: Bool
    /// In lower case, without parameters; `nil` if there is none.
    let mediaType: String?
    /// The values of `DPoP-Nonce`.
    private let proofNonces: [String]
    /// The values of `WWW-Authenticate`.
    private let challenges: [String]
    let body: [UInt8]

    /// - Parameters:
    ///   - retryAfter: the value of `Retry-After`.
    ///   - hasContentCoding: whether there is a `Content-Encoding` other than `identity`, which was not requested.
    ///   - contentType: the value of `Content-Type`.
    ///   - proofNonces: the values of `DPoP-Nonce`.
    ///   - challenges: the values of `WWW-Authenticate`.
    package init(
        status: UInt, retryAfter: String?, hasContentCoding: Bool, contentType: String? = nil,
        proofNonces: [String] = [], challenges: [String] = [], body: [UInt8]
    ) {
        self.status = status
        self.retryAfter = retryAfter
        self.hasContentCoding = hasContentCoding
        mediaType = contentType.map { $0.prefix { $0 != ";" && $0 != " " }.lowercased() }
        self.proofNonces = proofNonces
        self.challenges = challenges
        self.body = body
    }

    /// The nonce without which the endpoint refuses a DPoP proof, and nothing else about the request; `nil` if the
    /// response says anything else, or not exactly one nonce.
    ///
    /// - Source: RFC 9449, sections 8 and 9.
    package var demandedNonce: String? {
        guard status == 400 || status == 401, proofNonces.count == 1, let nonce = proofNonces.first,
            Self.isNonce(nonce)
        else { return nil }
        guard !hasContentCoding else { return nil }
        guard let answer = try? JSONObject(body) else { return isChallenged ? nonce : nil }
        // With tokens, the response contradicts itself, and the code is used up.
        let isDemanded = answer.errorName.map { $0 == .useDPoPNonce } ?? isChallenged
        return isDemanded && !answer.hasTokens ? nonce : nil
    }

    /// In characters.
    package static let longestNonce = 1024

    /// Whether a text is a nonce of proofs (RFC 9449, section 8.1), and not too long.
    package static func isNonce(_ text: String) -> Bool {
        (1...longestNonce).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isVisibleASCII && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }

    /// Whether a resource server, whose response need not have a body, demands a nonce.
    private var isChallenged: Bool {
        challenges.contains { challenge in
            let text = challenge.lowercased()
            return (text.hasPrefix("dpop ") || text.contains(", dpop ")) && text.contains("error=\"use_dpop_nonce\"")
        }
    }

    /// The error by which a resource server refuses a token or a proof. Its response need not have a body.
    ///
    /// - Source: RFC 6750, section 3; RFC 9449, sections 7.1 and 9.
    private var challengeError: OAuthErrorName? {
        guard (400..<500).contains(status) else { return nil }
        for challenge in challenges {
            // Parameters follow a scheme and a space, or a comma.
            for parameter in challenge.split(whereSeparator: { $0 == " " || $0 == "," }) {
                let name = "error=\""
                guard parameter.lowercased().hasPrefix(name) else { continue }
                return OAuthErrorName(naming: String(parameter.dropFirst(name.count).prefix { $0 != "\"" }))
            }
        }
        return nil
    }

    /// The response of a token endpoint (RFC 6749, section 5).
    ///
    /// A backend may copy each member into a header field, so none may have other characters than RFC 6749 gives it
    /// (appendix A).
    ///
    /// - Parameters:
    ///   - quirks: must include ``ProviderQuirk/revokedIsInvalidRequest`` only for a refresh.
    ///   - isProven: whether the request had a DPoP proof, whose key the tokens must then be bound to.
    /// - Throws: ``CallFailure``.
    package func grant(
        _ quirks: Set<ProviderQuirk>, isProven: Bool = false, now: UnixTime
    ) throws(CallFailure) -> Grant {
        let answer = try readable()
        if let name = answer.errorName {
            throw CallFailure(
                name, isInvalidRequestRevoked: quirks.contains(.revokedIsInvalidRequest), isIssued: answer.hasTokens)
        }
        guard status == 200 else { throw .answerInvalid(.status(status)) }
        guard let accessToken: AccessToken = try answer.secret(.accessToken) else {
            throw .answerInvalid(.member(.accessToken))
        }
        let tokenType = try answer.text(.tokenType)
        guard tokenType?.isTokenType ?? quirks.contains(.noTokenType) else {
            throw .answerInvalid(.member(.tokenType))
        }
        if isProven, tokenType?.lowercased() != "dpop" { throw .answerInvalid(.notBound) }
        let idToken: SecretText<IDTokenPurpose>? = try answer.secret(.idToken)
        return Grant(
            accessToken: accessToken, tokenType: tokenType,
            expiresAt: answer.expiresInSeconds.map { now.advanced(bySeconds: $0) },
            refreshToken: try answer.secret(.refreshToken),
            scopes: try answer.scopes(areList: quirks.contains(.scopeIsList)),
            idToken: idToken.map { Array($0.text.utf8) })
    }

    private enum IDTokenPurpose: TokenPurpose {}

    /// The response of a revocation endpoint (RFC 7009, section 2.2): a token that was invalid before counts as
    /// revoked.
    ///
    /// - Throws: ``CallFailure``.
    package func revoked() throws(CallFailure) {
        let isSuccess = status == 200 || status == 204
        let answer: JSONObject
        do throws(CallFailure) {
            answer = try readable()
        } catch {
            // The body of a success is ignored.
            if isSuccess { return }
            throw error
        }
        switch answer.errorName {
        case .invalidToken: return
        case nil: if !isSuccess { throw .answerInvalid(.status(status)) }
        case let name?: throw CallFailure(name)
        }
    }

    /// The response of a UserInfo endpoint (OpenID Connect Core 1.0, section 5.3), whose media type says what it is.
    ///
    /// - Parameters:
    ///   - subject: the ID Token's. Claims of another user are rejected (section 5.3.2).
    ///   - refusal: why plain claims are refused; `nil` if they are not.
    /// - Throws: ``CallFailure``.
    package func userInfo(
        of subject: String, refusingClaims refusal: UserInfoTokenFault? = nil
    ) throws(CallFailure) -> UserInfoResponse {
        if status == 200, !hasContentCoding, mediaType == UserInfoResponse.tokenType { return .token(body) }
        let answer: JSONObject
        do throws(CallFailure) {
            answer = try readable()
        } catch {
            if case .answerInvalid = error, let name = challengeError { throw .refused(name) }
            throw error
        }
        if let name = answer.errorName ?? challengeError { throw .refused(name) }
        guard status == 200 else { throw .answerInvalid(.status(status)) }
        if let refusal { throw .answerInvalid(.userInfoToken(refusal)) }
        guard try answer.required(.subject).isExactly(subject) else { throw .answerInvalid(.otherSubject) }
        return .claims(body)
    }

    /// The response of a pushed authorization request endpoint (RFC 9126, section 2.2).
    ///
    /// - Throws: ``CallFailure``.
    package func pushed() throws(CallFailure) -> PushedReference {
        let answer = try readable()
        if let name = answer.errorName {
            // There is no grant that could be invalid.
            throw name == .invalidGrant ? .refused(name) : CallFailure(name)
        }
        guard status == 201 || status == 200 else { throw .answerInvalid(.status(status)) }
        let uri = try answer.required(.requestURI)
        guard (1...2048).contains(uri.utf8.count), uri.utf8.allSatisfy(\.isVisibleASCII) else {
            throw .answerInvalid(.member(.requestURI))
        }
        guard let seconds = answer.expiresInSeconds, seconds > 0 else { throw .answerInvalid(.member(.expiresIn)) }
        return PushedReference(uri: uri, lifetimeSeconds: seconds)
    }

    /// The provider's own explanation of an error, for operators (RFC 6749, section 5.2).
    ///
    /// - Parameter secrets: what the request contained. The explanation may repeat it, and is then returned without it.
    /// - Returns: printable ASCII, at most 300 characters; `nil` if there is none.
    package func errorDescription(without secrets: SentSecrets) -> String? {
        guard let text = (try? JSONObject(body))?["error_description"]?.string else { return nil }
        return secrets.removed(from: text, maximumLength: 300)
    }

    func readable() throws(CallFailure) -> JSONObject {
        if status == 429 || status >= 500 {
            throw .unavailable(.status(status), retryAfterSeconds: retryAfterSeconds)
        }
        let object = hasContentCoding ? nil : try? JSONObject(body)
        // Redirects are not followed, but an OAuth error counts at this status too.
        if (300..<400).contains(status), object?.errorName == nil { throw .answerInvalid(.redirect) }
        if let object { return object }
        // A page that says what is wrong need not be JSON.
        if (400..<500).contains(status) { throw .answerInvalid(.status(status)) }
        throw .answerInvalid(hasContentCoding ? .contentCoding : .notJSON)
    }

    /// Limited to 1 to 60 s; `nil` if `Retry-After` is absent or not a number of seconds.
    private var retryAfterSeconds: Int64? {
        guard let retryAfter, (1...9).contains(retryAfter.utf8.count), let seconds = Int64(retryAfter), seconds >= 0
        else {
            return nil
        }
        return min(max(seconds, 1), 60)
    }
}

extension CallFailure {
    init(_ name: OAuthErrorName, isInvalidRequestRevoked: Bool = false, isIssued: Bool = false) {
        self =
            switch name {
            case .invalidGrant: .grantInvalid(name, isIssued: isIssued)
            case .invalidRequest where isInvalidRequestRevoked: .grantInvalid(name, isIssued: isIssued)
            case .invalidClient, .unauthorizedClient: .clientRejected(name)
            default: .refused(name)
            }
    }
}

/// Strings that are `null` or empty count as absent, because some providers send them.
extension JSONObject {
    fileprivate var hasTokens: Bool { ["access_token", "refresh_token", "id_token"].contains(where: hasValue) }

    /// An error counts at any status: some providers send it with 200.
    var errorName: OAuthErrorName? {
        guard hasValue("error") else { return nil }
        return (try? string("error")).flatMap(\.self).map(OAuthErrorName.init(naming:)) ?? .other
    }

    /// An integer, or its digits as a string; `nil` for anything else, because that is no reason to drop a grant.
    fileprivate var expiresInSeconds: Int64? {
        let seconds = self["expires_in"].flatMap { value in
            value.integer ?? value.string.flatMap { $0.utf8.allSatisfy(\.isDigit) ? Int64($0) : nil }
        }
        return seconds.flatMap { (0...Int64(Int32.max)).contains($0) ? $0 : nil }
    }

    /// - Parameter areList: whether a list of strings is accepted in addition to RFC 6749's space-separated string.
    fileprivate func scopes(areList: Bool) throws(CallFailure) -> [String]? {
        let scopes: [String]?
        if areList, let elements = self["scope"]?.elements {
            let texts = elements.compactMap(\.string)
            guard texts.count == elements.count else { throw .answerInvalid(.member(.scope)) }
            // Such a list may have several scopes in one string.
            scopes = texts.isEmpty ? nil : texts
        } else {
            scopes = try text(.scope)?.split(separator: " ").map(String.init)
        }
        guard scopes?.allSatisfy({ $0.split(separator: " ").allSatisfy { String($0).isScope } }) ?? true else {
            throw .answerInvalid(.member(.scope))
        }
        return scopes
    }

    func text(_ member: CallFailure.AnswerFault.Member) throws(CallFailure) -> String? {
        let name = JSONName(member.rawValue)
        guard hasValue(name) else { return nil }
        do throws(JSONTypeMismatch) {
            return try string(name)
        } catch {
            throw .answerInvalid(.member(member))
        }
    }

    func required(_ member: CallFailure.AnswerFault.Member) throws(CallFailure) -> String {
        guard let text = try text(member) else { throw .answerInvalid(.member(member)) }
        return text
    }

    fileprivate func secret<Purpose>(
        _ member: CallFailure.AnswerFault.Member
    ) throws(CallFailure) -> SecretText<Purpose>? {
        guard let text = try text(member) else { return nil }
        guard let secret = SecretText<Purpose>(text) else { throw .answerInvalid(.member(member)) }
        return secret
    }
}

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
