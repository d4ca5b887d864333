import AccessTokens
import IDToken
import JOSE
import JSON
import SignInFixtures
import TestSupport
import Testing

/// A made-up access token in the form of a provider's, valid unless a test changes it. It was issued at 1 700 000 000.
struct SentAccessToken: Sendable, CustomTestStringConvertible {
    let preset: ProviderPreset
    var claims: ClaimsText
    var policy: ProviderPolicy
    var dialect: AccessTokenDialect
    var parameters = AccessTokenParameters()
    var now: Int64 = 1_700_000_100
    var key: TestKey
    /// Header members other than `alg` and `kid`, each after a comma.
    var headerMembers = ""

    var testDescription: String { preset.name }

    init(
        _ preset: ProviderPreset, _ arguments: PresetArguments, audiences: [String], parties: [String] = [],
        callers: ClaimRule? = nil, key: TestKey = .rsa, header: String = "", claims: String
    ) {
        self.preset = preset
        self.key = key
        self.claims = ClaimsText(json: claims)
        guard let dialect = preset.facts(arguments).accessTokens.dialect else {
            preconditionFailure("\(preset.name) has no access tokens")
        }
        self.dialect = dialect
        policy = preset.facts(arguments).ofAccessTokens(dialect).policy
        policy.id = preset.name
        policy.audiences = audiences
        if !parties.isEmpty { policy.authorizedParties = parties }
        if let callers { policy.claimRules = [callers] }
        headerMembers = header
    }

    func with(_ claim: String, _ json: String) -> SentAccessToken { change { $0.claims = claims.with(claim, json) } }
    func without(_ claim: String) -> SentAccessToken { change { $0.claims = claims.without(claim) } }
    func header(_ members: String) -> SentAccessToken { change { $0.headerMembers = members } }
    func at(_ now: Int64) -> SentAccessToken { change { $0.now = now } }
    func policy(_ body: (inout ProviderPolicy) -> Void) -> SentAccessToken { change { body(&$0.policy) } }
    func expecting(_ body: (inout AccessTokenParameters) -> Void) -> SentAccessToken {
        change { body(&$0.parameters) }
    }

    func change(_ body: (inout SentAccessToken) -> Void) -> SentAccessToken {
        var copy = self
        body(&copy)
        return copy
    }

    var token: String {
        let header = #"{"alg":"\#(key.algorithm)","kid":"\#(key.keyID)"\#(headerMembers)}"#
        return dialect.loadBalancer == nil
            ? compactJWS(header: header, payload: claims.json, signedBy: key)
            : paddedJWS(header: header, payload: claims.json, signedBy: key)
    }

    func unverified() throws(Rejection) -> UnverifiedToken {
        dialect.loadBalancer == nil ? try UnverifiedToken(token) : try UnverifiedToken(padded: Array(token.utf8)[...])
    }

    func verify() throws(Rejection) -> VerifiedAccessToken {
        let keys = try! JWKSet(jwkSet([TestKey.rsa.jwk(), TestKey.p256.jwk(), TestKey.loadBalancer.jwk()]))
        return try IDTokenVerifier().jwsVerifier.verifyAccessToken(
            unverified(), with: keys, algorithms: .all, under: policy, dialect, expecting: parameters,
            now: UnixTime(seconds: now))
    }

    var rejection: Rejection? {
        do throws(Rejection) {
            _ = try verify()
            return nil
        } catch {
            return error
        }
    }
}

extension Rejection {
    static func missing(_ claim: String) -> Rejection { .claimMissing(ClaimName(claim)) }
    static func invalid(_ claim: String) -> Rejection { .claimInvalid(ClaimName(claim)) }
}
