private import Bytes
package import IDToken
package import JOSE

/// The body of `POST /v1/verify`, or one item of a batch.
///
/// Unknown members are rejected, so that a misspelled `nonce` can't disable a check. `null` means absent, because
/// backends often send `null` for missing values. But for a member that enables a check, `null` is an error: a backend
/// that lost a nonce must not have its token verified without one.
///
/// A class: a struct of this size would be copied at the end of its initializer, retaining each reference once more.
package final class VerifyRequest: Sendable {
    let idToken: ArraySlice<UInt8>
    let provider: String?
    let parameters: VerificationParameters
    /// For a provider with `issuers: any`; `nil` for all others.
    let connection: Connection?
    /// What the answer has beside its usual members.
    let extras: AnswerExtras?

    /// - Parameter others: names of members that belong to something else.
    package init(_ object: JSONObject, beside others: [JSONName] = []) throws(Problem) {
        // Comparing the names once, instead of looking up each optional member, saves 1,000 instructions for most
        // requests.
        let isPlain = object.hasOnly(MemberNames.ofMostRequests)
        connection = isPlain ? nil : try Connection(of: object, beside: MemberNames.ofVerifyRequest + others)
        guard let idToken = try? object.utf8(MemberNames.idToken) else {
            throw .requestInvalid("The request needs a member id_token, a string.")
        }
        let provider = try object.string(MemberNames.provider, characters: MemberBounds.provider)
        let nonce = try object.checkedString(MemberNames.nonce, characters: MemberBounds.nonce)
        parameters =
            isPlain
            ? VerificationParameters(nonce: nonce) : try Self.parameters(of: object, nonce: nonce, connection)
        self.idToken = idToken
        self.provider = provider
        extras =
            isPlain
            ? nil
            : AnswerExtras.needed(
                includesClaims: try object.boolean(MemberNames.includeClaims) ?? false, connection)
    }

    /// A request for the token of a sign-in that was begun here, with the sign-in's parameters.
    ///
    /// - Parameter connection: the sign-in's, for a provider with `issuers: any`.
    package convenience init(
        ofSignIn idToken: ArraySlice<UInt8>, provider: String, parameters: VerificationParameters, includesClaims: Bool,
        connection: Connection? = nil
    ) {
        self.init(idToken, provider, parameters, .needed(includesClaims: includesClaims, connection), connection)
    }

    init(
        _ idToken: ArraySlice<UInt8>, _ provider: String?, _ parameters: VerificationParameters,
        _ extras: AnswerExtras?, _ connection: Connection?
    ) {
        self.idToken = idToken
        self.provider = provider
        self.parameters = parameters
        self.connection = connection
        self.extras = extras
    }

    /// A request from a source other than JSON, with the same bounds.
    package convenience init(
        idToken: String, provider: String?, parameters: VerificationParameters, includesClaims: Bool
    ) throws(Problem) {
        let texts: [(String?, JSONName, ClosedRange<Int>)] = [
            (provider, MemberNames.provider, MemberBounds.provider),
            (parameters.nonce, MemberNames.nonce, MemberBounds.nonce),
            (parameters.audience, MemberNames.audience, MemberBounds.audience),
            (parameters.accessToken, MemberNames.accessToken, MemberBounds.accessToken),
            (parameters.code, MemberNames.code, MemberBounds.code),
            (parameters.expectedSubject?.subject, MemberNames.subject, MemberBounds.subject),
            (parameters.expectedSubject?.issuer, MemberNames.issuer, MemberBounds.issuer),
        ]
        for case (let text?, let name, let bounds) in texts where !text.hasScalars(bounds) {
            throw .requestInvalid(wrongLength(name, bounds))
        }
        if let seconds = parameters.maximumAuthenticationAgeSeconds, seconds < 0 {
            throw wrongSeconds(MemberNames.maxAge)
        }
        self.init(Array(idToken.utf8)[...], provider, parameters, includesClaims ? .claims : nil, nil)
    }

    /// Reads the parameters of the sign-in.
    private static func parameters(
        of object: JSONObject, nonce: String?, _ connection: Connection?
    ) throws(Problem) -> VerificationParameters {
        let audience = try object.string(MemberNames.audience, characters: MemberBounds.audience)
        let accessToken = try object.string(MemberNames.accessToken, characters: MemberBounds.accessToken)
        let code = try object.string(MemberNames.code, characters: MemberBounds.code)
        let maximumAge = try object.seconds(MemberNames.maxAge)
        let clientName: ClientName? =
            if let user = object[MemberNames.user], user.kind != .null { try ClientName(user) } else { nil }
        return VerificationParameters(
            nonce: nonce, audience: audience, maximumAuthenticationAgeSeconds: maximumAge, accessToken: accessToken,
            code: code, clientName: clientName, authenticatedAfter: try authenticatedAfter(object),
            expectedSubject: try ExpectedSubject(of: object, connection))
    }

    /// - Throws: ``Problem/requestInvalid(_:)``, also if it is `null`.
    static func authenticatedAfter(_ object: JSONObject) throws(Problem) -> UnixTime? {
        do throws(JSONTypeMismatch) {
            return try object.integer(MemberNames.authenticatedAfter).map(UnixTime.init(seconds:))
        } catch {
            throw .requestInvalid("authenticated_after must be an integer, the Unix time in seconds.")
        }
    }

    /// Rejects a request for something that the provider's settings don't allow.
    ///
    /// - Throws: ``Problem/audienceNotConfigured``, ``Problem/requestInvalid(_:)``.
    func check(against policy: ProviderPolicy) throws(Problem) {
        if let audience = parameters.audience, !policy.audiences.containsExactly(audience) {
            throw .audienceNotConfigured
        }
        if let person = parameters.expectedSubject { try person.check(against: policy) }
    }
}

