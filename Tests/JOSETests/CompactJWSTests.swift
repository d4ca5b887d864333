import JOSE
import Testing
import TestSupport

/// The form of a compact JWS, without verification.
@Suite struct CompactJWSTests {
    private static let header = base64URL(#"{"alg":"ES256"}"#)
    private static let payload = base64URL("{}")
    private static let signature = base64URL([UInt8](repeating: 7, count: 64))
    private static let good = "\(header).\(payload).\(signature)"

    private func error(_ text: String) -> JWSError? { error(Array(text.utf8)) }

    private func error(_ text: [UInt8]) -> JWSError? {
        do throws(JWSError) {
            _ = try CompactJWS(text[...])
            return nil
        } catch {
            return error
        }
    }

    @Test func `three parts of base64url are one`() throws {
        let jws = try CompactJWS(Self.good)
        #expect(jws.header.algorithm == .es256)
        #expect(jws.payload == Array("{}".utf8))
    }

    @Test func `payload and signature may be empty`() throws {
        #expect(error("\(Self.header)..\(Self.signature)") == nil)
        #expect(error("\(Self.header).\(Self.payload).") == nil)
        #expect(error("\(Self.header)..") == nil)
        #expect(error("..") == .malformed(.header))
    }

    @Test(arguments: [
        "", ".", "a", "a.b", good.replacing(".", with: ""), "\(header).\(payload)", "\(header)\(payload).\(signature)",
        good + ".", "." + good, good + "." + signature, good + "....", "......", String(repeating: ".", count: 8000),
        good + String(repeating: ".", count: 8000),
    ])
    func `another number of parts is no compact JWS`(text: String) {
        #expect(error(text) == .malformed(.serialization))
    }

    @Test(arguments: ["....", "a.b.c.d.e", "\(good)..", "\(good).a.b"])
    func `five parts are an encrypted token`(text: String) {
        #expect(error(text) == .encrypted)
    }

    @Test func `a million dots cost no more than five`() {
        let stops = [UInt8](repeating: UInt8(ascii: "."), count: 1_000_000)
        let five = Array(stops.prefix(5))
        #expect(error(stops) == .malformed(.serialization))
        #expect(threadNanoseconds { _ = error(stops) } < threadNanoseconds { _ = error(five) } + 10_000_000)
    }

    /// RFC 7515 has no padding and no other alphabet.
    @Test(arguments: [
        "=", "==", "+", "/", "%3D", "%2E", " ", "\t", "\r", "\n", "\r\n", "\0", "\u{feff}", "\u{200b}", "\u{a0}", "\"",
    ])
    func `a foreign character before, within or after a part is refused`(character: String) {
        let (header, payload, signature) = (Self.header, Self.payload, Self.signature)
        for bad in [character + header, header + character, String(header.prefix(4)) + character + header.dropFirst(4)]
        {
            #expect(error("\(bad).\(payload).\(signature)") == .malformed(.header))
        }
        for bad in [
            character + payload, payload + character, String(payload.prefix(1)) + character + payload.dropFirst(1),
        ] {
            #expect(error("\(header).\(bad).\(signature)") == .malformed(.payload))
        }
        for bad in [
            character + signature, signature + character,
            String(signature.prefix(4)) + character + signature.dropFirst(4),
        ] {
            #expect(error("\(header).\(payload).\(bad)") == .malformed(.signature))
        }
    }

    @Test(arguments: [
        "Bearer \(good)", "\"\(good)\"", "bearer:\(good)", "id_token=\(good)", good.replacing(".", with: "%2E"),
        good.replacing(".", with: "。"), good.replacing(".", with: " . "),
    ])
    func `a token in wrapping is refused`(text: String) {
        #expect(error(text) != nil)
    }

    /// RFC 7515, 7.2: general and flattened, and an object that is both.
    @Test(arguments: [
        #"{"payload":"\#(payload)","signatures":[{"protected":"\#(header)","signature":"\#(signature)"}]}"#,
        #"{"payload":"\#(payload)","protected":"\#(header)","signature":"\#(signature)"}"#,
        #"{"payload":"\#(payload)","protected":"\#(header)","signature":"\#(signature)","a":"\#(good)"}"#,
        #"{"\#(header).\#(payload).\#(signature)":1}"#,
    ])
    func `the JSON serializations are refused`(text: String) {
        #expect(error(text) != nil)
    }

    @Test func `bits beyond the last octet are refused in each part`() {
        // "e30" ends in bits 00. A lenient decoder would read "e31" as the same octets.
        #expect(error("\(Self.header).e30.\(Self.signature)") == nil)
        #expect(error("\(Self.header).e31.\(Self.signature)") == .malformed(.payload))
        #expect(error("\(Self.header).e30.Zh") == .malformed(.signature))
        #expect(error("\(Self.header).e30.Zg") == nil)
        #expect(error("e31.e30.Zg") == .malformed(.header))
    }

    @Test func `the payload is any octets`() throws {
        let jws = try CompactJWS("\(Self.header).\(base64URL([0, 0xff, 0x80] as [UInt8])).\(Self.signature)")
        #expect(jws.payload == [0, 0xff, 0x80])
    }

    @Test func `a slice of a larger text is read in place`() throws {
        let text = Array("GET \(Self.good) HTTP".utf8)
        #expect(try CompactJWS(text[4..<(text.count - 5)]).payload == Array("{}".utf8))
    }
}
