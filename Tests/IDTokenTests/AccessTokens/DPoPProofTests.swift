import IDToken
import JOSE
import OpenSSL
import SignInFixtures
import Testing
import TestSupport

/// A DPoP proof that a test changes, and the request and token that it came with.
private struct SentProof {
    var key = TestKey.p256
    /// The key that signs, if it is not the one in the header.
    var signer: TestKey?
    /// That the token is bound to.
    var boundTo: TestKey?
    var type = #""dpop+jwt""#
    var algorithm: String?
    var jwk: [String: JSONTree?] = [:]
    var otherHeader = ""
    var claims = ClaimsText([
        "jti": #""a1""#, "htm": #""GET""#, "htu": #""https://api.example/orders""#, "iat": "1700000100",
    ])
    var hash: String?
    var scheme = "DPoP"
    var method = "GET"
    var url = "https://api.example/orders?page=2#top"
    var rules = ProofRules()
    var use = ProofUse()
    var checksNonceAge = true
    var token = SentAccessToken.rfc9068

    static func thumbprint(_ key: TestKey) -> String {
        (try? JWKSet(jwkSet([key.jwk()])))?.keys.first?.thumbprint ?? ""
    }

    func change(_ body: (inout SentProof) -> Void) -> SentProof {
        var copy = self
        body(&copy)
        return copy
    }

    func with(_ claim: String, _ json: String) -> SentProof { change { $0.claims = $0.claims.with(claim, json) } }

    var text: String {
        let ath = hash ?? (try? DigestContext().digest(boundToken.token.utf8.span, with: .sha256)).map { base64URL($0) }
        let header =
            #"{"typ":\#(type),"alg":"\#(algorithm ?? key.algorithm)","jwk":\#(json(key.jwk(jwk)))\#(otherHeader)}"#
        let payload = claims.with("ath", "\"\(ath ?? "")\"").json
        return compactJWS(header: header, payload: payload, signedBy: signer ?? key)
    }

    var boundToken: SentAccessToken {
        token.with("cnf", #"{"jkt":"\#(Self.thumbprint(boundTo ?? key))"}"#)
    }

    /// A token sent with this proof.
    func sent(_ text: String? = nil) -> SentAccessToken {
        boundToken.expecting {
            guard let target = TargetURI(url) else { return }
            $0.evidence.proof = PresentedProof(
                Array((text ?? self.text).utf8)[...], method: method, target: target, scheme: scheme, by: checks,
                for: use)
        }
    }

    private var checks: ProofChecks {
        var checks = ProofChecks(rules, Self.nonces())
        checks.checksNonceAge = checksNonceAge
        return checks
    }

    /// - Parameter octets: a key of each.
    static func nonces(_ octets: UInt8...) -> ProofNonces {
        ProofNonces(
            (octets.isEmpty ? [1] : octets).compactMap { octet in
                try? SecretBytes([UInt8](repeating: octet, count: 32).span)
            })
    }

    func with(nonce: String?) -> SentProof { with("nonce", nonce.map { "\"\($0)\"" } ?? "null") }

    var rejection: Rejection? { sent().rejection }
}

/// The checks of DPoP proofs, in their order (RFC 9449, section 4.3).
@Suite struct DPoPProofTests {
    private let plain = SentProof()

    @Test(arguments: [TestKey.p256, .p384, .p521, .rsa, .ed25519])
    func `a proof by the key that a token is bound to proves its sender`(key: TestKey) throws {
        let proof = plain.change { $0.key = key }
        let binding = try #require(try proof.sent().verify().binding)
        #expect(binding.method == .dpop)
        #expect(binding.thumbprint == SentProof.thumbprint(key))
        let read = try #require(binding.proof)
        #expect(read.keyThumbprint == SentProof.thumbprint(key))
        #expect(read.target == "https://api.example/orders")
        #expect(read.identifier == "a1")
        #expect(read.expiresAt.seconds == 1_700_000_220)
    }