extension ExpectedSubject {
    /// Reads `subject` and `issuer`. Whether the issuer is required depends on the provider.
    ///
    /// - Parameter connection: the request's, whose `issuer` is required even without a subject.
    /// - Returns: `nil` if the request names no subject.
    /// - Throws: ``Problem/requestInvalid(_:)``, also if a member is `null`.
    package init?(of object: JSONObject, _ connection: Connection? = nil) throws(Problem) {
        let issuer = try object.checkedString(MemberNames.issuer, characters: MemberBounds.issuer)
        guard let subject = try object.checkedString(MemberNames.subject, characters: MemberBounds.subject) else {
            if issuer == nil || connection != nil { return nil }
            throw .requestInvalid(
                "issuer is only valid together with subject, or with connection for a provider with issuers: any; send both, or neither."
            )
        }
        self.init(subject: subject, issuer: issuer)
    }

    /// Requires an issuer if the provider has several, because subjects are unique only within one issuer.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    package func check(against policy: ProviderPolicy) throws(Problem) {
        guard issuer == nil, policy.hasTemplateIssuer else { return }
        throw .requestInvalid(
            "subject needs issuer, because this provider has an issuer for each tenant; send identity.issuer.")
    }
}

extension ClientName {
    /// Reads Apple's one-time `user` object. The type of its `email` is checked, but the value is not used: it is
    /// unsigned.
    package init(_ value: JSONValue) throws(Problem) {
        let shape = "user must be an object {\"name\": {\"firstName\", \"lastName\"}, \"email\"}, as Apple sends it."
        guard let user = value.object else { throw .requestInvalid(shape) }
        try user.requireOnly([UserNames.name, UserNames.email], in: "object user")
        _ = try user.string(UserNames.email, characters: 0...320)
        guard let nameValue = user[UserNames.name], nameValue.kind != .null else {
            self.init(givenName: nil, familyName: nil)
            return
        }
        guard let name = nameValue.object else { throw .requestInvalid(shape) }
        try name.requireOnly([UserNames.firstName, UserNames.lastName], in: "object user.name")
        func part(_ member: JSONName) throws(Problem) -> String? {
            let text = try name.string(member, characters: 0...255)
            return text?.isEmpty == true ? nil : text
        }
        self.init(givenName: try part(UserNames.firstName), familyName: try part(UserNames.lastName))
    }

    private enum UserNames {
        static let name: JSONName = "name"
        static let email: JSONName = "email"
        static let firstName: JSONName = "firstName"
        static let lastName: JSONName = "lastName"
    }
}

/// What only some answers have. One reference, so that an answer without them checks only once.
final class AnswerExtras: Sendable {
    let includesClaims: Bool
    /// `nil` if the token was not encrypted.
    let encryption: EncryptionFacts?

    /// The backend's ID of the connection; `nil` unless the provider has `issuers: any`.
    let connection: String?

    static let claims = AnswerExtras(includesClaims: true, nil, connection: nil)

    init(includesClaims: Bool, _ encryption: EncryptionFacts?, connection: String?) {
        self.includesClaims = includesClaims
        self.encryption = encryption
        self.connection = connection
    }

    /// - Returns: `nil` if the answer has none.
    static func needed(includesClaims: Bool, _ connection: Connection?) -> AnswerExtras? {
        guard let connection else { return includesClaims ? .claims : nil }
        return AnswerExtras(includesClaims: includesClaims, nil, connection: connection.id)
    }
}

/// How a token was encrypted, as answers say it.
package struct EncryptionFacts: Sendable {
    private let algorithm: String?
    private let content: String?
    private let keyID: String?

    init(_ header: JWEHeader) {
        algorithm = header.algorithm?.rawValue
        content = header.content?.rawValue
        keyID = header.keyID
    }

    func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("algorithm", algorithm)
            json.member("content", content)
            json.member("key_id", keyID)
        }
    }
}
