import JOSE
import Testing
import TestSupport

/// Which JOSE headers are accepted, before any key is selected.
@Suite struct JOSEHeaderTests {
    private func read(_ json: [UInt8]) throws(JWSError) -> JOSEHeader {
        try CompactJWS("\(base64URL(json)).e30.Zg").header
    }

    private func read(_ json: String) throws(JWSError) -> JOSEHeader { try read(Array(json.utf8)) }

    private func error(_ json: [UInt8]) -> JWSError? {
        do throws(JWSError) {
            _ = try read(json)
            return nil
        } catch {
            return error
        }
    }

    @Test func `alg, kid and typ are read`() throws {
        let header = try read(#"{"alg":"RS256","kid":"k1","typ":"JWT"}"#)
        #expect(header.algorithm == .rs256)
        #expect(header.keyID == "k1")
        #expect(header.type == "JWT")
        #expect(!header.hasUnsupportedParameter)
    }

    @Test func `white space and escapes change nothing`() throws {
        #expect(
            try read(" {\r\n\t\"al\\u0067\" : \"RS\\u003256\", \"kid\":\"\\u006b1\" } ")
                == read(#"{"alg":"RS256","kid":"k1"}"#))
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `every algorithm is known by its name`(algorithm: SignatureAlgorithm) throws {
        #expect(try read(#"{"alg":"\#(algorithm.rawValue)"}"#).algorithm == algorithm)
    }

    @Test(arguments: [
        #""none""#, #""None""#, #""NONE""#, #""nOnE""#, #""HS256""#, #""HS384""#, #""HS512""#, #""ES256K""#, #""RS1""#,
        #""PBES2-HS256+A128KW""#, #""dir""#, #""RSA-OAEP""#, #""rs256""#, #""Rs256""#, #""RS256 ""#, #"" RS256""#,
        #""RS256\n""#, #""RS 256""#, #""RS2560""#, #""RS25""#, #""ＲＳ256""#, #""eddsa""#, #""EDDSA""#, #""ed25519""#,
        #""ML-DSA-44""#, #""""#, "null", "5", "true", #"["RS256"]"#, #"{"alg":"RS256"}"#,
    ])
    func `any other alg is none that can be allowed`(alg: String) throws {
        #expect(try read(#"{"alg":\#(alg),"kid":"k"}"#).algorithm == nil)
    }

    @Test func `an absent alg is none, one within another member too`() throws {
        #expect(try read("{}").algorithm == nil)
        #expect(try read(#"{"x":{"alg":"RS256"},"ALG":"RS256","alg ":"RS256"}"#).algorithm == nil)
    }

    @Test(arguments: ["5", "null", "true", "{}", "[]", #"["k"]"#, "1.5"])
    func `a kid or typ that is no string is malformed`(json: String) {
        #expect(error(Array(#"{"alg":"RS256","kid":\#(json)}"#.utf8)) == .malformed(.header))
        #expect(error(Array(#"{"alg":"RS256","typ":\#(json)}"#.utf8)) == .malformed(.header))
    }

    @Test(arguments: [
        "", " ", "K1", "k1 ", "../../../../dev/null", "é", "e\u{301}", "😀", String(repeating: "k", count: 10_000),
    ])
    func `a kid is any text`(kid: String) throws {
        #expect(try read(#"{"alg":"RS256","kid":"\#(kid)"}"#).keyID?.utf8.elementsEqual(kid.utf8) == true)
    }

    @Test(arguments: [
        #""crit":["exp"]"#, #""crit":["b64"],"b64":false"#, #""crit":["x"]"#, #""crit":[]"#, #""crit":"b64""#,
        #""crit":["alg"]"#, #""crit":["exp","exp"]"#, #""crit":null"#, #""crit":{}"#, #""crit":false"#,
        #""cri\u0074":["exp"]"#,
        #""b64":false"#, #""b64":true"#, #""b64":null"#, #""zip":"DEF""#, #""zip":null"#, #""z\u0069p":"DEF""#,
    ])
    func `crit, b64 and zip are never understood, whatever they say`(member: String) throws {
        #expect(try read(#"{"alg":"RS256",\#(member)}"#).hasUnsupportedParameter)
    }

    @Test func `a crit of ten thousand names is one like any other`() throws {
        let names = (0..<10_000).map { "\"n\($0)\"" }.joined(separator: ",")
        #expect(try read(#"{"alg":"RS256","crit":[\#(names)]}"#).hasUnsupportedParameter)
    }

    @Test func `what is not understood and need not be is passed over`() throws {
        let unknown = (0..<500).map { #""x\#($0)":[{"crit":["exp"]}]"# }.joined(separator: ",")
        let header = try read(
            #"{"alg":"RS256","jwk":{"kty":"RSA"},"jku":"https://evil.example","x5u":"x","x5c":[1],"x5t":5,"cty":"JWT",\#(unknown)}"#
        )
        #expect(try header == read(#"{"alg":"RS256"}"#))
    }

    @Test(arguments: [
        #"{"alg":"none","alg":"RS256"}"#, #"{"alg":"RS256","al\u0067":"none"}"#, #"{"kid":"a","kid":"a"}"#,
        #"{"alg":"RS256","jwk":{"kty":"RSA","kty":"EC"}}"#, #"{"alg":"RS256","x":[{"y":1,"y":1}]}"#,
    ])
    func `a duplicate member anywhere is malformed`(json: String) {
        #expect(error(Array(json.utf8)) == .malformed(.header))
    }

    @Test(arguments: [
        "", " ", "null", "[]", "5", #""RS256""#, "{", #"{"alg":"RS256""#, #"{"alg":"RS256"}x"#, #"{"alg":"RS256"}{}"#,
        #"{alg:"RS256"}"#, #"{'alg':'RS256'}"#, #"{"alg":"RS256",}"#, #"{"alg":"RS256"/**/}"#, #"{"alg":"\ud800"}"#,
        #"{"alg":"RS256\u0000"}"#, #"{"kid":"a\u0000"}"#, #"[{"alg":"RS256"}]"#, "\u{feff}{}", #"{"x":1e400}"#,
        #"{"x":NaN}"#,
    ])
    func `a header that is not one strict JSON object is malformed`(json: String) {
        #expect(error(Array(json.utf8)) == .malformed(.header))
    }

    @Test func `a header that is no UTF-8, or nested without end, is malformed`() {
        #expect(error(Array(#"{"alg":"RS256"#.utf8) + [0x80] + Array(#""}"#.utf8)) == .malformed(.header))
        #expect(error(Array(#"{"alg":"RS256"}"#.utf8).flatMap { [$0, 0] }) == .malformed(.header))
        #expect(error([0xff]) == .malformed(.header))
        #expect(error(Array((#"{"a":"# + String(repeating: "[", count: 100_000)).utf8)) == .malformed(.header))
        #expect(error(Array(String(repeating: #"{"a":"#, count: 100_000).utf8)) == .malformed(.header))
    }
}
