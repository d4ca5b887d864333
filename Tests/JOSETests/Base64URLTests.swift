import Bytes
import JOSE
import Testing
import TestSupport

@Suite struct Base64URLTests {
    private func decode(_ text: [UInt8]) -> [UInt8]? { Base64URL.decode(text.span) }
    private func decode(_ text: String) -> [UInt8]? { decode(Array(text.utf8)) }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// RFC 4648, section 10, without padding; RFC 7515, appendix C.
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"),
    ])
    func `the published examples`(plain: String, encoded: String) {
        #expect(text(Base64URL.encode(Array(plain.utf8))) == encoded)
        #expect(decode(encoded) == Array(plain.utf8))
    }

    @Test func `the example of RFC 7515 has both of the alphabet's own characters`() {
        #expect(text(Base64URL.encode([3, 236, 255, 224, 193])) == "A-z_4ME")
        #expect(decode("A-z_4ME") == [3, 236, 255, 224, 193])
        #expect(decode("A+z/4ME") == nil)
    }

    @Test func `lines of base64 have its alphabet and its padding`() {
        func decode(_ text: String) -> [UInt8]? { Base64URL.decodeLines(Array(text.utf8).span) }
        for text in ["A+z/4ME=", "A+z/\n4ME=\n", " A+\r\n\tz/4M E="] {
            #expect(decode(text) == [3, 236, 255, 224, 193])
        }
        #expect(decode("") == [] && decode("A+z/") == [3, 236, 255] && decode("4A==") == [224])
        for text in [
            "A-z_4ME=", "A+z/4ME", "A+z/4M==", "A+z/4===", "====", "=", "A+z/=", "4ME=A+z/", "A+z/4MF=", "A+z/4M.=",
            "é===",
        ] {
            #expect(decode(text) == nil, "\(text)")
        }
    }

    @Test func `octets come back, whatever their number`() {
        var generator = SplitMix64(seed: 4648)
        for count in 0..<300 {
            let octets = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let encoded = Base64URL.encode(octets)
            #expect(encoded.count == (count * 4 + 2) / 3)
            #expect(encoded.allSatisfy(Self.alphabet.contains))
            #expect(decode(encoded) == octets)
        }
    }

    @Test func `each character outside the alphabet is refused at each place`() {
        let bad = (0...255).map(UInt8.init).filter { !Self.alphabet.contains($0) }
        #expect(bad.count == 192)
        for count in [2, 3, 4, 6, 7, 8, 11] {
            let good = [UInt8](repeating: UInt8(ascii: "A"), count: count)
            #expect(decode(good) != nil)
            for index in 0..<count {
                for character in bad {
                    var text = good
                    text[index] = character
                    #expect(decode(text) == nil, "\(character) at \(index) of \(count)")
                }
            }
        }
    }

    @Test func `each character of the alphabet has its own value`() {
        for (value, character) in Self.alphabet.enumerated() {
            let value = UInt8(value)
            // The same six bits at each of the four positions.
            let octets = [value << 2 | value >> 4, value << 4 | value >> 2, value << 6 | value]
            #expect(decode([UInt8](repeating: character, count: 4)) == octets)
        }
    }

    @Test(arguments: ["A", "AAAAA", "AAAAAAAAA", "Z", "-"])
    func `a text is never one character longer than whole quanta`(text: String) {
        #expect(decode(text) == nil)
    }

    @Test(arguments: [
        "Zg==", "Zg=", "Zm8=", "Zm9v=", "Zm9v====", "=", "==", "====", "=Zm8", "Zm=8", "Zm9vYg==", "Zg\n", "\nZg",
        " Zg", "Zg ",
        "Z g", "Zm9v\r\n", "Zm9vYmFy\n", "\tZm9v", "Zm 9v", "Zm+v", "Zm/v", "Zg%3D", "Zg.", "Zg\u{0}", "\u{feff}Zg",
        "Zḿ9v",
    ])
    func `padding, white space and other alphabets are refused`(text: String) {
        #expect(decode(text) == nil)
    }

    @Test func `the bits that are too many behind one octet are zero`() {
        for octet in 0...255 {
            let good = Base64URL.encode([UInt8(octet)])
            for (value, last) in Self.alphabet.enumerated() {
                let decoded = decode([good[0], last])
                #expect((decoded != nil) == (value & 0x0f == 0))
                #expect(last != good[1] || decoded == [UInt8(octet)])
            }
        }
    }

    @Test func `the bits that are too many behind two octets are zero`() {
        var accepted = 0
        for first in Self.alphabet {
            for second in Self.alphabet {
                for (value, third) in Self.alphabet.enumerated() {
                    let isAccepted = decode([first, second, third]) != nil
                    if isAccepted { accepted += 1 }
                    if isAccepted != (value & 0x03 == 0) { Issue.record("\(text([first, second, third]))") }
                }
            }
        }
        #expect(accepted == 65_536)
    }

    /// The encoding is unique: otherwise, a token could be replayed in another spelling.
    @Test func `what is decoded is encoded to the same text`() {
        var generator = SplitMix64(seed: 7515)
        var decoded = 0
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...9, using: &generator)).map { _ in
                Self.alphabet.randomElement(using: &generator)!
            }
            guard let octets = decode(text) else { continue }
            decoded += 1
            #expect(Base64URL.encode(octets) == text)
        }
        #expect(decoded > 5_000)
    }
}
