import JOSE

/// A proof is what its own key has signed: the input in place of the header's `jwk`, of the header, and of the whole.
/// No key that is read has a private member, and a proof verifies only with the key that signed it.
fileprivate let payload = Base64URL.encode(Array(#"{"jti":"a","htm":"GET","htu":"https://a.example/","iat":1}"#.utf8))
fileprivate let signature = Base64URL.encode([UInt8](repeating: 1, count: 64))

func fuzz(_ input: [UInt8]) {
    check(input)
    check(joined(Base64URL.encode(input)))
    check(joined(Base64URL.encode(Array(#"{"typ":"dpop+jwt","alg":"ES256","jwk":"#.utf8) + input + [UInt8(ascii: "}")])))
}

private nonisolated(unsafe) let verifier = constant { try JWSVerifier() }

private func joined(_ header: [UInt8]) -> [UInt8] {
    Array([header, payload, signature].joined(separator: [UInt8(ascii: ".")]))
}

private func check(_ text: [UInt8]) {
    guard let jws = try? CompactJWS(text[...]), let key = jws.embeddedKey else { return }
    require(jws.embeddedKey?.thumbprint == key.thumbprint, "\(shown(text)) has one key")
    for algorithm in SignatureAlgorithms.all.elements {
        do throws(JWSError) {
            try unsafe verifier.checkSignature(of: jws, by: key, with: algorithm)
            require(false, "\(shown(text)) is not signed")
        } catch {
            require(error != .cryptographyUnavailable, "\(shown(text)) is read")
        }
    }
}
