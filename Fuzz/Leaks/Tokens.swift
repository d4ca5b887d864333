import IDToken
import JOSE
import OpenSSL

/// Valid and invalid tokens, the keys for them, and the expected results.
struct Tokens {
    let keySet: [UInt8]
    let cases: [(token: [UInt8], rejection: Rejection?)]
    let policy = ProviderPolicy(id: "leaks", issuer: "https://a.example", audiences: ["app"])
    let now = UnixTime(seconds: 1_700_000_000)
    private let good: String
    private let quickest: Signer

    init() throws {
        let signers = try [
            Signer("RS256", .rsa(modulusLength: 256), .rsaPKCS1(.bits256)),
            Signer("PS256", .rsa(modulusLength: 256), .rsaPSS(.bits256)),
            Signer("ES256", .ellipticCurve(.p256), .ecdsa(.p256)),
            Signer("ES512", .ellipticCurve(.p521), .ecdsa(.p521)),
            Signer("EdDSA", .edwards(.ed25519), .edwards(.ed25519)),
        ]
        quickest = signers[4]
        keySet = try Array(#"{"keys":[\#(signers.map { try $0.jwk() }.joined(separator: ","))]}"#.utf8)
        let claims = #""iss":"https://a.example","sub":"1","aud":"app","iat":1700000000"#
        good = #"{\#(claims),"exp":1700000600}"#
        let expired = #"{\#(claims),"exp":1600000000}"#
        var cases: [(token: [UInt8], rejection: Rejection?)] = []
        for signer in signers {
            let token = try signer.token(good)
            let signature = token.count - signer.signatureLength
            var (broken, short) = (token, token)
            broken[signature + 9] = broken[signature + 9] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            short.removeSubrange(signature..<(signature + 4))
            cases += [
                (token, nil), (broken, .signatureInvalid), (try signer.token(expired), .tokenExpired),
                (try signer.token(good, #""kid":"unknown""#), .keyNotFound), (short, .signatureInvalid),
                (Array(token.dropFirst()), .tokenMalformed(.header)),
                (token + [UInt8(ascii: "=")], .tokenMalformed(.signature)),
            ]
        }
        cases.append((Array("a.b.c.d.e".utf8), .tokenMalformed(.encrypted)))
        self.cases = cases
    }

    /// Verifies the cases in turn, `count` times in total. Each must have the expected result.
    func verify(count: Int, _ verifier: IDTokenVerifier, with keys: JWKSet) {
        for round in 0..<count {
            let (token, expected) = cases[round % cases.count]
            verify(token, verifier, with: keys, expecting: expected)
        }
    }

    /// Verifies valid tokens, each with a unique header.
    func verifyNewHeaders(count: Int, _ verifier: IDTokenVerifier, with keys: JWKSet) throws {
        for _ in 0..<count {
            let number = UInt64.random(in: .min ... .max)
            verify(try quickest.token(good, #""number":\#(number)"#), verifier, with: keys, expecting: nil)
        }
    }

    private func verify(
        _ token: [UInt8], _ verifier: IDTokenVerifier, with keys: JWKSet, expecting expected: Rejection?
    ) {
        var rejection: Rejection?
        do throws(Rejection) {
            let token = try verifier.read(token[...])
            _ = try verifier.verify(token, with: keys, under: policy, expecting: VerificationParameters(), now: now)
        } catch {
            rejection = error
        }
        guard rejection == expected else {
            let found = "\(String(describing: rejection)), not \(String(describing: expected))"
            fatalError("\(String(decoding: token, as: UTF8.self)) comes to \(found)")
        }
    }
}

private struct Signer {
    let algorithm: String
    let scheme: SignatureScheme
    let key: SigningKey

    init(_ algorithm: String, _ kind: PublicKeyKind, _ scheme: SignatureScheme) throws {
        self.algorithm = algorithm
        self.scheme = scheme
        key = try SigningKey(generating: kind)
    }

    func jwk() throws -> String {
        let (type, curve) =
            switch key.kind {
            case .rsa: ("RSA", "")
            case .ellipticCurve(let curve): ("EC", curve == .p256 ? "P-256" : "P-521")
            case .edwards: ("OKP", "Ed25519")
            }
        let components = try key.publicComponents().map { #""\#($0.name)":"\#(text(Base64URL.encode($0.octets)))""# }
        let members = [("kty", type), ("crv", curve), ("kid", algorithm), ("alg", algorithm)].map {
            #""\#($0)":"\#($1)""#
        }
        return "{" + (members + components).joined(separator: ",") + "}"
    }

    /// - Parameter more: additional header members, or another `kid`.
    func token(_ payload: String, _ more: String? = nil) throws -> [UInt8] {
        let header = #"{"alg":"\#(algorithm)",\#(more ?? #""kid":"\#(algorithm)""#)}"#
        let parts = [header, payload].map { Base64URL.encode(Array($0.utf8)) }
        let input = Array(parts.joined(separator: [UInt8(ascii: ".")]))
        return try input + [UInt8(ascii: ".")] + Base64URL.encode(key.sign(input, scheme))
    }

    /// The length of its signatures in characters.
    var signatureLength: Int {
        switch key.kind {
        case .rsa(let modulusLength): (modulusLength * 4 + 2) / 3
        case .ellipticCurve(let curve): (curve.coordinateLength * 8 + 2) / 3
        case .edwards(let curve): (curve.signatureLength * 4 + 2) / 3
        }
    }

    private func text(_ octets: [UInt8]) -> String { String(decoding: octets, as: UTF8.self) }
}
