import IDToken
import JOSE
import Testing
import TestSupport

/// Tokens signed by Apple and Google, verified one second after they were issued.
@Suite struct RealTokens {
    /// Why a token is rejected, or its identity.
    private func verify(
        _ token: String, _ keys: [UInt8], _ policy: ProviderPolicy, at now: Int64,
        expecting: VerificationParameters = .init()
    ) throws -> Result<VerifiedIDToken, Rejection> {
        let set = try JWKSet(keys)
        let verifier = try IDTokenVerifier()
        return Result { () throws(Rejection) in
            try verifier.verify(
                verifier.read(Array(token.utf8)[...]), with: set, under: policy, expecting: expecting,
                now: UnixTime(seconds: now))
        }
    }

    private func rejection(_ result: Result<VerifiedIDToken, Rejection>) -> Rejection? {
        if case .failure(let rejection) = result { rejection } else { nil }
    }

    private func applePolicy(_ audience: String) -> ProviderPolicy {
        ProviderPreset.apple.policy(id: "apple", issuer: "https://appleid.apple.com", audiences: [audience])
    }

    private let appleKeys = try! Vectors.octets("real/apple/jwks_2021.json")
    private let appleFile = try! Vectors.json("real/apple/tokens_2021.json")

    @Test func `Apple's token with a private address`() throws {
        let token = try appleFile.list("tokens")[0]
        let verified = try verify(
            token.text("jwt"), appleKeys, applePolicy("com.gameroasters.stack4"), at: token.number("verify_at")
        ).get()
        let identity = verified.identity
        #expect(identity.provider == "apple")
        #expect(identity.issuer == "https://appleid.apple.com")
        #expect(identity.subject == "001026.16112b36378440d995af22b268f00984.1744")
        #expect(identity.email == "zdfu7jtuus@privaterelay.appleid.com")
        #expect(identity.isEmailVerified == true)
        #expect(identity.emailTrust == .authoritative)
        #expect(identity.isPrivateEmail == true)
        #expect(identity.nameSource == nil && identity.realUserStatus == nil)
        #expect(verified.audiences == ["com.gameroasters.stack4"])
        #expect(verified.keyID == "YuyXoY")
        #expect(verified.algorithm == .rs256)
        #expect(verified.issuedAt.seconds == 1_614_431_194)
        #expect(verified.expiresAt.seconds == 1_614_517_594)
        #expect(verified.authTime?.seconds == 1_614_431_194)
        #expect(verified.nonceMatch == nil)
    }

    @Test func `Apple's token without an address`() throws {
        let token = try appleFile.list("tokens")[1]
        let verified = try verify(
            token.text("jwt"), appleKeys, applePolicy("com.gameroasters.stack4"), at: token.number("verify_at")
        ).get()
        #expect(verified.identity.subject == "001026.16112b36378440d995af22b268f00984.1744")
        #expect(verified.identity.email == nil && verified.identity.emailTrust == nil)
        #expect(verified.identity.isEmailVerified == nil && verified.identity.isPrivateEmail == nil)
        #expect(verified.keyID == "eXaunmL")
    }

    @Test func `Apple's notification is no ID Token, for all its good signature`() throws {
        let token = try appleFile.list("tokens")[2]
        let jwt = try token.text("jwt")
        #expect(
            try rejection(verify(jwt, appleKeys, applePolicy("com.gameroasters.stack4"), at: token.number("verify_at")))
                == .claimMissing(ClaimName("sub")))
        #expect(try refusal(jwt, JSONTree(readingObject: appleKeys).list("keys")) == nil)
    }

    @Test(arguments: [0, 1])
    func `the nearest misses of Apple's tokens`(index: Int) throws {
        let token = try appleFile.list("tokens")[index]
        let (jwt, now) = try (token.text("jwt"), token.number("verify_at"))
        let policy = applePolicy("com.gameroasters.stack4")
        func rejection(_ jwt: String, _ policy: ProviderPolicy, at now: Int64, nonce: String? = nil) throws
            -> Rejection?
        {
            var parameters = VerificationParameters()
            parameters.nonce = nonce
            return try self.rejection(verify(jwt, appleKeys, policy, at: now, expecting: parameters))
        }
        #expect(try rejection(jwt, policy, at: now + 86_400 + 58) == nil)
        #expect(try rejection(jwt, policy, at: now + 86_400 + 59) == .tokenExpired)
        #expect(try rejection(jwt, policy, at: now - 61) == nil)
        #expect(try rejection(jwt, policy, at: now - 62) == .tokenNotYetValid)
        #expect(try rejection(jwt, applePolicy("com.gameroasters.stack"), at: now) == .audienceMismatch)
        #expect(try rejection(jwt, policy, at: now, nonce: "n") == .nonceMissing)
        var parts = jwt.split(separator: ".").map { Array($0.utf8) }
        parts[2][20] = parts[2][20] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        let changed = parts.map { text($0) }.joined(separator: ".")
        #expect(try rejection(changed, policy, at: now) == .signatureInvalid)
        // Apple's keys three years later.
        let later = try Vectors.json("real/rotation/apple.json").list("snapshots")[0].member("jwks").list("keys")
        #expect(try self.rejection(verify(jwt, jwkSet(later), policy, at: now)) == .keyNotFound)
    }

    @Test func `Firebase's token of an anonymous user`() throws {
        let file = try Vectors.json("real/firebase/token.json")
        let token = try file.list("tokens")[0]
        let policy = try ProviderPreset.oidc.policy(
            id: "firebase", issuer: file.text("issuer"), audiences: [file.text("audience")])
        let keys = try Vectors.octets("real/firebase/jwks.json")
        let verified = try verify(token.text("jwt"), keys, policy, at: token.number("verify_at")).get()
        #expect(verified.identity.subject == "y8wiKThXGKM88xxrQWDZzKnBuqv2")
        #expect(verified.identity.issuer == "https://securetoken.google.com/vzsg-schedule-test")
        #expect(verified.identity.email == nil)
        #expect(verified.authTime?.seconds == 1_596_238_982)
        #expect(verified.keyID == "554a754778587c94c1673e8ea244616c0c043cbc")
    }

    @Test func `an iat that is a string is refused, good signature or not`() throws {
        let file = try Vectors.json("synthetic/apple_like_string_iat.json")
        let keys = try file.member("jwks").list("keys")
        let tokens = try file.list("tokens")
        #expect(tokens.count == 2)
        for token in tokens {
            let jwt = try token.text("jwt")
            #expect(try refusal(jwt, keys) == nil)
            let policy = applePolicy("com.martincostello.signinwithapple.test.client")
            #expect(
                try rejection(verify(jwt, jwkSet(keys), policy, at: 1_587_211_560)) == .claimInvalid(ClaimName("iat")))
        }
    }
}
