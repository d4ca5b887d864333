private import Bytes
internal import HTTP
package import IDToken
package import JOSE
private import Keys
internal import OAuth

/// The body of `POST /v1/access-tokens/verify`.
package struct AccessTokenRequest: Sendable {
    /// `nil`: the API's client sent none. Only with a resource.
    let token: ArraySlice<UInt8>?
    let provider: String?
    /// The ID of the resource that the token is for, which determines its providers and audiences.
    let resource: String?
    package let parameters: AccessTokenParameters
    let includesClaims: Bool

    /// Unknown members are rejected, and so is `null` for a member that enables a check, as in ``VerifyRequest``.
    ///
    /// - Parameters:
    ///   - others: names of members that belong to something else.
    ///   - proofs: what DPoP proofs are checked with; `nil` if they are not checked.
    ///   - resources: those that the request may name.
    package init(
        _ object: JSONObject, beside others: [JSONName] = [], _ proofs: ProofChecks?, for resources: [ServedResource]
    ) throws(Problem) {
        try object.requireOnly(others.isEmpty ? Names.all : Names.all + others, in: "request")
        let resource = try object.checkedString(Names.resource, characters: MemberBounds.provider)
        let token = try? object.utf8(Names.token)
        guard token != nil || resource != nil && object[Names.token]?.kind == .null else {
            throw .requestInvalid(
                resource == nil
                    ? "The request needs a member token, a string."
                    : "The request needs a member token: a string, or null if the client sent none.")
        }
        let provider = try object.string(MemberNames.provider, characters: MemberBounds.provider)
        let audience = try object.string(MemberNames.audience, characters: MemberBounds.audience)
        if resource != nil, provider != nil || audience != nil {
            throw .requestInvalid("resource determines provider and audience; send resource, or send these.")
        }
        var evidence = try BindingEvidence(of: object, proofs)
        if let resource, let use = resources.named(resource)?.resource.proofUse { evidence.proof?.use = use }
        let expectedSubject = try ExpectedSubject(of: object)
        let authenticatedAfter = try VerifyRequest.authenticatedAfter(object)
        let scopes = try object.scopes(Names.scopes) ?? []
        includesClaims = try object.boolean(MemberNames.includeClaims) ?? false
        // All that can throw comes before: otherwise, the compiler copies what is already set.
        self.token = token
        self.provider = provider
        self.resource = resource
        parameters = AccessTokenParameters(
            audience: audience, expectedSubject: expectedSubject, authenticatedAfter: authenticatedAfter,
            scopes: scopes, evidence: evidence)
    }

    /// The resource that a body names, also one that is no valid request.
    package static func resource(namedIn object: JSONObject, among resources: [ServedResource]) -> Resource? {
        (try? object.string(Names.resource)).flatMap(resources.named)?.resource
    }

    private enum Names {
        static let token: JSONName = "token"
        static let scopes: JSONName = "scopes"
        static let resource: JSONName = "resource"
        static let all =
            [
                token, resource, MemberNames.provider, MemberNames.audience, MemberNames.subject, MemberNames.issuer,
                MemberNames.authenticatedAfter, scopes, MemberNames.includeClaims,
            ] + BindingEvidence.names
    }
}

extension AccessTokenParameters {
    /// Rejects a request for something that the provider's settings don't allow.
    ///
    /// - Throws: ``Problem/audienceNotConfigured``, ``Problem/requestInvalid(_:)``.
    func check(against policy: ProviderPolicy) throws(Problem) {
        if let audience, !policy.audiences.containsExactly(audience) { throw .audienceNotConfigured }
        if let expectedSubject { try expectedSubject.check(against: policy) }
    }
}

extension RequestVerifier.ProviderSlot {
    // Not inlined: inside a caller where the slot is not a parameter, its policy would be copied.
    @inline(never)
    func check(_ parameters: AccessTokenParameters) throws(Problem) { try parameters.check(against: policy) }
}

