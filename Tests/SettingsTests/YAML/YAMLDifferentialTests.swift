import Bytes
import Foundation
import Settings
import Testing
import TestSupport
import Yams

/// Real texts and thousands of generated ones: whatever is read here, libyaml must read the same way.
@Suite struct YAMLDifferentialTests {
    /// The YAML files of this repository.
    private static func files() throws -> [String] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let names = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: "deploy").path)
        // Templates of a chart become YAML only when it is rendered.
        let paths = names.filter { $0.hasSuffix(".yaml") && !$0.contains("/templates/") }.sorted().map {
            "deploy/" + $0
        }
        return try (["openapi.yaml"] + paths).flatMap { path in
            // Settings are one document; Kubernetes reads several from a file.
            try String(contentsOf: root.appending(path: path), encoding: .utf8).split(separator: "\n---\n").map(
                String.init)
        }
    }

    private static let written: [String] = [
        """
        service: { listen: "127.0.0.1:8081" }   # or "unix:/run/assay/assay.sock"
        admin:   { listen: "[::1]:9091" }
        keys: { stale_for: 36h }
        limits:
          max_body: 128KiB
          max_connections: 20000
        api_keys:
          - 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae
        providers:
          - id: apple
            audiences: [com.example.app, com.example.web]
          - id: oidc.example
            issuer: https://auth.example.com
            nonce: { match: [plain, sha256_base64url], required: true }
            network:
              allow_http: true
              allow_addresses: ["10.0.0.0/8", "::1", 192.0.2.7]

        """,
        "---\na:\n- b\n- c: d\n  e:\n  - f\n  -\n  g: ~\n- - h\n  - 'i'\n...\n",
        "a: [\n  b, # one\n  {c: d, \"e\":f},\n  [],\n]\ng: {\n h,\n i: ,\n}\n",
        "{\"a\":\"b\\u00e9\\n\",\"c\":[1,-2.5e3,true,null,{}],\"d\":{\"e\":[]}}",
        "a: 'it''s # : no'\nb: \"\\\"\\\\\\x41\\t\"\nc: http://d/#e\nf: -g\nh: ::1\n'i j' : k l\t# m\n",
        "a:\r\n  b: c\r\n\r\n  d:\r\n  - e\r\n",
        "# 1\n\na:   # 2\n  # 3\n  b: c\n# 4\n  d: e # 5\n",
        "-\n  - a\n-\n  b:\n     c: d\n  e: f\n-\n",
        "? a\n: b\n", "c: &d e\nf: *d\n", "- &a b\n- *a\n- c: *a\n", "g: !!str h\n", "i: |\n  j\n  k\nl: m\n",
        "l: >-\n  m\n n: o p\n", "n: o p\n  q\n", "%YAML 1.1\n---\na: b\n", "---\nc: d\n---\ne: f", "c: 'd\n  e'\n",
        "- \"a\n\n  b\"\n", "[-, a]\n", "{a: -}#c\n", "a: b\n...\n", "[a,\n\tb]\n",
        "[a: b, c, ? d, [e]: f, -]#g\n", "a: \"b\\0\"\n", "- [a]#b\n- 'c'#d\n", "a: [b]\n...\n# c\n",
    ]

    /// Inserted by mutations: indicators and their surroundings.
    private static let pieces = [
        " ", "  ", "\t", "\n", "\r\n", "\r", "\n  ", "\n    ", "\n- ", "\n  - ", "\na: ", "\n  b: ", "\n\t", "\n\n",
        "- ", "-",
        ":", ": ", " :", ", ", ",", "[", "]", "{", "}", "[]", "{}", "[a", "{a: b}", "{a", "a: ", "b: c\n", "?", "? ",
        "#", " #",
        "# c\n", "&a ", "*a", "!", "!!str ", "|", ">", "|\n  a\n", "'", "''", "\"", "\\", "\\\"", "\\n", "\\x41",
        "\\u0041",
        "\\U0001F600", "\\0", "%", "@", "`", "~", "null", "---", "--- ", "\n---\n", "...", "\n...\n", "<<: ", "=", "é",
        "😀",
        "\u{85}", "\u{2028}", "\u{feff}", "\u{a0}", "\u{0}", "\u{7f}", "x", "-1", "::1", "a b", "a:b", "a#b", "'a b'",
        "\"a b\"",
    ]

    private static func mutated(_ texts: [String], _ generator: inout SplitMix64) -> String {
        // Only some lines of a text, so that mutations are more likely to matter.
        var lines = texts.randomElement(using: &generator)!.split(separator: "\n", omittingEmptySubsequences: false)
        lines = Array(lines.dropFirst(Int.random(in: 0..<max(lines.count - 8, 1), using: &generator)).prefix(12))
        var text = Array(lines.joined(separator: "\n").unicodeScalars)
        for _ in 0..<Int.random(in: 0...3, using: &generator) where !text.isEmpty {
            let at = Int.random(in: 0..<text.count, using: &generator)
            let end = min(text.count, at + Int.random(in: 1...8, using: &generator))
            let piece = Array(pieces.randomElement(using: &generator)!.unicodeScalars)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: text.removeSubrange(at..<end)
            case 1: text.insert(contentsOf: Array(text[at..<end]), at: at)
            case 2: text.replaceSubrange(at..<end, with: piece)
            case 3: text.remove(at: at)
            case 4:
                // Change the indentation.
                let starts = text.indices.filter { $0 == 0 || text[$0 - 1] == "\n" }
                let start = starts.randomElement(using: &generator)!
                if text[start] == " ", Bool.random(using: &generator) {
                    text.remove(at: start)
                } else {
                    text.insert(" ", at: start)
                }
            default: text.insert(contentsOf: piece, at: at)
            }
        }
        var mutant = ""
        mutant.unicodeScalars.append(contentsOf: text)
        return mutant
    }

    /// The result of reading a text.
    private enum Outcome {
        case same
        case refusedByBoth
        case refusedHere(YAMLError.Feature)
        case different(String)
    }

    private static func outcome(_ text: String) -> Outcome {
        let theirs = judged(text)
        do throws(YAMLError) {
            let ours = Shown(try YAMLReader.read(text), lines: true)
            guard let theirs else { return .different("\(ours), and not YAML for libyaml") }
            return ours == theirs ? .same : .different("\(ours), by libyaml \(theirs)")
        } catch {
            guard let theirs else { return .refusedByBoth }
            switch error.reason {
            case .unsupported(let feature): return .refusedHere(feature)
            case .malformed, .duplicateKey: return .different("line \(error.line): \(error), by libyaml \(theirs)")
            }
        }
    }

    /// The result of libyaml; `nil` if it rejects the text.
    private static func judged(_ text: String) -> Shown? {
        // Yams passes a byte order mark to libyaml as an extra column of the first line.
        let content = text.unicodeScalars.first == "\u{feff}" ? String(text.unicodeScalars.dropFirst()) : text
        do {
            return Shown(try Yams.compose(yaml: content).map { try shown($0) } ?? "null")
        } catch {
            return nil
        }
    }

    private static func shown(_ node: Node) throws -> String {
        if node.null != nil { return "null" }
        let content: String
        switch node {
        case .scalar(let scalar): content = Shown.quoted(scalar.string)
        case .sequence(let elements):
            content = "[\(try elements.map { try shown($0) }.joined(separator: ","))]"
        case .mapping(let members):
            // Yams also distinguishes keys by type.
            let names = members.compactMap(\.key.scalar?.string)
            guard Set(names).count == names.count else { throw KeyTwice() }
            let pairs = try members.map { "\(try key($0.key)):\(try shown($0.value))" }
            content = "{\(pairs.joined(separator: ","))}"
        case .alias: content = "an alias"
        }
        return "\(content)@\(node.mark?.line ?? 0)"
    }

    private struct KeyTwice: Error {}

    private static func key(_ node: Node) throws -> String {
        try node.scalar.map { "\(Shown.quoted($0.string))@\(node.mark?.line ?? 0)" } ?? shown(node)
    }

    @Test func `the repository's own files are read as libyaml reads them, or refused for their blocks of text`() throws
    {
        let files = try Self.files()
        #expect(files.count > 5)
        for file in files {
            switch Self.outcome(file) {
            case .same, .refusedHere(.blockScalar), .refusedHere(.continuation), .refusedHere(.anchor): break
            case let outcome: Issue.record("\(outcome)")
            }
        }
        #expect(files.contains { (try? YAMLReader.read($0))??["providers"] != nil })
    }

    @Test func `whatever is read here is read the same by libyaml, and what is not is refused by its name`() throws {
        var generator = SplitMix64(seed: 1234)
        var scribe = YAMLScribe(seed: 2009)
        let texts = try Self.files() + Self.written + Self.written
        var same = 0
        var both = 0
        var refused: [YAMLError.Feature: Int] = [:]
        for round in 0..<20_000 {
            // Every other text is close to a valid one.
            let seeds = round.isMultiple(of: 2) ? texts : [scribe.document()]
            let text = Self.mutated(seeds, &generator)
            switch Self.outcome(text) {
            case .same: same += 1
            case .refusedByBoth: both += 1
            case .refusedHere(let feature): refused[feature, default: 0] += 1
            case .different(let what): try #require(Bool(false), "round \(round): \(text.debugDescription): \(what)")
            }
        }
        print("\(same) texts read the same, \(both) refused by both")
        for (feature, count) in refused.sorted(by: { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }) {
            print("\(count) that libyaml reads refused here: \(feature.rawValue)")
        }
        // Otherwise, the mutations are too wild or too tame to be useful.
        #expect((4_000...16_000).contains(same), "\(same) the same")
        #expect(both > 2_000, "\(both) refused by both")
        // Limits need larger texts, and an alias is rejected before its expansion.
        let expected = Set(YAMLError.Feature.allCases).subtracting([.depth, .size, .longKey, .alias])
        #expect(expected.isSubset(of: refused.keys), "never seen: \(expected.subtracting(refused.keys))")
    }

    @Test func `whatever good documents look like, they are read, and read the same by libyaml`() throws {
        var scribe = YAMLScribe(seed: 1998)
        for round in 0..<5_000 {
            let text = scribe.document()
            let outcome = Self.outcome(text)
            guard case .same = outcome else {
                try #require(Bool(false), "round \(round): \(text.debugDescription): \(outcome)")
                return
            }
        }
    }
}
