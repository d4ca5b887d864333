import IDToken
import JOSE

/// Whatever a provider may sign, an accepted token satisfies every check, and its identity agrees with its claims.
///
/// The input is the payload. It is signed here, so that the checks after the signature are reached.
func fuzz(_ input: [UInt8]) {
    check(input)
    var draw = Draw(from: input)
    check(draw.object(near: goodClaims, values: nearlyGoodValues))
}

private func check(_ input: [UInt8]) {
    let signed = Signer.token(header: Array(#"{"alg":"EdDSA"}"#.utf8), payload: input)
    guard let token = try? unsafe verifier.read(signed[...]) else { return }
    for parameters in signIns {
        let verified = try? unsafe verifier.verify(
            token, with: Signer.keys, under: policy, expecting: parameters, now: now)
        guard let verified else { continue }
        guard let claims = JSONTree.reading(input) else {
            return require(false, "\(shown(input)) is a claims set to jansson too")
        }
        require(token.wouldPassClaims(of: policy, now: now), "\(shown(input)) would be worth a fetch of keys")
        require(verified.claimsText.elementsEqual(input), "the claims are those that were signed")
        checkClaims(verified, claims, parameters)
        checkIdentity(verified.identity, claims)
    }
}

private func checkClaims(
    _ verified: VerifiedIDToken, _ claims: [String: JSONTree], _ parameters: VerificationParameters
) {
    require(text(claims["iss"]).map(policy.isIssuer) == true, "the issuer is the provider")
    let audiences = claims["aud"]?.array ?? [claims["aud"] ?? .null]
    require(audiences.contains { policy.audiences.contains(exactly: text($0)) }, "one audience is ours")
    require(audiences.map(text).elementsEqual(verified.audiences, by: same), "the audiences are those of the token")
    let knownToUs = policy.audiences + policy.trustedAudiences
    let isForUsAlone = audiences.allSatisfy { knownToUs.contains(exactly: text($0)) }
    let ours = policy.audiences + policy.authorizedParties
    require(isForUsAlone || ours.contains(exactly: verified.authorizedParty), "it is for no stranger but by our leave")
    let party = verified.authorizedParty
    require(party == nil || policy.authorizedParties.contains(exactly: party), "its party is an authorized one")

    let (earliest, latest) = (now.seconds - policy.clockSkewSeconds, now.seconds + policy.clockSkewSeconds)
    require(verified.expiresAt.seconds > earliest, "it has not expired")
    require(verified.issuedAt.seconds <= latest, "it was not issued in the future")
    require(verified.notBefore.map { $0.seconds <= latest } != false, "it is valid already")
    require(verified.issuedAt.seconds >= earliest - (policy.maximumTokenAgeSeconds ?? .max), "it is not too old")
    if let maximumAge = parameters.maximumAuthenticationAgeSeconds {
        let authenticatedAt = (verified.authTime ?? verified.issuedAt).seconds
        require(authenticatedAt <= latest, "the user did not authenticate in the future")
        require(authenticatedAt >= earliest - maximumAge, "nor too long ago")
    }
    require(claims["events"] == nil, "it is no security event")
    require(policy.requiredClaims.allSatisfy { claims[$0.string] != nil }, "it has every claim that is required")
    let jti = claims["jti"]
    let isAllowed = jti == .string("1") || jti == .integer(1) || jti == .string("true") || jti == .bool(true)
    require(isAllowed, "a claim has a value that it must have")
    let status = claims["o"]?.object?["sts"]
    require(status != .string("pending") && status != .bool(true), "and none that it must not")
    require((claims["nonce"] == nil) == (parameters.nonce == nil), "a nonce is in both or in neither")
    require((verified.nonceMatch == nil) == (parameters.nonce == nil), "a nonce that was sent has matched")
    let isPlain = same(text(claims["nonce"]), parameters.nonce)
    require(verified.nonceMatch != .plain || isPlain, "the nonce is the one that was sent")
    require(parameters.accessToken == nil || text(claims["at_hash"]) == accessTokenHash, "at_hash is the token's")
    require(parameters.code == nil || text(claims["c_hash"]) == codeHash, "c_hash is the code's")
}

private func checkIdentity(_ identity: Identity, _ claims: [String: JSONTree]) {
    require(identity.provider == policy.id && identity.issuer == policy.issuer, "the identity is this provider's")
    require((1...255).contains(identity.subject.unicodeScalars.count), "a subject has 1 to 255 characters")
    require(same(identity.subject, text(claims["sub"])), "the subject is the token's")
    require(identity.email == nil || same(identity.email, text(claims["email"])), "the address is the token's")
    let isVerified = identity.email != nil && isTrue(claims["email_verified"])
    require((identity.emailTrust == nil) == (identity.email == nil), "only an address is worth something")
    require(isVerified || identity.emailTrust ?? .unverified == .unverified, "only a verified address is worth more")
    let parts = identity.email?.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false) ?? []
    require(identity.email == nil || parts.count == 2, "an address has one @")
    let domain = lowercased(parts.dropFirst().last ?? "".utf8[...])
    let known = policy.email.authoritativeDomains + [identity.hostedDomain].compactMap { $0 }
    let isKnown = known.contains { lowercased($0.utf8) == domain } && !domain.isEmpty
    require(
        (identity.emailTrust == .authoritative) == (isVerified && isKnown),
        "just the verified addresses in domains that the provider runs are authoritative")
    let names = [identity.name, identity.givenName, identity.familyName]
    require((identity.nameSource == nil) == names.allSatisfy { $0 == nil }, "names have a source")
    if identity.nameSource == .client {
        let claimed = ["name", "given_name", "family_name"].map { text(claims[$0]) }
        require(claimed.allSatisfy { $0 == nil }, "the app names nobody whom the token names")
    }
}

// Enables everything that a policy can require, so that every check can fail.
private let policy = {
    var policy = ProviderPolicy(id: "fuzz", issuer: "https://a.example", audiences: ["app", "web"])
    policy.issuerAliases = ["a.example"]
    policy.trustedAudiences = ["api"]
    policy.authorizedParties = ["app", "backend"]
    policy.algorithms = [.edDSA]
    policy.nonce.accepted = NonceMatch.allCases
    policy.maximumTokenAgeSeconds = 86_400
    policy.requiredClaims = [ClaimName("jti")]
    policy.claimRules = [
        ClaimRule(ClaimPath("jti"), .oneOf, ["1", "true"]), ClaimRule(ClaimPath("/o/sts"), .noneOf, ["pending", "true"]),
    ]
    policy.email.privateDomains = ["relay.example"]
    policy.email.authoritativeDomains = ["a.example"]
    policy.email.trustsHostedDomain = true
    policy.reportsRealUserStatus = true
    return policy
}()
private let now = UnixTime(seconds: 1_700_000_000)

private let goodClaims: KeyValuePairs = [
    "iss": #""https://a.example""#, "sub": #""1""#, "aud": #"["app","web"]"#, "azp": #""app""#, "exp": "1700000600",
    "iat": "1700000000", "nbf": "1699999000", "auth_time": "1699999000", "jti": #""1""#, "nonce": #""n-0S6_WzA2Mj""#,
    "at_hash": #""\#(accessTokenHash)""#, "c_hash": #""\#(codeHash)""#, "email": #""kim@a.example""#,
    "email_verified": "true", "o": #"{"sts":"active"}"#, "hd": #""b.example""#, "name": #""Kim""#, "given_name": #""Kim""#, "family_name": #""B""#,
]
/// Values that are valid for some claim, or almost.
private let nearlyGoodValues = [
    #""a.example""#, #""app""#, #"["app"]"#, #"["app","api"]"#, #"["app","someone"]"#, #"["someone","web"]"#,
    #""backend""#, #""someone""#, "1699999940", "1699999939", "1700000060", "1700000061", "1.70000006E9", "1699913540",
    "1699913539",
    #""kim@b.example""#, #""kim@b.example@A.example""#, #""kim@a.example@b.example""#, #""kim@relay.example""#,
    #""kim""#, #""\#(accessTokenHash)A""#, #""false""#, "1", #"{"sts":"pending"}"#, #"{"sts":true}"#, #"{"sts":[]}"#,
]

private let signIns: [VerificationParameters] = {
    var withNonce = VerificationParameters()
    withNonce.nonce = "n-0S6_WzA2Mj"
    withNonce.clientName = ClientName(givenName: "Kim", familyName: nil)
    var withAll = withNonce
    withAll.audience = "web"
    withAll.maximumAuthenticationAgeSeconds = 3600
    withAll.accessToken = "SlAV32hkKG"
    withAll.code = "SplxlOBeZQQYbYS6WxSbIA"
    return [VerificationParameters(), withNonce, withAll]
}()

/// The left half of the SHA-512 of each, in base64url.
private let accessTokenHash = "z0cYnONBc9TdhgRUdlJ3DO6ArL2M-v_70iPj9lnAlnQ"
private let codeHash = "php9CHa4VMkYVLy29EudTMn2qR0zfkdNC24tIP3VP8Y"

// Used by one thread only.
nonisolated(unsafe) private let verifier = constant { try IDTokenVerifier() }

private func text(_ value: JSONTree?) -> String? { value?.string }

private func same(_ left: String?, _ right: String?) -> Bool {
    if let left, let right { left.utf8.elementsEqual(right.utf8) } else { left == nil && right == nil }
}

private func isTrue(_ value: JSONTree?) -> Bool {
    value == .bool(true) || value == .string("true") || value == .integer(1)
}

private func lowercased(_ text: some Sequence<UInt8>) -> [UInt8] {
    text.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
}

extension [String] {
    fileprivate func contains(exactly text: String?) -> Bool { text != nil && contains { same($0, text) } }
}
