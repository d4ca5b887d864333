import JOSE
import Testing
import TestSupport

/// What both readers accept and reject.
@Suite struct ReaderTests {
    @Test(arguments: [
        "{}", " {} ", "\t\r\n{\t\r\n}\t\r\n", #"{"a":1}"#, #"{"":""}"#, #"{"a":{"b":[{}]}}"#, #"{"a":[]}"#,
        #"{ "a" : [ 1 , 2 ] , "b" : null }"#, #"{"a":true,"b":false}"#, #"{"a":"\"\\\/\b\f\n\r\t"}"#,
        #"{"a":"\u0041\u00e9\u20ac\ud83d\ude00\uD83D\uDE00"}"#, #"{"é":"€😀"}"#, "{\"a\":\"\u{7f}\"}",
        #"{"a":-0,"b":0,"c":-1,"d":9223372036854775807,"e":-9223372036854775808}"#,
        #"{"a":1.0,"b":0.5,"c":-0.0,"d":1e0,"e":1E+2,"f":1e-2,"g":0e0,"h":1e308,"i":1e-999}"#,
        #"{"a":"\uFFFF\uFFFE"}"#, "{\"a\":\"\u{10ffff}\"}",
    ])
    func `strict JSON objects are read, and both readers see the same`(text: String) throws {
        let tree = try JSONTree(readingObject: Array(text.utf8))
        let object = try JSONObject(Array(text.utf8))
        #expect(object.equals(try #require(tree.object)))
    }

