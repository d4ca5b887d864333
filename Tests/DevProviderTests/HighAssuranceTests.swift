@testable import DevProvider
import IDToken
import JOSE
import OpenSSL
import Testing

/// Proofs that a provider demands, and tokens that it encrypts.
@Suite struct HighAssuranceTests {
    private static func form(_ code: String) throws -> FormParameters {
        try Emulated.form([
            "grant_type": "authorization_code", "code": code, "client_id": "client", "client_secret": "s",
        ])
    }

    private static func code(_ provider: inout EmulatedProvider) throws -> String {
        try provider.nativeCode(Emulated.kim, clientID: "client", nonce: "n", now: Emulated.now)
    }

    private static func proof(
        _ signer: ProofSigner, _ provider: EmulatedProvider, _ method: String = "POST", _ path: String = "/token",
        token: String? = nil, nonce: String? = nil
    ) throws -> String {
        try signer.proof(
            method: method, url: provider.base + path, accessToken: token, nonce: nonce, now: Emulated.now)
    }

    private static func signer() throws -> ProofSigner {
        try ProofSigner(try SigningKey(generating: .ellipticCurve(.p256)))
    }

    @Test func `the token endpoint demands a proof, and uses no code up without it`() throws {
        var provider = try Emulated.provider(.oidc, .post, mustProve: true)
        let form = try Self.form(try Self.code(&provider))
        let signer = try Self.signer()
        #expect(throws: DevOAuthError.invalidProof) { try provider.grant(form, authorization: nil, now: Emulated.now) }
        let elsewhere = try Self.proof(signer, provider, "POST", "/revoke")
        #expect(throws: DevOAuthError.invalidProof) {
            try provider.grant(form, authorization: nil, proof: elsewhere, now: Emulated.now)
        }
        let proof = try Self.proof(signer, provider)
        let tokens = try #require(
            try provider.grant(form, authorization: nil, proof: proof, now: Emulated.now).object)
        #expect(tokens["token_type"] == .string("DPoP"))
    }

    @Test func `a bound token is worth nothing without its key`() throws {
        var provider = try Emulated.provider(.oidc, .post)
        let signer = try Self.signer()
        let form = try Self.form(try Self.code(&provider))
        let tokens = try provider.grant(
            form, authorization: nil, proof: try Self.proof(signer, provider), now: Emulated.now)
        let token = try #require(tokens.object?["access_token"]?.string)
        func claims(_ scheme: String, _ proof: String?) throws -> JSONTree? {
            try provider.userInfo(.init(authorization: "\(scheme) \(token)", proof: proof), now: Emulated.now)
        }
        let right = try Self.proof(signer, provider, "GET", "/userinfo", token: token)
        #expect(try claims("DPoP", right)?.object?["sub"] != nil)
        let others = [
            nil, try Self.proof(signer, provider, "GET", "/userinfo"),
            try Self.proof(signer, provider, "POST", "/userinfo", token: token),
            try Self.proof(signer, provider, "GET", "/userinfo", token: token + "x"),
            try Self.proof(Self.signer(), provider, "GET", "/userinfo", token: token),
        ]
        for proof in others { #expect(throws: DevOAuthError.invalidProof) { try claims("DPoP", proof) } }
        #expect(throws: DevOAuthError.invalidProof) { try claims("Bearer", right) }
    }

    @Test func `the code is for the key that the request announced`() throws {
        var provider = try Emulated.provider(.oidc, .post, redirectURIs: ["https://app.example/cb"])
        let (signer, other) = (try Self.signer(), try Self.signer())
        let cases: [(ProofSigner, DevOAuthError?)] = [(signer, nil), (other, .invalidGrant)]
        for (proven, error) in cases {
            let query = try Emulated.form([
                "client_id": "client", "redirect_uri": "https://app.example/cb", "response_type": "code",
                "scope": "openid", "dpop_jkt": signer.thumbprint,
            ])
            let answer = try provider.respond(
                to: AuthorizationRequest(query, to: provider), .signIn(Emulated.kim), now: Emulated.now)
            let code = try #require(answer.parameters.first { $0.name == "code" }).value
            let form = try Emulated.form([
                "grant_type": "authorization_code", "code": code, "client_id": "client", "client_secret": "s",
                "redirect_uri": "https://app.example/cb",
            ])
            let proof = try Self.proof(proven, provider)
            var found: DevOAuthError?
            do {
                _ = try provider.grant(form, authorization: nil, proof: proof, now: Emulated.now)
            } catch let refusal as DevOAuthError {
                found = refusal
            }
            #expect(found == error)
        }
    }

    @Test func `a nonce is demanded if that is switched on, and lives for a minute or two`() throws {
        var provider = try Emulated.provider(.oidc, .post)
        provider.faults.set(.proofNonces, on: true, seconds: nil)
        let signer = try Self.signer()
        func error(_ nonce: String?) throws -> DevOAuthError? {
            let form = try Self.form(try Self.code(&provider))
            do {
                let proof = try Self.proof(signer, provider, nonce: nonce)
                _ = try provider.grant(form, authorization: nil, proof: proof, now: Emulated.now)
                return nil
            } catch let error as DevOAuthError {
                return error
            }
        }
        #expect(try error(nil) == .proofNonceNeeded)
        #expect(try error("other") == .proofNonceNeeded)
        #expect(try error(provider.proofNonce(at: Emulated.now)) == nil)
        #expect(try error(provider.proofNonce(at: Emulated.now - 60)) == nil)
        #expect(try error(provider.proofNonce(at: Emulated.now - 120)) == .proofNonceNeeded)
    }

    @Test func `tokens are encrypted to the relying party's key`() throws {
        let key = try #require(
            EncryptionKey(id: "enc", try DecryptionKey(generating: .agreement(.p256)), [.ecdhESA256KW]))
        let encrypter = try #require(JWEEncrypter(to: key, .ecdhESA256KW, .a256GCM))
        var provider = try Emulated.provider(
            .oidc, .post, encryption: DevEncryption([.idToken, .userInfo, .notification], encrypter))
        func claims(_ token: String) throws -> [String: JSONTree] {
            let jwe = try CompactJWE(Array(token.utf8)[...])
            let decrypter = JWEDecrypter([key], algorithms: [.ecdhESA256KW], content: [.a256GCM])
            return try Emulated.claims(String(decoding: try decrypter.decrypt(jwe), as: UTF8.self))
        }
        let form = try Self.form(try Self.code(&provider))
        let tokens = try #require(try provider.grant(form, authorization: nil, now: Emulated.now).object)
        let subject = JSONTree.string(try provider.subject(of: Emulated.kim))
        #expect(try claims(try #require(tokens["id_token"]?.string))["sub"] == subject)
        let accessToken = try #require(tokens["access_token"]?.string)
        let information = try provider.signedUserInfo(
            .init(authorization: "Bearer \(accessToken)"), now: Emulated.now)
        #expect(try claims(try #require(information))["sub"] == subject)
        let notification = try provider.notification(
            "logout", about: Emulated.kim, clientID: nil, overriding: [:], id: "1", now: Emulated.now)
        #expect(try claims(notification.token)["sub"] == subject)
        let document = try #require(provider.discoveryDocument(ofTenant: nil).object)
        #expect(document["id_token_encryption_alg_values_supported"] == .array([.string("ECDH-ES+A256KW")]))
        #expect(document["userinfo_encryption_enc_values_supported"] == .array([.string("A256GCM")]))
        #expect(document["authorization_encryption_alg_values_supported"] == nil)
        // What is not named is signed alone.
        #expect(try provider.sealed("a.b.c", as: .response) == "a.b.c")
    }
}
