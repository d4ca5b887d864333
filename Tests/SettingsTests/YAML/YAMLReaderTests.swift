import Settings
import Testing

@Suite struct YAMLReaderTests {
    private func read(_ text: String) throws -> String { try Shown(YAMLReader.read(text)).description }

    // MARK: Blocks

    @Test(arguments: [
        ("a: b", #"{"a":"b"}"#),
        ("a: b\nc: d\n", #"{"a":"b","c":"d"}"#),
        ("a:\n  b: c\n  d: e\nf: g\n", #"{"a":{"b":"c","d":"e"},"f":"g"}"#),
        ("a:\n    b:\n     c: d\ne: f", #"{"a":{"b":{"c":"d"}},"e":"f"}"#),
        ("  a: b\n  c: d\n", #"{"a":"b","c":"d"}"#),
        ("a :   b  \nc\t:\td\t\n", #"{"a":"b","c":"d"}"#),
        ("\"a b\": c\n'd': e\n", #"{"a b":"c","d":"e"}"#),
        ("a b: c d\n", #"{"a b":"c d"}"#),
        ("<<: a\n=: b\nnull: c\n", #"{"<<":"a","=":"b","null":"c"}"#),
        ("a:\n  b\nc:\n  'd'\n", #"{"a":"b","c":"d"}"#),
        ("a:\n  [b]\nc:\n  {d: e}\n", #"{"a":["b"],"c":{"d":"e"}}"#),
    ])
    func `mappings are held together by their indentation`(text: String, tree: String) throws {
        #expect(try read(text) == tree)
    }

    @Test(arguments: [
        ("- a\n- b\n", #"["a","b"]"#),
        ("-   a\n-\n  b\n", #"["a","b"]"#),
        ("- - a\n  - b\n- c\n", #"[["a","b"],"c"]"#),
        ("-\n  - a\n-\n  -\n    - b", #"[["a"],[["b"]]]"#),
        ("a:\n  - b\n  - c\nd: e\n", #"{"a":["b","c"],"d":"e"}"#),
        ("a:\n- b\n- c\nd: e\n", #"{"a":["b","c"],"d":"e"}"#),
        ("- a: b\n  c: d\n- e: f\n", #"[{"a":"b","c":"d"},{"e":"f"}]"#),
        ("-   a: b\n    c: d\n", #"[{"a":"b","c":"d"}]"#),
        ("- a:\n  - b\n  c: d\n", #"[{"a":["b"],"c":"d"}]"#),
        ("- - a: b\n    c:\n    - d\n", #"[[{"a":"b","c":["d"]}]]"#),
        ("a:\n-\n- b\n-\nc:\n", #"{"a":[null,"b",null],"c":null}"#),
        ("-\n-", "[null,null]"),
        ("- [a]\n- {b: c}\n", #"[["a"],{"b":"c"}]"#),
    ])
    func `sequences stand deeper than their key or right below it`(text: String, tree: String) throws {
        #expect(try read(text) == tree)
    }

    @Test(arguments: [
        ("a:\nb: ~\nc: null\nd: Null\ne: NULL\n", #"{"a":null,"b":null,"c":null,"d":null,"e":null}"#),
        ("a: ''\nb: \"\"\nc: '~'\nd: \"null\"\ne: nuLL\n", #"{"a":"","b":"","c":"~","d":"null","e":"nuLL"}"#),
        ("{a, b: , c: }", #"{"a":null,"b":null,"c":null}"#),
        ("[~, null, '']", #"[null,null,""]"#),
        ("a:\n\n\nb:   # nothing\n", #"{"a":null,"b":null}"#),
    ])
    func `nothing is null, and an empty text is none`(text: String, tree: String) throws {
        #expect(try read(text) == tree)
    }

    // MARK: Flow

    @Test(arguments: [
        ("[]", "[]"), ("{}", "{}"), ("[ ]", "[]"), ("{\n}", "{}"),
        ("[a, b]", #"["a","b"]"#), ("[a,b,]", #"["a","b"]"#), ("[ a , b , ]", #"["a","b"]"#),
        ("{a: b, c: d,}", #"{"a":"b","c":"d"}"#),
        ("{\"a\":b, 'c':d, e:f}", #"{"a":"b","c":"d","e:f":null}"#),
        ("{\"a\":\"b\",\"c\":[1,2.5,true,null]}", #"{"a":"b","c":["1","2.5","true",null]}"#),
        ("{\"a\" : b, c : d, e :f}", #"{"a":"b","c":"d","e :f":null}"#),
        ("[[a], [[]], {b: [c, {d: e}]}]", #"[["a"],[[]],{"b":["c",{"d":"e"}]}]"#),
        ("[a b, -c, -1, a-b, a - b]", #"["a b","-c","-1","a-b","a - b"]"#),
        ("[a:b, http://c/, 1:2:3, a#b, a?]", #"["a:b","http://c/","1:2:3","a#b","a?"]"#),
        (
            "a: [\n  b,  # one\n  c\n]\nd: {\n  e: f,\n\n  g:\n   h\n  }\ni: j",
            #"{"a":["b","c"],"d":{"e":"f","g":"h"},"i":"j"}"#
        ),
        ("a: [b\n,c\n,]", #"{"a":["b","c"]}"#),
        ("a: [b,\tc\t]\t# d", #"{"a":["b","c"]}"#),
    ])
    func `collections in brackets are where they end, on whatever line`(text: String, tree: String) throws {
        #expect(try read(text) == tree)
    }

    // MARK: Texts

    @Test(
        arguments: [
            ("a: b c  d", "b c  d"), ("a: b#c", "b#c"), ("a: b #c", "b"), ("a: b\t#c", "b"), ("a: b:c", "b:c"),
            ("a: http://b/?c=d&e=f#g", "http://b/?c=d&e=f#g"), ("a: ::1", "::1"), ("a: :b", ":b"), ("a: ?b", "?b"),
            ("a: -b", "-b"), ("a: --b", "--b"), ("a: ---", "---"), ("a: b, c", "b, c"), ("a: b [c] {d}", "b [c] {d}"),
            ("a: 'b''c'", "b'c"), ("a: ''''", "'"), ("a: 'b \\n\" # : c'", "b \\n\" # : c"),
            ("a: \"b' # : c\"", "b' # : c"),
            ("a: \"  b\t \"", "  b\t "), ("a: b\"c'd", "b\"c'd"), ("a: é😀 ü", "é😀 ü"), ("a: yes", "yes"),
            ("a: 0o17", "0o17"),
            ("a: !", nil), ("a: b\u{a0}c", "b\u{a0}c"), ("a: \\n", "\\n"),
            ("a: b@c%d`e!f&g*h|i>j", "b@c%d`e!f&g*h|i>j"),
        ] as [(String, String?)])
    func `a text is what is written`(text: String, expected: String?) throws {
        let value = try? YAMLReader.read(text)?["a"]?.scalar?.string
        #expect(value == expected)
    }

    @Test(arguments: [
        (#"\a\b\t\n\v\f\r\e"#, "\u{7}\u{8}\t\n\u{b}\u{c}\r\u{1b}"), (#"\ \"\/\\"#, " \"/\\"),
        (#"\N\_\L\P"#, "\u{85}\u{a0}\u{2028}\u{2029}"), ("\\\t", "\t"),
        (#"\x41\xe9\xFF"#, "Aéÿ"), (#"\u00e9\u20AC\ufeff"#, "é€\u{feff}"), (#"\U0001f600\U0010FFFF"#, "😀\u{10ffff}"),
        (#"\u00410"#, "A0"), (#"\\n"#, "\\n"),
    ])
    func `escapes in double quotes are YAML's`(escaped: String, expected: String) throws {
        #expect(try YAMLReader.read("\"\(escaped)\"")?.scalar?.string == expected)
        #expect(try YAMLReader.read("{a: \"x\(escaped)\"}")?["a"]?.scalar?.string == "x" + expected)
    }

    @Test func `whether a text is in quotes is known`() throws {
        let elements = try #require(try YAMLReader.read("[a, 'a', \"a\"]")?.sequence)
        #expect(elements.map(\.scalar?.isPlain) == [true, false, false])
    }

    // MARK: Documents, lines and characters

    @Test(arguments: [
        ("", "null"), ("\n\n", "null"), ("# a\n  # b", "null"), ("---\n", "null"), ("---\n...\n", "null"),
        ("--- a", #""a""#), ("---\ta # b\n...\n# c\n", #""a""#), ("--- [a,\n b]\n", #"["a","b"]"#),
        ("# a\n---\n# b\na: b\n...\n", #"{"a":"b"}"#), ("---\n- a\n...", #"["a"]"#), ("a", #""a""#), ("'a'\n", #""a""#),
        ("---a: b", #"{"---a":"b"}"#), ("...a", #""...a""#), ("a: ...\nb: ---", #"{"a":"...","b":"---"}"#),
    ])
    func `there is one document, whether its ends are marked or not`(text: String, tree: String) throws {
        #expect(try read(text) == tree)
    }

    @Test(arguments: [
        "a:\r\n  - b\r\n\r\n  - c # d\r\ne: [f,\r\n  g]\r\n", "a:\r  - b\r\r  - c # d\re: [f,\r  g]\r",
        "\u{feff}a:\n  - b\n\n  - c # d\ne: [f,\n  g]\n",
        "# 1\na:\n# 2\n  - b\n      # 3\n  - c\n # 4\ne: [f,# 5\n# 6\n  g]\n".replacing("f,#", with: "f, #"),
    ])
    func `line ends, comments and a byte order mark change nothing`(text: String) throws {
        #expect(try read(text) == #"{"a":["b","c"],"e":["f","g"]}"#)
    }

    @Test func `everything knows its line`() throws {
        let text = "\r\n# a\r\na:\r\n  b: [\r\n   c,\r\n   d]\n\r  e:\n  - f: 'g'\n    h:\n"
        #expect(
            try Shown(YAMLReader.read(text), lines: true).description
                == #"{"a"@3:{"b"@4:["c"@5,"d"@6]@4,"e"@8:[{"f"@9:"g"@9,"h"@10:null}@9]@9}@4}@3"#)
        let nulls = try #require(try YAMLReader.read("a:\n\nb:\n-\n\n- {c:\n}\n")?.mapping)
        #expect(nulls.map(\.value.line) == [1, 4])
        #expect(nulls[1].value.sequence?.map(\.line) == [4, 6])
        #expect(nulls[1].value.sequence?[1]["c"]?.line == 6)
    }
}
