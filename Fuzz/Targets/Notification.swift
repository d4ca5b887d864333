import IDToken
import JOSE

/// Whatever a provider may sign, an accepted notification satisfies every check, and is no ID Token.
///
/// The input is the payload, and the text of Apple's event. It is signed here, so that the checks after the signature
/// are reached.
func fuzz(_ input: [UInt8]) {
    check(input)
    var draw = Draw(from: input)
    check(draw.object(near: draw.element(of: goodClaims), values: nearlyGoodValues))
    // As Apple's event, in JSON text within a string.
    var json = JSONWriter()
    json.value(String(decoding: input, as: UTF8.self))
    let others = #"{"iss":"https://a.example","aud":"app","iat":1700000000,"jti":"1","events":"#
    check(Array(others.utf8) + json.bytes + [UInt8(ascii: "}")])
}

private func check(_ payload: [UInt8]) {
    let signed = Signer.token(header: Array(#"{"alg":"EdDSA"}"#.utf8), payload: payload)
    guard let token = try? unsafe verifier.read(signed[...]) else { return }
    for kinds in [NotificationKind.allCases, [.apple], [.logout], [.securityEvent]] {
        let rules = NotificationRules(kinds: kinds, issuers: ["https://a.example/"])
        let verified = try? unsafe verifier.jwsVerifier.verifyNotification(
            token, with: Signer.keys, algorithms: .all, under: policy, rules, now: now)
        guard let verified else { continue }
        require(kinds.contains(verified.kind), "its kind is listed")
        require(
            (try? token.checkClaims(ofNotificationUnder: policy, rules, now: now)) != nil,
            "\(shown(payload)) would be worth a fetch of keys")
        guard let claims = try? JSONObject(payload) else { return require(false, "the payload is an object") }
        check(verified, claims)
        let idToken = try? unsafe verifier.verify(
            token, with: Signer.keys, under: policy, expecting: VerificationParameters(), now: now)
        require(idToken == nil, "\(shown(payload)) is no ID Token too")
    }
}

private func check(_ verified: VerifiedNotification, _ claims: JSONObject) {
    require(verified.issuer == policy.issuer, "the issuer is the provider's own")
    require(claims["jti"]?.string == verified.id && !verified.id.isEmpty, "the id is the token's")
    require(verified.issuedAt.seconds <= now.seconds + policy.clockSkewSeconds, "it was not issued in the future")
    require(verified.issuedAt.seconds >= now.seconds - 7 * 86_400 - policy.clockSkewSeconds, "nor too long ago")
    require((1...16).contains(verified.events.count), "there are 1 to 16 events")
    require(verified.kind == .apple || claims["nonce"] == nil, "it has no nonce")
    require(verified.kind != .logout || claims["exp"] != nil, "a logout token expires")
    for event in verified.events {
        require((try? JSONObject(event.data)) != nil, "the data is an object")
        switch verified.kind {
        case .apple: require(event.subject != nil, "Apple names somebody")
        case .logout: require(event.subject != nil || event.sessionID != nil, "a logout is of somebody")
        case .securityEvent: break
        }
        require(event.type != .other || verified.kind != .logout, "a logout is nothing else")
    }
}

private let policy = {
    var policy = ProviderPolicy(id: "fuzz", issuer: "https://a.example", audiences: ["app", "web"])
    policy.issuerAliases = ["a.example"]
    policy.algorithms = [.edDSA]
    return policy
}()
private let now = UnixTime(seconds: 1_700_000_000)

private let logout = #"{"http://schemas.openid.net/event/backchannel-logout":{}}"#
private let revoked = #"{"https://schemas.openid.net/secevent/caep/event-type/session-revoked":{"event_timestamp":1}}"#

private let goodClaims: [KeyValuePairs<String, String>] = [
    [
        "iss": #""https://a.example""#, "aud": #""app""#, "iat": "1700000000", "jti": #""1""#,
        "events": #""{\"type\":\"consent-revoked\",\"sub\":\"1\",\"event_time\":1700000000000}""#,
    ],
    [
        "iss": #""a.example""#, "aud": #"["app"]"#, "iat": "1700000000", "exp": "1700000600", "jti": #""1""#,
        "sub": #""1""#, "sid": #""s""#, "events": logout,
    ],
    [
        "iss": #""https://a.example/""#, "aud": #"["app","x"]"#, "iat": "1700000000", "jti": #""1""#,
        "sub_id": #"{"format":"iss_sub","iss":"a.example","sub":"1"}"#, "events": revoked,
    ],
]
private let nearlyGoodValues: [String] = [
    #""https://a.example""#, #""https://a.example/""#, #""app""#, #"["x"]"#, "1700000060", "1700000061",
    "1699395140", "1699395139", logout, revoked, #"{"type":"email-disabled","sub":"1","is_private_email":"true"}"#,
    #"[{"type":"a","sub":"b"}]"#, #"[{"type":"a","sub":"b"},{"type":"a","sub":"b"}]"#, #"{"https://e.example":{}}"#,
    #"{"format":"complex","user":{"format":"iss_sub","sub":"1"},"session":{"id":"s"}}"#,
    #"{"format":"email","email":"a@b.example"}"#, #"{"subject_type":"iss-sub","iss":"x","sub":"1"}"#,
]

// Used by one thread only.
nonisolated(unsafe) private let verifier = constant { try IDTokenVerifier() }