    @Test(arguments: [
        "", " ", "{", "}", "{}}", "{}{}", "{} x", "{},", "{}\0", "\0{}", "\u{feff}{}", "{}\u{feff}", "\u{a0}{}",
        "\u{0b}{}", "\u{0c}{}", "{,}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{,"a":1}"#, #"{"a":1 "b":2}"#,
        #"{"a":1;"b":2}"#, #"{"a" 1}"#, #"{"a"::1}"#, #"{"a":1,,"b":2}"#, "{a:1}", "{'a':1}", "{1:1}", "{null:1}",
        #"{"a":'b'}"#, #"{"a":b}"#, #"{"a":undefined}"#, #"{"a":True}"#, #"{"a":nul}"#, #"{"a":nulll}"#,
        #"{"a":truefalse}"#, #"{"a":NaN}"#, #"{"a":Infinity}"#, #"{"a":-Infinity}"#, #"{"a":1}//"#, #"{"a":1/**/}"#,
        "{\"a\":1#\n}", #"{"a":[}"#, #"{"a":]}"#, #"{"a":[1,]}"#, #"{"a":[,1]}"#, #"{"a":[1 2]}"#, #"{"a":[1}"#,
        #"{"a":{]}"#, #"{"a":[[]}"#, #"{"a"#, #"{"a"#, #"{"a":"#, #"{"a":1"#, #"{"a":"b"#, #"{"a":"b\"#, #"{"a":"b\"}"#,
        #"{"a":"\u"}"#, #"{"a":"\u00"}"#, #"{"a":"\u00g0"}"#, #"{"a":"\U0041"}"#, #"{"a":"\x41"}"#, #"{"a":"\'"}"#,
        #"{"a":"\0"}"#, #"{"a":"\u 041"}"#, #"{"a":"\u+041"}"#, "{\"a\":\"\t\"}", "{\"a\":\"\n\"}",
        "{\"a\":\"\u{1f}\"}",
        "{\"a\u{1}\":1}", "{\"a\":\"b\0c\"}",
        "{ ", #"{"a" "#, #"{"a": "#, #"{"a":1 "#, #"{"a":1, "#, #"{"a":[ "#, #"{"a":[1 "#, #"{"a":[1, "#, #"{ x"#,
        #"{"a" x"#, #"{"a":1 x"#, #"{"a":[ x"#, #"{"a":[1 x"#,
    ])
    func `what is no strict JSON is refused`(text: String) {
        for reader in Reader.allCases { #expect(!reader.accepts(text), "\(reader)") }
    }

    @Test(arguments: [
        "01", "-01", "00", "+1", "-", "--1", "-+1", ".5", "-.5", "1.", "1.e1", "1e", "1e+", "1E-", "1e1.5", "1.5.5",
        "0x10",
        "1_000", "1 000", "1f", "e1", "\u{ff11}", "- 1", "1e 5", "1e400", "-1e400", "1E+2147483648",
        "1e99999999999999999999",
    ])
    func `what is no number, or beyond a double, is refused`(number: String) {
        for reader in Reader.allCases {
            for text in ["{\"a\":\(number)}", "{\"a\":[\(number)]}", "{\"a\":[0,\(number) ]}"] {
                #expect(!reader.accepts(text), "\(reader): \(text)")
            }
        }
    }

    @Test(arguments: ["1", "-1.5", "\"a\"", "true", "null", "[]", "[{}]", " [1] "])
    func `JSON that is no object is refused`(text: String) {
        #expect(Reader.inPlace.error(Array(text.utf8)) == .notAnObject)
        #expect(!Reader.tree.accepts(text))
    }

    @Test(arguments: ["[", "[1,]", "tru", "\"", "[}", "1 1", "[] []", "1e400", #"[{"a":1,"a":2}]"#])
    func `a broken text that is no object is refused as broken`(text: String) {
        let error = Reader.inPlace.error(Array(text.utf8))
        #expect(error != nil && error != .notAnObject)
        #expect(!Reader.tree.accepts(text))
    }

    @Test(arguments: [
        "80", "bf", "c0 80", "c0 af", "c1 bf", "c2", "c2 20", "c3 28", "e0 80 80", "e0 9f bf", "e2 82", "e2 28 a1",
        "e2 82 28", "ed a0 80", "ed bf bf", "f0 80 80 80", "f0 8f bf bf", "f0 9f 98", "f0 9f 28 80", "f0 28 98 80",
        "f4 90 80 80", "f5 80 80 80", "f8 88 80 80 80", "fc 84 80 80 80 80", "fe", "ff", "ff fe",
    ])
    func `octets that are no UTF-8 are refused, in values, in names and outside`(sequence: String) {
        let bad = octets(hex: sequence)
        func around(_ before: String, _ after: String) -> [UInt8] { Array(before.utf8) + bad + Array(after.utf8) }
        for text in [
            around(#"{"a":""#, #""}"#), around(#"{""#, #"":1}"#), around(#"{"a":["x"#, #"y"]}"#), around("{", "}"),
            around("{}", ""), around("", "{}"), around(#"{"a":""#, ""),
        ] {
            for reader in Reader.allCases { #expect(!reader.accepts(text), "\(reader)") }
        }
        #expect(Reader.inPlace.error(around(#"{"a":""#, #""}"#)) == .encoding)
        #expect(Reader.tree.error(around(#"{"a":""#, #""}"#)) == .encoding)
    }

    @Test func `the bounds of UTF-8 are characters`() {
        for sequence in [
            "c2 80", "df bf", "e0 a0 80", "ec bf bf", "ed 80 80", "ed 9f bf", "ee 80 80", "ef bf bf", "f0 90 80 80",
            "f3 bf bf bf", "f4 80 80 80", "f4 8f bf bf",
        ] {
            let text = Array(#"{"a":""#.utf8) + octets(hex: sequence) + Array(#""}"#.utf8)
            for reader in Reader.allCases { #expect(reader.accepts(text), "\(reader): \(sequence)") }
        }
    }

    @Test(arguments: [
        #"\ud800"#, #"\udbff"#, #"\udc00"#, #"\udfff"#, #"\ud800x"#, #"\ud800\n"#, #"\ud800\u0041"#, #"\ud800\ud800"#,
        #"\udc00\ud800"#, #"\ud800\\udc00"#, #"\ud83d \ude00"#, #"\ud83d\ude0"#,
    ])
    func `a lone surrogate is refused, in values and in names`(escapes: String) {
        for text in ["{\"a\":\"\(escapes)\"}", "{\"\(escapes)\":1}"] {
            for reader in Reader.allCases { #expect(!reader.accepts(text), "\(reader): \(text)") }
        }
    }

    @Test(arguments: [#"{"a":"\u0000"}"#, #"{"a\u0000":1}"#, #"{"a":["b\u0000c"]}"#, #"{"a":{"\u0000":1}}"#])
    func `U+0000 is refused by its escape too`(text: String) {
        for reader in Reader.allCases { #expect(reader.error(Array(text.utf8)) == .encoding, "\(reader)") }
    }

    @Test func `a text may be allowed U+0000 in its strings, but not in its names`() throws {
        let object = try JSONObject(Array(#"{"a":"\u0000b","c":{"d":["\u0000"]}}"#.utf8), allowsNUL: true)
        #expect(object["a"]?.string == "\u{0}b")
        #expect(object["c"]?.object?["d"]?.elements?.first?.string == "\u{0}")
        for text in [#"{"a\u0000":1}"#, #"{"b":{"\u0000":1}}"#] {
            #expect(throws: JSONError.encoding) { try JSONObject(Array(text.utf8), allowsNUL: true) }
        }
        // The raw octet is a control character like any other.
        #expect(throws: JSONError.syntax) { try JSONObject(Array("{\"a\":\"\u{0}\"}".utf8), allowsNUL: true) }
    }

    @Test func `a character means the same wherever it stands in a string`() throws {
        for length in 1...40 {
            for place in 0..<length {
                let (before, after) = (
                    String(repeating: "a", count: place), String(repeating: "~", count: length - place - 1)
                )
                for (character, isAccepted) in [
                    (" ", true), ("\u{7f}", true), ("é", true), ("\\\"", true), ("\u{1f}", false), ("\"", false),
                    ("\\q", false),
                ] {
                    for rest in ["\"}", "\",\"b\":\"and so on for a while\"}"] {
                        let text = "{\"a\":\"" + before + character + after + rest
                        for reader in Reader.allCases {
                            #expect(reader.accepts(text) == isAccepted, "\(reader): \(text)")
                        }
                        guard isAccepted else { continue }
                        let expected = before + (character == "\\\"" ? "\"" : character) + after
                        #expect(try JSONObject(Array(text.utf8))["a"]?.string == expected)
                    }
                }
            }
        }
    }

    @Test func `an integer is read to its last digit`() throws {
        for digits in 1...19 {
            for digit in ["1", "9"] where digits < 19 || digit == "1" {
                for sign in ["", "-"] {
                    let text = sign + String(repeating: digit, count: digits)
                    #expect(try JSONObject(Array("{\"a\":\(text)}".utf8)).integer("a") == Int64(text))
                }
            }
        }
    }

    @Test func `UTF-16 and UTF-32 are refused`() {
        let text = Array(#"{"a":1}"#.utf8)
        let wide: [[UInt8]] = [
            text.flatMap { [$0, 0] }, text.flatMap { [0, $0] }, [0xff, 0xfe] + text.flatMap { [$0, 0] },
            [0xfe, 0xff] + text.flatMap { [0, $0] }, text.flatMap { [$0, 0, 0, 0] }, text.flatMap { [0, 0, 0, $0] },
        ]
        for text in wide { for reader in Reader.allCases { #expect(!reader.accepts(text), "\(reader)") } }
    }

    @Test(arguments: [
        (#"{"a":1,"a":2}"#, true), (#"{"a":1,"b":2,"a":1}"#, true), (#"{"a":1,"\u0061":2}"#, true),
        (#"{"\u0061":1,"a":2}"#, true), (#"{"\u0061":1,"\u0061":2}"#, true), (#"{"b":{"a":1,"a":2}}"#, true),
        (#"{"b":[{"c":[{"a":1,"a":2}]}]}"#, true), (#"{"":1,"":2}"#, true), (#"{"/":1,"\/":2}"#, true),
        (#"{"😀":1,"\ud83d\ude00":2}"#, true), (#"{"alg":"none","al\u0067":"RS256"}"#, true),
        (#"{"a":1,"b":2,"c":{"a":1,"b":2}}"#, false), (#"{"a":{"a":{"a":1}}}"#, false), (#"{"a":1,"A":2}"#, false),
        (#"{"a":1,"a ":2}"#, false), (#"{"a":[{"b":1},{"b":1}]}"#, false), (#"{"a":1,"b":{"a":1},"c":{"a":1}}"#, false),
        // In JSON, these are two names, although they look alike.
        ("{\"\u{e9}\":1,\"e\u{301}\":2}", false),
    ])
    func `two members of one name are refused at any depth and in any spelling`(text: String, isDuplicate: Bool) {
        for reader in Reader.allCases {
            #expect(reader.error(Array(text.utf8)) == (isDuplicate ? .duplicateMember : nil), "\(reader)")
        }
    }

    /// Below and above the number of members from which names are sorted rather than compared pairwise.
    @Test(arguments: [1, 2, 23, 24, 25, 26, 100, 1000])
    func `a duplicate is found among few members and many`(count: Int) {
        let names = (0..<count).map { "\"name\($0)\":\($0)" }
        for reader in Reader.allCases {
            #expect(reader.accepts("{" + names.joined(separator: ",") + "}"), "\(reader)")
            for index in [0, count / 2, count - 1] {
                let twin = ["\"name\(index)\":0"]
                for text in [names + twin, twin + names] {
                    let text = Array(("{" + text.joined(separator: ",") + "}").utf8)
                    #expect(reader.error(text) == .duplicateMember, "\(reader), \(index)")
                }
            }
        }
    }

    @Test func `arrays and objects nest 64 deep and no deeper`() {
        func nested(_ arrays: Int) -> [UInt8] {
            Array(
                ("{\"a\":" + String(repeating: "[", count: arrays) + String(repeating: "]", count: arrays) + "}").utf8)
        }
        func nestedObjects(_ objects: Int) -> [UInt8] {
            Array(
                (String(repeating: "{\"a\":", count: objects - 1) + "{" + String(repeating: "}", count: objects)).utf8)
        }
        for reader in Reader.allCases {
            #expect(reader.accepts(nested(63)), "\(reader)")
            #expect(reader.accepts(nestedObjects(64)), "\(reader)")
            for deep in [64, 65, 2000, 2049, 100_000] {
                #expect(reader.error(nested(deep)) == .tooDeep, "\(reader), \(deep)")
                #expect(reader.error(nestedObjects(deep + 1)) == .tooDeep, "\(reader), \(deep)")
            }
        }
    }

    @Test func `breadth is not depth`() {
        let wide = "{\"a\":[" + String(repeating: "[{}],", count: 500) + "[]],\"b\":{\"c\":[]}}"
        for reader in Reader.allCases { #expect(reader.accepts(wide), "\(reader)") }
    }

    @Test func `long texts are read or refused all the same`() {
        let spaces = String(repeating: " ", count: 100_000)
        let digits = String(repeating: "7", count: 60_000)
        for reader in Reader.allCases {
            #expect(reader.accepts(spaces + "{" + spaces + "}" + spaces), "\(reader)")
            #expect(!reader.accepts(spaces), "\(reader)")
            #expect(!reader.accepts("{\"a\":\(digits)e\(digits)}"), "\(reader)")
            #expect(reader.accepts("{\"a\":0.\(digits)}"), "\(reader)")
        }
    }

    /// The only difference between the readers.
    @Test(arguments: ["9223372036854775808", "-9223372036854775809", "18446744073709551615", "123456789012345678901"])
    func `an integer beyond 64 bits is refused by jansson, and by the other where it is read`(number: String) throws {
        let text = Array("{\"a\":\(number),\"b\":1}".utf8)
        #expect(Reader.tree.error(text) == .numberOutOfRange)
        let object = try JSONObject(text)
        #expect(object["a"]?.kind == .integer)
        #expect(object["a"]?.integer == nil)
        #expect(object["a"]?.double == Double(number))
        #expect(object["b"]?.integer == 1)
    }
}