/// Verifies access tokens. Keys and waiting work as for ID Tokens.
extension RequestVerifier {
    /// Verifies an access token: the request, the token's form, then all checks.
    package func verify(_ request: AccessTokenRequest, at now: VerificationTime) -> Outcome<AccessTokenAnswer> {
        var index = request.provider.flatMap(ofAccessTokens.named)
        do throws(Problem) {
            if let named = request.provider, index == nil { throw noProvider(named: named, ofAccessTokens: true) }
            let resource = request.resource.flatMap(resource)
            if let named = request.resource, resource == nil { throw unknownResource(named: named) }
            guard let text = request.token else { throw .tokenMissing }
            let token: UnverifiedToken
            do throws(Rejection) {
                (token, index) = try read(text, ofProvider: index, among: resource?.providers ?? ofAccessTokens)
            } catch {
                if resource != nil, text.isOpaque(error) { throw .issuerNotOfResource }
                throw .rejected(error, of: .accessToken)
            }
            guard let index, let slot = slot(index, of: resource), let dialect = slot.provider.accessTokens else {
                guard resource == nil else { throw .issuerNotOfResource }
                throw noProvider(named: nil, issuer: token.unverifiedIssuer, ofAccessTokens: true)
            }
            return try verify(
                token, request, dialect, index, slot.slot(for: token, nil, of: .accessToken), now)
        } catch {
            return .decided(.refused(error.naming(request.parameters.audience), provider: index))
        }
    }

    /// The provider with this number, under the resource's rules if there is one.
    func slot(_ number: Int, of resource: ServedResource?) -> ProviderSlot? {
        if let resource { resource[number] } else { slots[number] }
    }

    /// The policies of the providers with one issuer each, under the resource's rules if there is one.
    func singlePolicies(of resource: ServedResource?, where isIncluded: (Provider) -> Bool) -> [ProviderPolicy] {
        slots.indices.compactMap { number in
            guard let slot = slot(number, of: resource), slot.issuers == nil, isIncluded(slot.provider) else {
                return nil
            }
            return slot.policy
        }
    }

    /// - Parameter slot: of the token's issuer.
    // Not inlined: inside the caller, where the slot is not a parameter, its policy would be copied.
    @inline(never)
    private func verify(
        _ token: UnverifiedToken, _ request: AccessTokenRequest, _ dialect: AccessTokenDialect, _ index: Int,
        _ slot: ProviderSlot, _ now: VerificationTime
    ) throws(Problem) -> Outcome<AccessTokenAnswer> {
        try request.parameters.check(against: slot.policy)
        return try attempt(accessToken: token, dialect, index, slot, now, request.parameters) { token, keys in
            AccessTokenAnswer(.jwt(token, keys.used(at: now.monotonic)), to: request)
        }
    }

    /// - Parameter answer: creates the answer from a verified token and the keys that verified it.
    /// - Throws: ``Problem/rejected(_:of:)``.
    @inline(__always)
    func attempt<Answer>(
        accessToken token: UnverifiedToken, _ dialect: AccessTokenDialect, _ index: Int, _ slot: ProviderSlot,
        _ now: VerificationTime, _ parameters: AccessTokenParameters,
        answer: (consuming VerifiedAccessToken, LoopKeySnapshot.Latest) -> Answer
    ) throws(Problem) -> Outcome<Answer> {
        try attempt(token, index, slot, now, of: .accessToken) { () throws(Rejection) in
            try token.checkClaims(ofAccessTokenUnder: slot.policy, dialect, now: now.wall)
        } checkingHeader: { () throws(Rejection) in
            try verifier.jwsVerifier.checkAccessTokenHeader(
                token, allowing: slot.policy.algorithms ?? .all, dialect)
        } verifying: { keys throws(Rejection) in
            let verified = try verifier.jwsVerifier.verifyAccessToken(
                token, with: keys.keys, algorithms: keys.algorithms, under: slot.policy, dialect,
                expecting: parameters, now: now.wall)
            if dialect.loadBalancer != nil, let keyID = token.keyID, keys.snapshot.isUnproven(keyID) {
                slot.source.prove(keyID)
            }
            return answer(verified, keys)
        }
    }
}

extension ArraySlice<UInt8> {
    /// Whether a text that could not be read as a JWT can be another access token, which only its issuer can read: it
    /// has not three parts, or the first is no JOSE header.
    ///
    /// - Source: RFC 6750, section 2.1.
    func isOpaque(_ rejection: Rejection) -> Bool {
        (rejection == .tokenMalformed(.serialization) || rejection == .tokenMalformed(.header)) && span.isToken
    }
}

/// A verified access token, and how it was verified.
package enum AcceptedAccessToken: Sendable {
    case jwt(VerifiedAccessToken, KeysUsed)
    case opaque(AcceptedOpaqueToken)

    /// `nil` if the token is not bound to a key.
    package var binding: TokenBinding? {
        switch self {
        case .jwt(let token, _): token.binding
        case .opaque(let accepted): accepted.binding
        }
    }
}

