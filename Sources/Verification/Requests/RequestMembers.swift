private import Bytes
internal import IDToken
package import JOSE
private import OAuth

/// Reads the members of a request. Unless stated otherwise, `null` means absent, because backends often send `null` for
/// missing values.
extension JSONObject {
    /// A string of limited length.
    ///
    /// - Parameter characters: the permitted number of Unicode scalars.
    package func string(_ name: JSONName, characters: ClosedRange<Int>) throws(Problem) -> String? {
        do throws(JSONTypeMismatch) {
            guard let string = try self.string(name) else { return nil }
            if string.hasScalars(characters) { return string }
        } catch {
            if kind(of: name) == .null { return nil }
        }
        throw .requestInvalid(wrongLength(name, characters))
    }

    /// A member that enables a check. `null` is an error: the backend probably lost the value, and the check must not
    /// be skipped.
    package func checkedString(_ name: JSONName, characters: ClosedRange<Int>) throws(Problem) -> String? {
        if let string = try string(name, characters: characters) { return string }
        guard kind(of: name) == .null else { return nil }
        throw .requestInvalid(
            "\(name.string) must not be null, because that would skip its check; send a value, or omit it.")
    }

    package func boolean(_ name: JSONName) throws(Problem) -> Bool? {
        do throws(JSONTypeMismatch) {
            return try bool(name)
        } catch {
            if kind(of: name) == .null { return nil }
            throw .requestInvalid("\(name.string) must be true or false.")
        }
    }

    /// A number of seconds, 0 or more.
    package func seconds(_ name: JSONName) throws(Problem) -> Int64? {
        do throws(JSONTypeMismatch) {
            guard let seconds = try integer(name) else { return nil }
            if seconds >= 0 { return seconds }
        } catch {
            if kind(of: name) == .null { return nil }
        }
        throw wrongSeconds(name)
    }

    /// A list of scopes. `null` is an error: the backend probably lost them.
    package func scopes(_ name: JSONName) throws(Problem) -> [String]? {
        guard let value = self[name] else { return nil }
        let scopes = value.elements?.map { $0.string ?? "" }
        guard let scopes, scopes.count <= 64, scopes.allSatisfy(\.isScope) else {
            throw .requestInvalid(
                "scopes must be a list of at most 64 scopes: strings of at most 255 characters without spaces, double quotes or backslashes."
            )
        }
        return scopes
    }
}

func wrongSeconds(_ name: JSONName) -> Problem {
    .requestInvalid("\(name.string) must be an integer number of seconds, 0 or more.")
}

func wrongLength(_ name: JSONName, _ bounds: ClosedRange<Int>) -> String {
    "\(name.string) must be a string of \(bounds.lowerBound) to \(bounds.upperBound) characters."
}

/// Names of members that several kinds of requests share.
package enum MemberNames {
    package static let idToken: JSONName = "id_token"
    package static let provider: JSONName = "provider"
    package static let nonce: JSONName = "nonce"
    package static let audience: JSONName = "audience"
    package static let maxAge: JSONName = "max_age"
    package static let accessToken: JSONName = "access_token"
    package static let code: JSONName = "code"
    package static let user: JSONName = "user"
    package static let includeClaims: JSONName = "include_claims"
    package static let subject: JSONName = "subject"
    package static let issuer: JSONName = "issuer"
    static let authenticatedAfter: JSONName = "authenticated_after"

    static let ofMostRequests = [idToken, nonce, provider]
    static let ofVerifyRequest = [
        idToken, provider, nonce, audience, maxAge, accessToken, code, user, includeClaims, subject, issuer,
        authenticatedAfter,
    ]
}

/// The permitted lengths of these members, in Unicode scalars.
package enum MemberBounds {
    package static var provider: ClosedRange<Int> { 1...255 }
    static var nonce: ClosedRange<Int> { 1...512 }
    package static var audience: ClosedRange<Int> { 1...1024 }
    package static var accessToken: ClosedRange<Int> { 1...UnverifiedToken.maximumLengths.upperBound }
    package static var code: ClosedRange<Int> { 1...16_384 }
    static var subject: ClosedRange<Int> { 1...ProviderPolicy.maximumWorkloadLength }
    static var issuer: ClosedRange<Int> { 1...1024 }
}

extension JSONObject {
    /// Rejects objects with members other than `names`.
    ///
    /// - Parameter description: the object's name in error messages.
    /// - Throws: ``Problem/requestInvalid(_:)``, which names the first unknown member.
    package func requireOnly(_ names: [JSONName], in description: StaticString) throws(Problem) {
        if hasOnly(names) { return }
        let name = Self.redactedName(firstName(notAmong: names) ?? [])
        let known = names.map(\.string).joined(separator: ", ")
        throw .requestInvalid("The \(description) has an unknown member \(name); known members: \(known).")
    }

    /// A member's name in a form that is safe to show in `detail`.
    ///
    /// The name comes from the caller. A caller that confuses names and values may send a token, a nonce or an address
    /// as a name. Names that don't look like names are replaced by their length: empty ones, those longer than 32
    /// characters, those with characters other than letters, digits and some punctuation, and those longer than 16
    /// characters that contain digits or as many capital letters as random text.
    static func redactedName(_ name: [UInt8]) -> String {
        let digits = name.count(where: \.isDigit)
        let capitals = name.count { (0x41...0x5a).contains($0) }
        let readsLikeName =
            (1...32).contains(name.count) && digits <= 4 && (name.count <= 16 || digits == 0 && capitals <= 4)
            && name.allSatisfy { $0.isLetterOrDigit || "_- ".utf8.contains($0) }
        guard readsLikeName else { return "with a name of \(name.count) bytes that is not shown" }
        return "\"\(String(decoding: name, as: UTF8.self))\""
    }
}
