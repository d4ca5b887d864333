import Bytes
import JOSE
import Testing
import TestSupport

/// Mutated texts: both readers must agree on validity and on values.
@Suite struct DifferentialTests {
    private static let seeds: [String] = [
        #"{"iss":"https://appleid.apple.com","aud":"com.example.app","exp":1700086400,"iat":1700000000,"sub":"001234.0123456789abcdef.0123","nonce":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","email":"x@privaterelay.appleid.com","email_verified":"true","is_private_email":true,"auth_time":1700000000,"nonce_supported":true}"#,
        #"{"iss": "https://accounts.google.com", "aud": ["a", "b"], "exp": 1.7e9, "iat": -0.5E+3, "hd": null, "given_name": "Ren\u00e9e", "picture": "https:\/\/x\/y", "amr": [], "address": {"formatted": "1\n2", "x": [{"y": {}}]}}"#,
        #"{"alg":"RS256","kid":"W6WcOKB","typ":"JWT"}"#,
        #"{"keys":[{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","kid":"1"},{"kty":"RSA","n":"AQAB","e":"AQAB","x5c":["MII","MIJ"],"key_ops":["verify"]}]}"#,
        #"{"a":"\ud83d\ude00\u20ac\"\\\/\b\f\n\r\t","é€😀":[[[[1,2.5e-3,true,false,null]]]],"":{}}"#,
        #"{"n":[0,-0,9223372036854775807,-9223372036854775808,1e308,1E-308,0.1,123456789.123456789e-5]}"#,
        #"{"id_token":"a.b.c","provider":"apple","nonce":"n-0S6_WzA2Mj","user":{"name":{"firstName":"A","lastName":"B"}}}"#,
        " \t\r\n{ \"a\" : [ { \"b\" : { \"c\" : [ ] } } , { \"b\" : 1 } ] } \n",
    ]

    /// Inserted by mutations: structure, halves of escapes and characters, numbers at every bound.
    private static let pieces: [[UInt8]] =
        [
            "{", "}", "[", "]", ":", ",", "\"", "\\", "/", " ", "\n", "\u{0}", "\u{1f}", "\u{7f}", "-", "+", ".", "e",
            "E", "0",
            "1", "9", "null", "true", "false", "NaN", "\\u", "\\u0000", "\\u0061", "\\ud800", "\\udc00",
            "\\ud83d\\ude00",
            "\\n", "\\x", "é", "😀", "\u{feff}", "9223372036854775807", "9223372036854775808", "-9223372036854775809",
            "18446744073709551616", "1e400", "-1e-400", "00", "1.0", "{}", "[]", "\"\":", "\"a\":1,", "\"\\u0061\":2,",
            ",\"a\":1",
            "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
        ].map { Array($0.utf8) } + [[0x80], [0xc0, 0xaf], [0xc3], [0xed, 0xa0, 0x80], [0xf4, 0x90], [0xff]]

    private static func mutated(_ generator: inout SplitMix64) -> [UInt8] {
        var text = Array(seeds.randomElement(using: &generator)!.utf8)
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let at = Int.random(in: 0..<max(text.count, 1), using: &generator)
            let end = min(text.count, at + Int.random(in: 1...12, using: &generator))
            switch Int.random(in: 0..<7, using: &generator) {
            case 0 where !text.isEmpty: text[at] = UInt8.random(in: 0...255, using: &generator)
            case 1 where !text.isEmpty: text[at] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 2 where !text.isEmpty: text.removeSubrange(at..<end)
            case 3 where !text.isEmpty: text.insert(contentsOf: Array(text[at..<end]), at: at)
            case 4: text.insert(contentsOf: pieces.randomElement(using: &generator)!, at: min(at, text.count))
            case 5 where !text.isEmpty: text.replaceSubrange(at..<end, with: pieces.randomElement(using: &generator)!)
            default:
                let other = Array(seeds.randomElement(using: &generator)!.utf8)
                let from = Int.random(in: 0..<other.count, using: &generator)
                text = Array(text.prefix(at)) + other[from...]
            }
        }
        return text
    }

    /// The text with every integer beyond 64 bits replaced by 0, and how many there were. Strings are left alone.
    ///
    /// Works only on valid JSON, where digits after a dot or an exponent never begin a number.
    private static func withoutBigIntegers(_ text: [UInt8]) -> (text: [UInt8], replaced: Int) {
        var output: [UInt8] = []
        var replaced = 0
        var index = 0
        var isInString = false
        while index < text.count {
            let byte = text[index]
            if isInString || !(byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte)) {
                if byte == UInt8(ascii: "\\"), isInString {
                    output.append(byte)
                    index += 1
                } else if byte == UInt8(ascii: "\"") {
                    isInString.toggle()
                }
                output.append(text[index])
                index += 1
                continue
            }
            let number = text[index...].prefix { Array("+-.0123456789Ee".utf8).contains($0) }
            let isInteger = !number.contains { Array(".Ee".utf8).contains($0) }
            if isInteger, Int64(String(decoding: number, as: UTF8.self)) == nil {
                output.append(UInt8(ascii: "0"))
                replaced += 1
            } else {
                output += number
            }
            index += number.count
        }
        return (output, replaced)
    }

    private static func shown(_ text: [UInt8]) -> String { String(decoding: text, as: UTF8.self).debugDescription }

    @Test func `both readers judge and read twenty thousand broken texts alike`() throws {
        var generator = SplitMix64(seed: 8259)
        var accepted = 0
        var beyond64Bits = 0
        for round in 0..<20_000 {
            let text = Self.mutated(&generator)
            let object = try? JSONObject(text)
            var tree = try? JSONTree(readingObject: text)
            if object != nil, tree == nil {
                // The only accepted reason: with 0 instead of integers beyond 64 bits, jansson reads it too.
                let (without, replaced) = Self.withoutBigIntegers(text)
                try #require(replaced > 0, "round \(round): only JSONObject accepts \(Self.shown(text))")
                beyond64Bits += 1
                tree = try? JSONTree(readingObject: without)
                let members = try #require(tree?.object, "round \(round): \(Self.shown(text))")
                try #require(try JSONObject(without).equals(members), "round \(round)")
                continue
            }
            try #require(
                (object != nil) == (tree != nil),
                "round \(round): only JSONTree accepts \(Self.shown(text))")
            if let object, let members = tree?.object {
                accepted += 1
                try #require(object.equals(members), "round \(round): \(Self.shown(text))")
            }
        }
        // Otherwise, the mutations are too wild or too tame to be useful.
        #expect((2_000...18_000).contains(accepted), "\(accepted) accepted")
        #expect(beyond64Bits > 20, "\(beyond64Bits) beyond 64 bits")
    }
}