/// An opaque token that has passed every check, and how the provider's answer came.
// A class, because it is passed through many functions: each copy of a struct would retain all of its parts.
package final class AcceptedOpaqueToken: Sendable {
    let known: KnownToken
    /// `nil` if the token is not bound to a key.
    let binding: TokenBinding?
    let introspection: IntrospectionUsed

    init(_ known: KnownToken, _ binding: TokenBinding?, _ introspection: IntrospectionUsed) {
        self.known = known
        self.binding = binding
        self.introspection = introspection
    }

    var token: IntrospectedToken { known.token }
}

extension KnownToken {
    /// - Parameter rules: identifies the slot by whose rules the token was accepted.
    convenience init(_ token: IntrospectedToken, under rules: ObjectIdentifier) {
        var json = JSONWriter()
        json.writeBeginning(of: token, token.identity, token.authorization)
        self.init(token, under: rules, answer: json.bytes)
    }
}

/// How old a provider's answer is, and which keys signed it, as an answer reports them.
package struct IntrospectionUsed: Sendable {
    private let isCached: Bool
    private let ageSeconds: Int64
    /// `nil` if the answer was not signed.
    let keys: KeysUsed?

    init(_ introspection: Introspection, now: MonotonicTime) {
        self.init(introspection.keys, age: introspection.age, isCached: introspection.isCached, now: now)
    }

    /// - Parameter answer: known before the request.
    init(_ answer: KnownAnswer, now: MonotonicTime) {
        self.init(answer.keys, age: now - answer.askedAt, isCached: true, now: now)
    }

    private init(_ keys: SigningKeys?, age: Interval, isCached: Bool, now: MonotonicTime) {
        self.isCached = isCached
        ageSeconds = max(age.milliseconds / 1000, 0)
        self.keys = keys.map { KeysUsed($0, now: now) }
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("cached", isCached)
        json.member("age_seconds", ageSeconds)
        json.endObject()
    }
}

/// The answer for a verified access token: its subject, its permissions, and the keys that were used.
package struct AccessTokenAnswer: Sendable {
    package let token: AcceptedAccessToken
    let includesClaims: Bool

    package init(_ token: AcceptedAccessToken, to request: AccessTokenRequest) {
        self.token = token
        includesClaims = request.includesClaims
    }

    /// The DPoP proof that it came with, if it passes only once.
    package var newProof: DPoPProof? { token.binding?.newProof }

    /// Writes the answer as a JSON object that always has every member, except those that were asked for.
    ///
    /// - Parameter proofNonce: what the client's next proof must repeat; `nil`: proofs need no nonce.
    package func write(to json: inout JSONWriter, proofNonce: String?) {
        switch token {
        case .jwt(let token, let keys):
            json.writeBeginning(of: token, token.identity, token.authorization)
            json.writeEnd(binding: token.binding, keys)
            if includesClaims { json.writeClaims(token.claimsText) }
        case .opaque(let accepted):
            json.raw(accepted.known.answer[...])
            json.writeEnd(binding: accepted.binding, accepted.introspection.keys)
            json.name("introspection")
            accepted.introspection.write(to: &json)
            if includesClaims { json.writeClaims(accepted.token.claimsText) }
        }
        if let proofNonce { json.member("dpop_nonce", proofNonce) }
        json.endObject()
    }
}

extension JSONWriter {
    /// Writes the beginning of an answer, up to the members that depend on the request.
    fileprivate mutating func writeBeginning(
        of token: some VerifiedToken, _ identity: Identity?, _ authorization: Authorization
    ) {
        beginObject()
        name("identity")
        if let identity { identity.write(to: &self) } else { null() }
        name("token")
        object { token.writeMembers(to: &$0) }
        name("authorization")
        beginObject()
        member("client_id", authorization.clientID)
        array("scopes", authorization.scopes)
        array("roles", authorization.roles)
        if let groups = authorization.groups {
            array("groups", groups)
        } else {
            name("groups")
            null()
        }
        array("entitlements", authorization.entitlements)
    }

    /// Completes `authorization`, and writes the members after it.
    ///
    /// - Parameter keys: `nil` if no key was used.
    fileprivate mutating func writeEnd(binding: TokenBinding?, _ keys: KeysUsed?) {
        name("binding")
        if let binding { binding.write(to: &self) } else { null() }
        endObject()
        name("keys")
        if let keys { keys.write(to: &self) } else { null() }
    }

    fileprivate mutating func writeClaims(_ text: ArraySlice<UInt8>) {
        name("claims")
        raw(text)
    }
}
