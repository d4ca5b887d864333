import JOSE

/// Key sets to read repeatedly: valid ones, and invalid ones that fail at every stage of reading.
struct KeySets {
    private let texts: [[UInt8]]

    /// - Parameter good: the text of a set with keys of several types.
    init(_ good: [UInt8]) {
        let text = String(decoding: good, as: UTF8.self)
        let bad = [
            // Truncated, with a repeated name, a bad escape, a number that is too large, not an object.
            String(text.dropLast(2)), text.replacing(#""kty""#, with: #""alg":"","kty""#), #"{"keys":["\ud800"]}"#,
            #"{"keys":[],"a":\#(String(repeating: "9", count: 30))}"#, "[\(text)]", #"{"keys":{}}"#, #"{"keys":[]}"#,
            // Too deep, which is detected while the tree is copied.
            #"{"keys":[],"a":\#(String(repeating: "[", count: 100))\#(String(repeating: "]", count: 100))}"#,
            // Points and numbers that OpenSSL, or a check before it, rejects.
            text.replacing(#""x":"#, with: #""x":"AAAA"#), text.replacing(#""x":""#, with: #""x":"_"#),
            #"{"keys":[{"kty":"EC","crv":"P-256","x":"\#(Self.zeros(43))","y":"\#(Self.zeros(43))"}]}"#,
            #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"\#(Self.zeros(43))"}]}"#,
            #"{"keys":[{"kty":"RSA","n":"\#(Self.zeros(43))","e":"AQAB"},{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#,
            text.replacing(#""alg""#, with: #""d":"AA","alg""#), text.replacing("AQAB", with: "AAAA"),
        ]
        texts = [good, good] + bad.map { Array($0.utf8) }
    }

    /// Reads the texts in turn, `count` times in total, and verifies something with each usable key.
    func read(count: Int, _ tokens: Tokens) throws {
        for round in 0..<count {
            guard let keys = try? JWKSet(texts[round % texts.count]) else { continue }
            let verifier = try JWSVerifier()
            for (token, _) in tokens.cases {
                guard let jws = try? CompactJWS(token[...]) else { continue }
                _ = try? verifier.verify(jws, with: keys, allowing: .all)
            }
        }
    }

    private static func zeros(_ count: Int) -> String { String(repeating: "A", count: count) }
}
