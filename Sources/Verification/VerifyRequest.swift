private import Bytes
package import IDToken
package import JSON

/// The body of `POST /v1/verify`, or one item of a batch.
///
/// Members that are not known are refused, so that a misspelt `nonce` can't switch a check off. A member that is `null` is
/// absent, as backends write what they don't have; a `nonce` that is `null` is refused, since a backend that lost the nonce
/// of a sign-in must not have it verified without one.
///
/// A class: a structure of as many parts is copied where its initializer ends, each reference counted once more.
package final class VerifyRequest: Sendable {
    let idToken: ArraySlice<UInt8>
    let provider: String?
    let parameters: VerificationParameters
    let includesClaims: Bool

    /// Reads a request.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    package init(_ object: JSONObject) throws(Problem) {
        try object.requireOnly(Names.all, in: "request")
        guard let idToken = try? object.utf8(Names.idToken) else {
            throw .requestInvalid("The request needs a member id_token, a string.")
        }
        let provider = try object.string(Names.provider, characters: Bounds.provider)
        parameters = try Self.parameters(of: object)
        self.idToken = idToken
        self.provider = provider
        includesClaims = try Self.includesClaims(object)
    }

    /// Takes what a request says from elsewhere than JSON, within the same bounds.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    package init(
        idToken: String, provider: String?, parameters: VerificationParameters, includesClaims: Bool
    ) throws(Problem) {
        let texts: [(String?, JSONName, ClosedRange<Int>)] = [
            (provider, Names.provider, Bounds.provider), (parameters.nonce, Names.nonce, Bounds.nonce),
            (parameters.audience, Names.audience, Bounds.audience),
            (parameters.accessToken, Names.accessToken, Bounds.accessToken),
            (parameters.code, Names.code, Bounds.code),
        ]
        for case (let text?, let name, let bounds) in texts where !text.hasScalars(bounds) {
            throw .requestInvalid(wrongLength(name, bounds))
        }
        if let seconds = parameters.maximumAuthenticationAgeSeconds, seconds < 0 { throw Self.wrongMaximumAge }
        self.idToken = Array(idToken.utf8)[...]
        self.provider = provider
        self.parameters = parameters
        self.includesClaims = includesClaims
    }

    /// - Throws: ``Problem/requestInvalid(_:)``.
    private static func includesClaims(_ object: JSONObject) throws(Problem) -> Bool {
        do throws(JSONTypeMismatch) {
            return try object.bool(Names.includeClaims) ?? false
        } catch {
            if object.kind(of: Names.includeClaims) == .null { return false }
            throw .requestInvalid("include_claims must be true or false.")
        }
    }

    /// Reads what a request says of its sign-in.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    private static func parameters(of object: JSONObject) throws(Problem) -> VerificationParameters {
        let nonce = try nonce(object)
        let audience = try object.string(Names.audience, characters: Bounds.audience)
        let accessToken = try object.string(Names.accessToken, characters: Bounds.accessToken)
        let code = try object.string(Names.code, characters: Bounds.code)
        let maximumAge = try maximumAge(object)
        let clientName: ClientName? =
            if let user = object[Names.user], user.kind != .null { try ClientName(user) } else { nil }
        return VerificationParameters(
            nonce: nonce, audience: audience, maximumAuthenticationAgeSeconds: maximumAge, accessToken: accessToken,
            code: code, clientName: clientName)
    }

    /// - Throws: ``Problem/requestInvalid(_:)``, also where it is `null`.
    private static func nonce(_ object: JSONObject) throws(Problem) -> String? {
        if let nonce = try object.string(Names.nonce, characters: Bounds.nonce) { return nonce }
        guard object.kind(of: Names.nonce) == .null else { return nil }
        throw .requestInvalid(
            "nonce must not be null, since that would skip the nonce check; send the nonce, or leave it out.")
    }

    /// - Throws: ``Problem/requestInvalid(_:)``.
    private static func maximumAge(_ object: JSONObject) throws(Problem) -> Int64? {
        do throws(JSONTypeMismatch) {
            guard let seconds = try object.integer(Names.maxAge) else { return nil }
            if seconds >= 0 { return seconds }
        } catch {
            if object.kind(of: Names.maxAge) == .null { return nil }
        }
        throw wrongMaximumAge
    }

    private static var wrongMaximumAge: Problem {
        .requestInvalid("max_age must be an integer number of seconds, 0 or more.")
    }

    /// How many Unicode scalars each member may have.
    private enum Bounds {
        static var provider: ClosedRange<Int> { 1...255 }
        static var nonce: ClosedRange<Int> { 1...512 }
        static var audience: ClosedRange<Int> { 1...1024 }
        static var accessToken: ClosedRange<Int> { 1...16_384 }
        static var code: ClosedRange<Int> { 1...16_384 }
    }

    private enum Names {
        static let idToken: JSONName = "id_token"
        static let provider: JSONName = "provider"
        static let nonce: JSONName = "nonce"
        static let audience: JSONName = "audience"
        static let maxAge: JSONName = "max_age"
        static let accessToken: JSONName = "access_token"
        static let code: JSONName = "code"
        static let user: JSONName = "user"
        static let includeClaims: JSONName = "include_claims"
        static let all = [idToken, provider, nonce, audience, maxAge, accessToken, code, user, includeClaims]
    }
}

extension ClientName {
    /// Reads Apple's one-time `user` object. Its `email` is checked for its type and not used: nobody signed it.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    fileprivate init(_ value: JSONValue) throws(Problem) {
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

extension JSONObject {
    /// A member that must be a string of a certain length where it is present; `null` is absent.
    ///
    /// - Parameter characters: how many Unicode scalars it may have.
    /// - Throws: ``Problem/requestInvalid(_:)``.
    fileprivate func string(_ name: JSONName, characters: ClosedRange<Int>) throws(Problem) -> String? {
        do throws(JSONTypeMismatch) {
            guard let string = try self.string(name) else { return nil }
            if string.hasScalars(characters) { return string }
        } catch {
            if kind(of: name) == .null { return nil }
        }
        throw .requestInvalid(wrongLength(name, characters))
    }
}

private func wrongLength(_ name: JSONName, _ bounds: ClosedRange<Int>) -> String {
    "\(name.string) must be a string of \(bounds.lowerBound) to \(bounds.upperBound) characters."
}
