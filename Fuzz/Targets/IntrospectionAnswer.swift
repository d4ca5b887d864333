import IDToken
import JOSE
import OAuth

/// A token is active only if the text, as jansson reads it, is one JSON object that says so, with members of their types.
/// The checks after that end with a token or a rejection, whatever the members are.
func fuzz(_ input: [UInt8]) {
    checkPlain(input)
    var draw = Draw(from: input)
    checkPlain(draw.object(near: good, values: nearlyGoodValues))
    checkStatuses(input)
    let answer = EndpointAnswer(200, input, EndpointAnswer.signedIntrospection)
    guard case .signed(let text)? = try? answer.introspection(mustBeSigned: true) else {
        return require(false, "the media type says that it is signed")
    }
    require(text == input, "a signed response is passed on as it is")
}

private let good: KeyValuePairs = [
    "active": "true", "iss": #""https://a.example""#, "sub": #""1""#, "aud": #"["api","web"]"#, "client_id": #""app""#,
    "scope": #""a b""#, "exp": "1700000600", "iat": "1700000000", "nbf": "1699999000", "token_type": #""Bearer""#,
    "jti": #""1""#, "email": #""kim@a.example""#, "roles": #"["clerk"]"#,
]
/// Values that are valid for some member, or almost.
private let nearlyGoodValues = [
    #""api""#, #"["api"]"#, #""https://b.example""#, "1699999941", "1699999940", "1700000060", "1700000061", #""DPoP""#,
    #"{"jkt":"a"}"#, #"{"jkt":1}"#, #"["a","b"]"#,
]

private let now = UnixTime(seconds: 1_700_000_000)
nonisolated(unsafe) private let verifier = constant { try JWSVerifier() }

extension EndpointAnswer {
    fileprivate init(_ status: UInt, _ body: [UInt8], _ contentType: String) {
        self.init(status: status, retryAfter: nil, hasContentCoding: false, contentType: contentType, body: body)
    }
}

private func checkPlain(_ input: [UInt8]) {
    let members = JSONTree.reading(input)
    let answer = EndpointAnswer(200, input, "application/json")
    do throws(CallFailure) {
        guard case .plain(let said) = try answer.introspection(mustBeSigned: false) else {
            return require(false, "\(shown(input)) is not signed")
        }
        guard let members else { return require(false, "\(shown(input)) is one JSON object") }
        require([nil, .null, .string("")].contains(members["error"]), "\(shown(input)) is no error")
        switch said {
        case .inactive: require(members["active"] == .bool(false), "\(shown(input)) is not active")
        case .active(let token):
            require(members["active"] == .bool(true), "\(shown(input)) is active")
            require(token.size == input.count, "the size of \(shown(input))")
            for name in ["iss", "sub", "client_id", "token_type"] {
                let value = members[name] ?? .null
                require(value == .null || value.string != nil, "\(name) of \(shown(input)) is a text")
            }
            check(token)
        }
    } catch {
        switch error {
        case .clientRejected(let name), .refused(let name):
            let found = members?["error"]?.string ?? ""
            require(name.rawValue == found || name == .other, "\(shown(input)) has the error \(name)")
        case .answerInvalid: break
        case .grantInvalid, .notSent, .unavailable: require(false, "\(shown(input)) came with status 200")
        }
    }
    require(
        (try? answer.introspection(mustBeSigned: true)) == nil, "\(shown(input)) is not signed, and must be")
}

/// A status other than 200 never makes a token active.
private func checkStatuses(_ input: [UInt8]) {
    for status: UInt in [201, 302, 400, 401, 404, 429, 500] {
        let answer = EndpointAnswer(status, input, "application/json")
        require((try? answer.introspection(mustBeSigned: false)) == nil, "\(status) with \(shown(input)) is no answer")
    }
}

private func check(_ token: ActiveToken) {
    let policy = ProviderPreset.oidc.policy(id: "p", issuer: "https://a.example", audiences: ["api"])
    let checked = try? unsafe verifier.checkOpaqueToken(
        Array("token".utf8)[...], saidToHave: token.introspected, under: policy, .opaque(AuthorizationClaims()),
        expecting: AccessTokenParameters(), now: now)
    guard let (checked, binding) = checked else { return }
    require(checked.audiences.contains("api"), "the token is for us")
    require(checked.expiresAt.map { now < $0.advanced(bySeconds: policy.clockSkewSeconds) } ?? true, "in its time")
    require(binding == nil, "nothing was proven")
}
