import JOSE
import OpenSSL

/// One signature check per algorithm, including the hash, with a checker that has seen the key before.
let signatureBenchmarks = [
    signature("RS256", .rsaPKCS1(.bits256)),
    signature("RS384", .rsaPKCS1(.bits384)),
    signature("RS512", .rsaPKCS1(.bits512)),
    signature("PS256", .rsaPSS(.bits256)),
    signature("ES256", .ecdsa(.p256)),
    signature("ES384", .ecdsa(.p384)),
    signature("ES512", .ecdsa(.p521)),
    signature("EdDSA", .edwards(.ed25519)),
]

private func signature(_ algorithm: String, _ scheme: SignatureScheme) -> Benchmark {
    Benchmark("signature-\(algorithm)") {
        let fixtures = try Fixtures()
        let key = try fixtures.publicKey(algorithm)
        let signature = try fixtures.decodedPart(2, of: algorithm)
        let message = try fixtures.part(0, of: algorithm) + [UInt8(ascii: ".")] + fixtures.part(1, of: algorithm)
        let checker = try SignatureChecker()
        return { try checker.isValid(signature.span, of: message.span, by: key, scheme) }
    }
}
