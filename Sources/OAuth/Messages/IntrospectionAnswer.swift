private import Bytes
package import IDToken
internal import JOSE

/// What an introspection endpoint says of a token.
package enum IntrospectionAnswer: Sendable {
    /// The token has expired, was revoked, or is not one of the provider's.
    case inactive
    case active(ActiveToken)
}

/// An active token's members.
package struct ActiveToken: Sendable {
    package let introspected: IntrospectedClaims
    /// `nil` if the provider does not say when the token expires.
    package let expiresAt: UnixTime?
    /// In bytes, of the members as text.
    package let size: Int
}

/// A response of an introspection endpoint, which may be signed.
package enum IntrospectionResponse: Sendable {
    case plain(IntrospectionAnswer)
    /// A JWT that is not verified yet.
    case signed([UInt8])
}

extension EndpointAnswer {
    /// The media type of a signed response.
    package static let signedIntrospection = "application/token-introspection+jwt"

    /// The response of an introspection endpoint (RFC 7662, section 2.2; RFC 9701, section 5).
    ///
    /// - Parameter mustBeSigned: whether a response that is not signed is refused.
    /// - Throws: ``CallFailure``.
    package func introspection(mustBeSigned: Bool) throws(CallFailure) -> IntrospectionResponse {
        // Some servers refuse a client without a body (RFC 7662, section 2.3).
        if status == 401 { throw .clientRejected((try? JSONObject(body))?.errorName ?? .invalidClient) }
        if status == 200, !hasContentCoding, mediaType == Self.signedIntrospection { return .signed(body) }
        let answer = try readable()
        if let name = answer.errorName {
            throw name == .invalidGrant ? .refused(name) : CallFailure(name)
        }
        guard status == 200 else { throw .answerInvalid(.status(status)) }
        guard !mustBeSigned else { throw .answerInvalid(.unsigned) }
        return .plain(try IntrospectionAnswer(answer, body))
    }
}

extension IntrospectionAnswer {
    /// Reads the members that Assay depends on. Members of another type are the provider's fault, not the token's.
    ///
    /// - Throws: ``CallFailure/answerInvalid(_:)``.
    /// - Source: RFC 7662, section 2.2.
    init(_ object: JSONObject, _ text: [UInt8]) throws(CallFailure) {
        guard let isActive = object["active"]?.bool else { throw .answerInvalid(.member(.active)) }
        guard isActive else {
            self = .inactive
            return
        }
        func require(_ isGood: Bool, _ member: CallFailure.AnswerFault.Member) throws(CallFailure) {
            guard isGood else { throw .answerInvalid(.member(member)) }
        }
        for member: CallFailure.AnswerFault.Member in [.issuer, .subject, .clientID, .tokenType] {
            let name = JSONName(member.rawValue)
            try require(!object.hasValue(name) || object.kind(of: name) == .string, member)
        }
        for member: CallFailure.AnswerFault.Member in [.audience, .scope] {
            guard let value = object[JSONName(member.rawValue)], value.kind != .null else { continue }
            let isList = value.elements?.allSatisfy { $0.kind == .string }
            try require(isList ?? (value.kind == .string), member)
        }
        for member: CallFailure.AnswerFault.Member in [.expiration, .notBefore, .issuedAt] {
            let name = JSONName(member.rawValue)
            try require(!object.hasValue(name) || object[name].flatMap(UnixTime.init(numericDate:)) != nil, member)
        }
        let isForProofs = object["token_type"]?.string?.lowercased() == "dpop"
        guard !isForProofs || object["cnf"]?.object?["jkt"]?.kind == .string else {
            throw .answerInvalid(.proofWithoutKey)
        }
        guard let introspected = IntrospectedClaims(text) else { throw .answerInvalid(.notJSON) }
        self = .active(
            ActiveToken(
                introspected: introspected,
                expiresAt: object["exp"].flatMap(UnixTime.init(numericDate:)), size: text.count))
    }
}

/// What a signed introspection response must say of itself.
struct SignedResponseRules: Sendable {
    let issuer: ProviderPolicy
    /// Our client's ID.
    let clientID: String

    /// In seconds, apart from clock skew.
    static let maximumAgeSeconds: Int64 = 60
}

extension JWSVerifier {
    /// Verifies a signed introspection response, and reads what it says of the token.
    ///
    /// - Throws: why it is refused.
    /// - Source: RFC 9701, section 5; RFC 8725, section 3.11.
    func introspection(
        in response: [UInt8], with keys: JWKSet, algorithms: SignatureAlgorithms, under rules: SignedResponseRules,
        now: UnixTime
    ) throws(CallFailure) -> IntrospectionAnswer {
        func refused(_ fault: CallFailure.AnswerFault.SignedResponseFault) -> CallFailure {
            .answerInvalid(.signedResponse(fault))
        }
        guard let jws = try? CompactJWS(response[...]) else { throw refused(.form) }
        guard jws.header.type?.lowercased().trimmingPrefix("application/") == "token-introspection+jwt",
            !jws.header.hasUnsupportedParameter
        else { throw refused(.type) }
        guard let algorithm = jws.header.algorithm, (rules.issuer.algorithms ?? algorithms).contains(algorithm) else {
            throw refused(.algorithm)
        }
        guard let verified = try? verify(jws, with: keys, by: algorithm) else { throw refused(.signature) }
        guard let object = try? JSONObject(verified.payload) else { throw refused(.form) }
        let claims = Claims(object)
        guard let issuer = claims.text(.issuer), rules.issuer.isIssuer(issuer) else { throw refused(.issuer) }
        guard let audiences = try? claims.audiences(), audiences.containsExactly(rules.clientID) else {
            throw refused(.audience)
        }
        let skew = rules.issuer.clockSkewSeconds
        let oldest = now.advanced(bySeconds: -SignedResponseRules.maximumAgeSeconds - skew)
        guard let issuedAt = try? claims.time(.issuedAt), issuedAt >= oldest,
            issuedAt <= now.advanced(bySeconds: skew)
        else { throw refused(.time) }
        guard let content = object["token_introspection"], let members = content.object else { throw refused(.content) }
        return try IntrospectionAnswer(members, Array(content.json))
    }
}
