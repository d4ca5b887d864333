import IDToken
import JOSE

/// The cases of the service's `Problem` that `VerifyRequest` throws, to avoid a dependency on the HTTP library.
package enum Problem: Error {
    case requestInvalid(String)
    case audienceNotConfigured
}

/// An accepted request has the values that jansson reads, within the limits, and has no unknown members.
func fuzz(_ input: [UInt8]) {
    check(input)
    var draw = Draw(from: input)
    let name = draw.object(near: ["firstName": #""a""#, "lastName": #""b""#])
    let user = draw.object(near: ["name": String(decoding: name, as: UTF8.self), "email": #""a""#])
    check(
        draw.object(near: [
            "id_token": #""e30.e30.""#, "provider": #""a""#, "nonce": #""a""#, "audience": #""a""#, "max_age": "1",
            "access_token": #""a""#, "code": #""a""#, "user": String(decoding: user, as: UTF8.self),
            "include_claims": "true",
        ]))
}

private func check(_ input: [UInt8]) {
    guard let object = try? JSONObject(input, allowsNUL: true) else { return }
    let request: VerifyRequest
    do throws(Problem) {
        request = try VerifyRequest(object)
    } catch {
        switch error {
        case .requestInvalid(let detail):
            return require(detail.hasSuffix("."), "\(shown(input)) is refused with a sentence")
        case .audienceNotConfigured: return require(false, "\(shown(input)) is compared with settings while it is read")
        }
    }
    _ = try? unsafe verifier.read(request.idToken)
    let parameters = request.parameters
    require(parameters.maximumAuthenticationAgeSeconds ?? 0 >= 0, "max_age of \(shown(input)) is no time to come")
    check(parameters.nonce, "nonce", 512)
    check(parameters.audience, "audience", 1024)
    check(parameters.accessToken, "access_token", 16_384)
    check(parameters.code, "code", 16_384)
    check(request.provider, "provider", 255)
    check(parameters.clientName?.givenName, "firstName", 255)
    check(parameters.clientName?.familyName, "lastName", 255)
    // Jansson rejects texts with U+0000.
    if let members = JSONTree.reading(input) { compare(request, members, input) }
}

// Used by one thread only.
nonisolated(unsafe) private let verifier = constant { try IDTokenVerifier() }

private func check(_ text: String?, _ name: String, _ most: Int) {
    guard let text else { return }
    require((1...most).contains(text.unicodeScalars.count), "\(name) is not empty and not too long")
}

private func compare(_ request: VerifyRequest, _ members: [String: JSONTree], _ input: [UInt8]) {
    require(members["nonce"] != .null, "\(shown(input)) has no nonce that is null")
    let members = present(members)
    let parameters = request.parameters
    require(members.keys.allSatisfy(names.contains), "\(shown(input)) has known members only")
    require(request.idToken.elementsEqual((members["id_token"]?.string ?? "").utf8), "id_token of \(shown(input))")
    require(same(request.provider, members["provider"]), "provider of \(shown(input))")
    require(same(parameters.nonce, members["nonce"]), "nonce of \(shown(input))")
    require(same(parameters.audience, members["audience"]), "audience of \(shown(input))")
    require(same(parameters.accessToken, members["access_token"]), "access_token of \(shown(input))")
    require(same(parameters.code, members["code"]), "code of \(shown(input))")
    require(parameters.maximumAuthenticationAgeSeconds == members["max_age"]?.integer, "max_age of \(shown(input))")
    require((members["include_claims"]?.bool ?? false) == (request.extras?.includesClaims == true), "include_claims of \(shown(input))")
    let name = present(members["user"]?.object?["name"]?.object ?? [:])
    require(same(parameters.clientName?.givenName, nonEmpty(name["firstName"])), "firstName of \(shown(input))")
    require(same(parameters.clientName?.familyName, nonEmpty(name["lastName"])), "lastName of \(shown(input))")
    require((parameters.clientName == nil) == (members["user"] == nil), "user of \(shown(input))")
}

private let names: Set = [
    "id_token", "provider", "nonce", "audience", "max_age", "access_token", "code", "user", "include_claims",
]

/// The members that are not `null`, which means absent.
private func present(_ members: [String: JSONTree]) -> [String: JSONTree] { members.filter { $0.value != .null } }

/// Whether a member was read correctly: as the same string, or as `nil` if it is absent. Any other type is rejected.
private func same(_ text: String?, _ member: JSONTree?) -> Bool {
    guard let text, let string = member?.string else { return text == nil && member == nil }
    return text.utf8.elementsEqual(string.utf8)
}

private func nonEmpty(_ member: JSONTree?) -> JSONTree? { member == .string("") ? nil : member }
