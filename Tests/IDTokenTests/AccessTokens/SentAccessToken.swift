import IDToken
import JOSE
import SignInFixtures
import Testing
import TestSupport
import TokenDiagnostics

/// A made-up access token in the form of a provider's, valid unless a test changes it. It was issued at 1 700 000 000.
struct SentAccessToken: SentToken, CustomTestStringConvertible {
    let preset: ProviderPreset
    var claims: ClaimsText
    var policy: ProviderPolicy
    var dialect: AccessTokenDialect
    var parameters = AccessTokenParameters()
    var now: Int64 = 1_700_000_100
    var key: TestKey
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

    func expecting(_ body: (inout AccessTokenParameters) -> Void) -> SentAccessToken {
        change { body(&$0.parameters) }
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

    /// Verifies the token and explains it. Checks that both agree, in every test.
    func verify(with keys: JWKSet) throws(Rejection) -> VerifiedAccessToken {
        let (verifier, token, now) = (try IDTokenVerifier(), try unverified(), UnixTime(seconds: now))
        let explanation = verifier.explain(
            accessToken: token, with: ExplainedKeys(set: keys), under: policy, dialect, isNamed: true, others: [],
            expecting: parameters, now: now)
        #expect(explanation.checks.map(\.name) == CheckName.ofAccessTokens)
        for check in explanation.checks { #expect(check.explanation.hasSuffix("."), "\(check.name)") }
        do throws(Rejection) {
            let verified = try verifier.jwsVerifier.verifyAccessToken(
                token, with: keys, algorithms: .all, under: policy, dialect, expecting: parameters, now: now)
            #expect(explanation.isValid && explanation.refusal == nil, "\(explanation.summary)")
            return verified
        } catch {
            #expect(!explanation.isValid && explanation.refusal == .rejected(error), "\(explanation.summary)")
            throw error
        }
    }
}
