@testable import Settings
import Testing

@Suite struct YAMLRefusalTests {
    @Test(
        arguments: [
            ("a: &b c\n", .anchor, 1), ("&a b: c\n", .anchor, 1), ("- a\n- &b\n", .anchor, 2), ("[&a b]", .anchor, 1),
            ("a: b\nc: *d\n", .alias, 2), ("[*]", .alias, 1), ("*a : b", .alias, 1),
            ("a: !!str b\n", .tag, 1), ("!a\nb: c\n", .tag, 1), ("- ! a", .tag, 1),
            ("%YAML 1.2\n---\na: b\n", .directive, 1), ("# a\n%TAG ! a\n---\n", .directive, 2),
            ("a: b\n---\nc: d\n", .severalDocuments, 2), ("---\n---\n", .severalDocuments, 2),
            ("a: b\n...\nc: d\n", .severalDocuments, 3), ("a\n... b", .severalDocuments, 2),
            ("a\n---", .severalDocuments, 2),
            ("a:\n- b\n...\n...\n", .severalDocuments, 4),
            ("? a\n: b\n", .complexKey, 1), ("a: b\n? c\n", .complexKey, 2), ("[a, b]: c\n", .complexKey, 1),
            ("a: b\n{c: d}: e\n", .complexKey, 2), ("{[a]: b}", .complexKey, 1), ("{{}, a: b}", .complexKey, 1),
            ("{? a : b}", .complexKey, 1), (": a\n", .complexKey, 1), ("{: a}", .complexKey, 1),
            ("[::1]", .complexKey, 1),
            ("[a: b]", .pairInSequence, 1), ("[a, 'b':c]", .pairInSequence, 1), ("[[a]: b]", .pairInSequence, 1),
            ("a: |\n  b\n", .blockScalar, 1), ("- >-\n  a\n", .blockScalar, 1), ("a: >b", .blockScalar, 1),
            ("-\n>\n- a\n", .blockScalar, 2),
            ("a: 'b\n  c'\n", .openQuote, 1), ("a:\n- \"b\n\n  c\"", .openQuote, 2), ("\"a\\\n  b\"", .openQuote, 1),
            ("a: b\n  c\n", .continuation, 2), ("- a\n b\n", .continuation, 2), ("a\nb\n", .continuation, 2),
            ("a: b\n  c: d\n", .continuation, 2), ("a:\n  b\n  c\n", .continuation, 3), ("[a\n b]", .continuation, 2),
            ("{a: b\n c: d}", .continuation, 2), ("a:\n    b: c\n  d: e\n", .continuation, 3),
            ("- a:\n - b\n", .continuation, 2),
            ("a:\n\tb: c\n", .tab, 2), ("a: b\n\t\n", .tab, 2), ("\ta: b", .tab, 1), ("-\ta", .tab, 1),
            ("- \t- a", .tab, 1),
            ("a: [\n\tb]", .tab, 2), ("a:\n  \tb", .tab, 2),
            ("[a]#b", .commentWithoutSpace, 1), ("a: 'b'#c", .commentWithoutSpace, 1),
            ("{a: b,#c\n}", .commentWithoutSpace, 1),
            ("[-]", .hyphen, 1), ("[a, -, b]", .hyphen, 1), ("{a: -}", .hyphen, 1),
            ("a: b\u{85}", .lineBreak, 1), ("a: b\n# \u{2028}\n", .lineBreak, 2), ("a: 'b\u{2029}'", .lineBreak, 1),
            ("a: \u{feff}b", .lineBreak, 1), ("\u{feff}\u{feff}a: b", .lineBreak, 1), ("\r\n\r\u{85}", .lineBreak, 3),
            (#"a: "\0""#, .nul, 1), (#"a: "\x00""#, .nul, 1), (#"a: "\U00000000""#, .nul, 1),
        ] as [(String, YAMLError.Feature, Int)])
    func `unsupported features are rejected by name and line`(text: String, feature: YAMLError.Feature, line: Int) {
        #expect(refusal(text) == YAMLError(line: line, reason: .unsupported(feature)))
    }

    @Test(
        arguments: [
            ("a: b: c\n", 1), ("...", 1), ("# a\n...\nb", 2), ("a: 'b' c\n", 1), ("a: [b] c\n", 1), ("a: [b]: c", 1),
            ("'a''", 1),
            ("a: - b\n", 1), ("--- - a", 1), ("--- a: b", 1), ("a: b\n- c\n", 2), ("- a\nb: c\n", 2),
            ("a:\n  b: c\n- d\n", 3),
            ("a: b\nc\n", 2), ("a: b\n'c'\n", 2), ("a: b\nc:d\n", 2), ("a: 1\n]", 2),
            ("a: [\n", 1), ("\n\n[a,\n b", 3), ("{a: b\n---\n}", 1), ("[a\n...\n]", 1), ("{", 1), ("{a:", 1),
            ("[a}", 1), ("{a]", 1), ("[,]", 1), ("[a,,b]", 1), ("{a: b,,}", 1), ("[a b, 'c' d]", 1), ("{a: b: c}", 1),
            ("a]", nil), ("]", 1), ("a: }", 1), ("a: ,b", 1), ("[a:]", 1), ("{a:}", 1), ("{a:[b]}", 1), ("[- a]", 1),
            ("[-\n]", 1),
            ("[|]", 1), ("[>a]", 1), ("a: @b", 1), ("a: `b", 1), ("a: %b", 1), ("[%]", 1),
            ("a: 'b\n", 1), ("a: \"b\n\n", 1), ("a: \"\\", 1), ("\"\\\"", 1),
            (#"a: "\q""#, 1), (#"a: "\x4""#, 1), (#"a: "\u00g0""#, 1), (#"a: "\ud800""#, 1), (#"a: "\ud83d\ude00""#, 1),
            (#"a: "\U00110000""#, 1), (#"a: "\UFFFFFFFF""#, 1), (#"a: "\u+041""#, 1), (#"a: "\'""#, 1),
            ("a: \u{0}", 1), ("\n# \u{1}", 2), ("a: \u{7f}", 1), ("a: \u{9f}", 1), ("a: \u{fffe}", 1), ("\u{1b}", 1),
        ] as [(String, Int?)])
    func `text that is not YAML is rejected with its line`(text: String, line: Int?) {
        let error = refusal(text)
        #expect(error?.line == line)
        if let error, case .malformed = error.reason { return }
        #expect(error == nil, "\(text) is no YAML")
    }

    @Test(arguments: [
        ("a: 1\nb: 2\na: 3\n", "a", 3), ("{a: 1, 'a': 2}", "a", 1), ("- a:\n  \"\\x61\":\n", "a", 2),
        ("e\u{301}: 1\n\u{e9}: 2", "\u{e9}", 2), ("{a, a}", "a", 1), ("1: a\n'1': b", "1", 2),
    ])
    func `a key is there once in its mapping`(text: String, name: String, line: Int) {
        #expect(refusal(text) == YAMLError(line: line, reason: .duplicateKey(name)))
        #expect(refusal("{a: {a: {a: b}}, b: [{a: b}, {a: b}]}") == nil)
    }

    // MARK: Bounds

    @Test func `collections are nested up to 64 deep`() {
        let kinds: [(String, String)] = [("[", "]"), ("{a: ", "}"), ("- ", "")]
        for (opening, closing) in kinds {
            func text(_ depth: Int) -> String {
                String(repeating: opening, count: depth) + "b" + String(repeating: closing, count: depth)
            }
            #expect(refusal(text(64)) == nil)
            #expect(refusal(text(65)) == YAMLError(line: 1, reason: .unsupported(.depth)))
            #expect(refusal(text(50_000))?.reason == .unsupported(.depth))
        }
        func steps(_ depth: Int) -> String {
            (0..<depth).map { String(repeating: " ", count: $0) + "a:\n" }.joined()
        }
        #expect(refusal(steps(64)) == nil)
        #expect(refusal(steps(65)) == YAMLError(line: 65, reason: .unsupported(.depth)))
        // Closed collections don't count towards the depth.
        #expect(refusal("[" + String(repeating: "[], {a: []}, ", count: 100) + "]") == nil)
    }

    @Test func `a key has 1024 bytes up to its colon`() {
        let name = String(repeating: "k", count: 1024)
        for text in ["\(name): a", "{\(name): a}", "{\(name)}", "a: b\n\(name): c", "'\(name.dropLast(2))': a"] {
            #expect(refusal(text) == nil)
        }
        for text in ["\(name)k: a", "{\(name)k: a}", "\(name) : a", "'\(name.dropLast())': a"] {
            #expect(refusal(text) == YAMLError(line: 1, reason: .unsupported(.longKey)))
        }
        #expect(refusal("- " + String(repeating: "v", count: 100_000)) == nil)
    }

    @Test func `a text has one mebibyte`() {
        let text = "a: " + String(repeating: "b", count: 1024 * 1024 - 3)
        #expect(refusal(text) == nil)
        #expect(refusal(text + "b") == YAMLError(line: 1, reason: .unsupported(.size)))
        // The limit counts bytes, not characters.
        #expect(refusal("a: " + String(repeating: "é", count: 512 * 1024))?.reason == .unsupported(.size))
    }

    @Test func `an error has words, and nothing of a value`() {
        #expect(refusal("a: *secret")?.description.hasPrefix("an alias can't be used in settings") == true)
        #expect(refusal("a: b\na: secret")?.description == "duplicate key a")
        #expect(refusal("a: 'secret")?.description == "the file is not YAML: a quote is never closed")
    }
}
