import JOSE
import OpenSSL

/// An encrypted token that was not made for these keys is never opened, and is refused for one of the known reasons.
///
/// The input is used as a whole token, as its header, and as each other part beside a good header.
func fuzz(_ input: [UInt8]) {
    check(input)
    let part = Base64URL.encode(input)
    check(joined([part, input, input, input, input]))
    for header in headers {
        for index in 1..<5 {
            var parts = [header] + [[UInt8]](repeating: Base64URL.encode([UInt8](repeating: 1, count: 16)), count: 4)
            parts[index] = part
            check(joined(parts))
        }
    }
}

private let headers = [
    #"{"alg":"ECDH-ES","enc":"A128CBC-HS256","epk":{"kty":"OKP","crv":"X25519","x":"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE"}}"#,
    #"{"alg":"ECDH-ES+A256KW","enc":"A256GCM","epk":{"kty":"OKP","crv":"X25519","x":"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE"}}"#,
].map { Base64URL.encode(Array($0.utf8)) }

private let decrypter: JWEDecrypter = {
    let kinds: [(DecryptionKeyKind, [KeyManagementAlgorithm])] = [
        (.agreement(.x25519), [.ecdhES, .ecdhESA256KW]), (.agreement(.p256), [.ecdhESA128KW, .ecdhESA192KW]),
        (.rsa(modulusLength: 256), [.rsaOAEP, .rsaOAEP256]),
    ]
    let keys = kinds.compactMap { kind, algorithms in
        (try? DecryptionKey(generating: kind)).flatMap { EncryptionKey(id: "k", $0, algorithms) }
    }
    require(keys.count == kinds.count, "the keys are made")
    return JWEDecrypter(
        keys, algorithms: Set(KeyManagementAlgorithm.allCases), content: Set(ContentAlgorithm.allCases))
}()

private func joined(_ parts: [[UInt8]]) -> [UInt8] { Array(parts.joined(separator: [UInt8(ascii: ".")])) }

private func check(_ token: [UInt8]) {
    guard let jwe = try? CompactJWE(token[...]) else { return }
    require(token.count { $0 == UInt8(ascii: ".") } == 4, "\(shown(token)) has five parts")
    do throws(JWEError) {
        _ = try decrypter.decrypt(jwe)
        require(false, "\(shown(token)) was not made for these keys")
    } catch {
        require(error != .cryptographyUnavailable, "\(shown(token)) makes OpenSSL fail")
    }
}