    @Test func `it is one compact JWS, as strict as tokens`() {
        let text = plain.text
        for other in [
            "", "x", text + ".", text + "=", text + " ", " " + text, text + "," + text, "a.b.c",
            text.replacing(".", with: ".."),
        ] { #expect(plain.sent(other).rejection == .proofInvalid(.form), "\(other)") }
        let long = plain.with("x", "\"" + String(repeating: "a", count: 8000) + "\"")
        #expect(long.rejection == .proofInvalid(.form))
        #expect(plain.with("x", "\"" + String(repeating: "a", count: 4000) + "\"").rejection == nil)
        #expect(plain.with(#"htm":"GET","htm"#, #""GET""#).rejection == .proofInvalid(.form))
        #expect(plain.change { $0.otherHeader = #","alg":"ES256""# }.rejection == .proofInvalid(.form))
    }

    @Test func `its type is dpop+jwt`() {
        for type in ["DPoP+JWT", "DPOP+JWT"] { #expect(plain.change { $0.type = "\"\(type)\"" }.rejection == nil) }
        for type in ["JWT", "at+jwt", "application/dpop+jwt", ""] {
            #expect(plain.change { $0.type = "\"\(type)\"" }.rejection == .proofInvalid(.type))
        }
        #expect(plain.change { $0.type = "5" }.rejection == .proofInvalid(.form))
        for member in [#","crit":["x"],"x":1"#, #","b64":false"#, #","zip":"DEF""#] {
            #expect(plain.change { $0.otherHeader = member }.rejection == .proofInvalid(.type))
        }
    }

    @Test func `its algorithm is allowed, and asymmetric`() {
        for algorithm in ["none", "HS256", "es256", "RS512", "ES256K"] {
            let proof = plain.change {
                $0.algorithm = algorithm; $0.signer = .p256
            }
            #expect(proof.rejection == .proofInvalid(.algorithm), "\(algorithm)")
        }
        #expect(plain.change { $0.rules.algorithms = [.rs256] }.rejection == .proofInvalid(.algorithm))
        #expect(
            plain.change {
                $0.key = .ed448; $0.rules.algorithms = .all
            }.rejection == nil)
        #expect(plain.change { $0.algorithm = "ES384" }.rejection == .proofInvalid(.signature))
    }

    @Test(arguments: ["d", "p", "q", "dp", "dq", "qi", "oth", "k"])
    func `a private member refuses the key`(name: String) {
        for key in [TestKey.p256, .rsa, .ed25519] {
            let proof = plain.change {
                $0.key = key; $0.jwk = [name: .string("AQAB")]
            }
            #expect(proof.rejection == .proofInvalid(.key))
        }
    }

    @Test func `its key is there, whole, and strictly written`() {
        let changes: [[String: JSONTree?]] = [
            ["kty": nil], ["kty": .string("oct")], ["crv": nil], ["crv": .string("secp256k1")], ["x": nil], ["y": nil],
            ["y": .string("AAAA")], ["x": .integer(5)], ["use": .string("enc")], ["key_ops": .array([.string("sign")])],
            ["alg": .string("RS256")],
        ]
        for change in changes {
            #expect(plain.change { $0.jwk = change }.rejection == .proofInvalid(.key), "\(change)")
        }
        guard case .object(let members) = TestKey.p256.jwk(), let x = members["x"]?.string else { return }
        #expect(plain.change { $0.jwk = ["x": .string(x + "=")] }.rejection == .proofInvalid(.key))
        #expect(plain.change { $0.jwk = ["use": .string("sig"), "kid": nil] }.rejection == nil)
        let small = TestKey("small", "RS256", .rsa(modulusLength: 128))
        #expect(plain.change { $0.key = small }.rejection == .proofInvalid(.key))
    }

    @Test func `the header's key has signed it`() {
        #expect(plain.change { $0.signer = .otherP256 }.rejection == .proofInvalid(.signature))
        let text = plain.text
        for index in [text.count - 2, text.count - 40] {
            var octets = Array(text.utf8)
            octets[index] = octets[index] == UInt8(ascii: "A") ? UInt8(ascii: "Q") : UInt8(ascii: "A")
            let changed = String(decoding: octets, as: UTF8.self)
            #expect(plain.sent(changed).rejection == .proofInvalid(.signature))
        }
    }

    @Test(arguments: ["jti", "htm", "htu", "iat"])
    func `its claims are there, and of their types`(claim: String) {
        #expect(plain.change { $0.claims = $0.claims.without(claim) }.rejection == .proofInvalid(.claims))
        let others = claim == "iat" ? [#""1700000100""#, "null", "[]", "true"] : ["5", "null", "[]", "{}", "true"]
        for json in others { #expect(plain.with(claim, json).rejection == .proofInvalid(.claims), "\(json)") }
    }

    @Test func `jti has 1 to 256 characters`() {
        #expect(plain.with("jti", #""""#).rejection == .proofInvalid(.claims))
        #expect(plain.with("jti", "\"\(String(repeating: "é", count: 256))\"").rejection == nil)
        #expect(plain.with("jti", "\"\(String(repeating: "a", count: 257))\"").rejection == .proofInvalid(.claims))
    }

    @Test func `htm is the method, octet by octet`() {
        for method in ["get", "POST", "GET ", ""] {
            #expect(plain.with("htm", "\"\(method)\"").rejection == .proofInvalid(.method))
        }
        #expect(plain.change { $0.method = "get" }.rejection == .proofInvalid(.method))
    }

    @Test func `htu is the URL, once both are normalized`() {
        for same in [
            "https://API.example:443/orders", "https://api.example/a/../%6Frders", "https://api.example/orders?x#y",
        ] {
            #expect(plain.with("htu", "\"\(same)\"").rejection == nil)
        }
        for other in [
            "https://api.example/Orders", "https://api.example/orders/", "https://api.example",
            "http://api.example/orders",
            "https://api.example:8443/orders", "https://api.example.evil/orders", "/orders", "",
            "https://x@api.example/orders",
        ] { #expect(plain.with("htu", "\"\(other)\"").rejection == .proofInvalid(.target), "\(other)") }
    }

    @Test func `iat is at most max_age and the clock skew ago, and at most the skew ahead`() {
        // The token's time is 1_700_000_100, and the skew is 60 seconds.
        for seconds in [-120, 0, 60] { #expect(plain.with("iat", "\(1_700_000_100 + seconds)").rejection == nil) }
        for seconds in [-121, 61] {
            #expect(plain.with("iat", "\(1_700_000_100 + seconds)").rejection == .proofInvalid(.time))
        }
        #expect(plain.change { $0.rules.maximumAgeSeconds = 61 }.with("iat", "1699999979").rejection == nil)
        #expect(plain.with("iat", "1700000100.5").rejection == nil)
        for extreme in ["9223372036854775807", "-9223372036854775808", "1e300", "0"] {
            #expect(plain.with("iat", extreme).rejection == .proofInvalid(.time))
        }
    }

    @Test func `ath is the hash of the access token`() {
        let other = try? DigestContext().digest("other".utf8.span, with: .sha256)
        for hash in ["", base64URL(other ?? []), plain.boundToken.token] {
            #expect(plain.change { $0.hash = hash }.rejection == .proofInvalid(.accessToken))
        }
    }

    @Test func `its key is the one that the token is bound to`() {
        #expect(plain.change { $0.boundTo = .otherP256 }.rejection == .bindingMismatch)
        #expect(
            plain.change {
                $0.boundTo = .otherP256; $0.method = "POST"
            }.rejection == .proofInvalid(.method))
    }

    // MARK: The token beside it

    @Test func `a bound token needs the scheme DPoP, without case`() {
        for scheme in ["dpop", "DPOP"] { #expect(plain.change { $0.scheme = scheme }.rejection == nil) }
        for scheme in ["Bearer", "bearer", "Basic", "DPoP "] {
            #expect(plain.change { $0.scheme = scheme }.rejection == .bindingRequired)
        }
    }

    @Test func `a proof beside a token without jkt is refused`() {
        let proof = plain.sent().parameters.evidence.proof
        for sent in [plain.token, plain.token.with("cnf", "{}"), plain.token.with("cnf", #"{"x5t#S256":"x"}"#)] {
            let sent = sent.expecting { $0.evidence.proof = proof }
            #expect(sent.rejection == .bindingMissing)
            #expect(sent.change { $0.dialect.acceptsUncheckedBindings = true }.rejection == .bindingMissing)
        }
    }

    @Test func `a proof that came is checked, whatever the settings accept without one`() {
        let lax = plain.change { $0.token.dialect.acceptsUncheckedBindings = true }
        #expect(lax.rejection == nil)
        #expect(lax.with("htm", #""POST""#).rejection == .proofInvalid(.method))
        #expect(lax.change { $0.scheme = "Bearer" }.rejection == .bindingRequired)
    }

    @Test func `a token that must be bound to a proof's key passes with one`() {
        for binding in RequiredBinding.allCases {
            let strict = plain.change { $0.token.dialect.requiredBinding = binding }
            #expect(strict.rejection == (binding == .certificate ? .bindingMissing : nil))
        }
    }

    @Test func `a token that is bound to both keys needs both, the proof first`() throws {
        let pem = TestKey.rsa.certificate()
        let thumbprint = base64URL(Certificate(pem: Array(pem.utf8).span)?.thumbprint ?? [])
        let cnf = #"{"jkt":"\#(SentProof.thumbprint(.p256))","x5t#S256":"\#(thumbprint)"}"#
        let token = plain.token.with("cnf", cnf)
        let hash = base64URL(try DigestContext().digest(token.token.utf8.span, with: .sha256))
        func sent(_ proof: SentProof?, _ certificate: String?) -> SentAccessToken {
            token.expecting {
                $0.evidence.proof = proof?.change { $0.hash = hash }.sent().parameters.evidence.proof
                $0.evidence.certificate = certificate.flatMap { CertificateThumbprint($0) }
            }
        }
        let binding = try #require(try sent(plain, pem).verify().binding)
        #expect(binding.method == .both)
        #expect(binding.thumbprint == SentProof.thumbprint(.p256))
        #expect(sent(plain, nil).rejection == .bindingRequired)
        #expect(sent(nil, pem).rejection == .bindingRequired)
        #expect(sent(plain, TestKey.p256.certificate()).rejection == .bindingMismatch)
        let wrong = plain.with("htm", #""POST""#)
        #expect(sent(wrong, TestKey.p256.certificate()).rejection == .proofInvalid(.method))
    }

    @Test func `each fault has words`() {
        #expect(Set(ProofFault.allCases.map(\.text)).count == ProofFault.allCases.count)
    }

    // MARK: Nonces

    private static let now: Int64 = 1_700_000_100

    private func nonce(at seconds: Int64 = now, by keys: ProofNonces = SentProof.nonces()) throws -> String {
        try #require(try keys.nonce(at: UnixTime(seconds: seconds)))
    }

    @Test func `a nonce lives for five minutes`() throws {
        let needing = plain.change { $0.rules.needsNonce = true }
        for seconds: Int64 in [0, -300, 60] {
            #expect(try needing.with(nonce: nonce(at: Self.now + seconds)).rejection == nil)
        }
        for seconds: Int64 in [-301, 61] {
            let late = try needing.with(nonce: nonce(at: Self.now + seconds))
            #expect(late.rejection == .proofNonceRequired)
            #expect(late.change { $0.checksNonceAge = false }.rejection == nil)
        }
    }

    @Test func `only a nonce of the service counts`() throws {
        let needing = plain.change { $0.rules.needsNonce = true }
        let good = try nonce()
        #expect(needing.rejection == .proofNonceRequired)
        #expect(needing.with("nonce", "5").rejection == .proofNonceRequired)
        let last = good.hasSuffix("A") ? "Q" : "A"
        for wrong in [
            "", "x", good + "A", good + "=", String(good.dropLast(4)), good.dropLast() + last, good.lowercased(),
        ] {
            #expect(needing.with(nonce: wrong).rejection == .proofNonceRequired)
        }
        #expect(try needing.with(nonce: nonce(by: SentProof.nonces(2))).rejection == .proofNonceRequired)
        #expect(try nonce(by: SentProof.nonces(1, 2)) == good)
        #expect(try SentProof.nonces(2, 1).nonce(at: UnixTime(seconds: Self.now)) != good)
        #expect(try ProofNonces([]).nonce(at: UnixTime(seconds: 0)) == nil)
        // Where none is needed, any will do.
        #expect(plain.with(nonce: "x").rejection == nil)
    }

    @Test func `what is nearer to the request says what its proof needs`() throws {
        for top in [true, false] {
            for provider in [true, false, nil] {
                for policy in [true, false, nil] {
                    let proof = plain.change {
                        $0.rules.needsNonce = top
                        $0.rules.passesOnce = top
                        $0.token = $0.token.change {
                            $0.dialect.proofUse.needsNonce = provider
                            $0.dialect.proofUse.passesOnce = provider
                        }
                        $0.use.needsNonce = policy
                        $0.use.passesOnce = policy
                    }
                    let isNeeded = policy ?? provider ?? top
                    #expect(proof.rejection == (isNeeded ? .proofNonceRequired : nil))
                    let verified = try proof.with(nonce: nonce()).sent().verify()
                    #expect(verified.binding?.proof?.passesOnce == isNeeded)
                }
            }
        }
    }

    @Test func `the nonce is checked after the key`() throws {
        let needing = plain.change {
            $0.rules.needsNonce = true
            $0.boundTo = .rsa
        }
        #expect(needing.rejection == .bindingMismatch)
        #expect(plain.change { $0.rules.needsNonce = true }.with("htm", #""PUT""#).rejection == .proofInvalid(.method))
    }

    @Test func `a token under the scheme of proofs must be bound`() throws {
        let sent = SentAccessToken.rfc9068.expecting { $0.evidence.claimsBinding = true }
        #expect(sent.rejection == .bindingMissing)
        #expect(plain.boundToken.expecting { $0.evidence.claimsBinding = true }.rejection == .bindingRequired)
    }
}
