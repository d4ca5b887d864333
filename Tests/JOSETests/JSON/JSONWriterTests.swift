import Bytes
import JOSE
import Testing
import TestSupport

@Suite struct JSONWriterTests {
    private func written(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return text(writer.bytes)
    }

    @Test func `commas stand between members and between elements, and nowhere else`() {
        let json = written {
            $0.beginObject()
            $0.name("a")
            $0.beginArray()
            $0.endArray()
            $0.name("b")
            $0.beginObject()
            $0.endObject()
            $0.name("c")
            $0.beginArray()
            $0.value("x")
            $0.null()
            $0.value(true)
            $0.value(false)
            $0.value(7 as Int64)
            $0.beginObject()
            $0.name("d")
            $0.value(nil as String?)
            $0.name(escaping: "e\"")
            $0.value(nil as Int64?)
            $0.name("f")
            $0.value(nil as Bool?)
            $0.endObject()
            $0.raw(Array("[1e3]".utf8)[...])
            $0.beginArray()
            $0.endArray()
            $0.endArray()
            $0.name("g")
            $0.raw(Array("{}".utf8)[...])
            $0.endObject()
        }
        #expect(
            json == #"{"a":[],"b":{},"c":["x",null,true,false,7,{"d":null,"e\"":null,"f":null},[1e3],[]],"g":{}}"#)
    }

    @Test(
        arguments: [
            (0, "0"), (7, "7"), (-7, "-7"), (10, "10"), (1_700_000_000, "1700000000"), (.max, "9223372036854775807"),
            (999_999_999_999_999_999, "999999999999999999"), (1_000_000_000_000_000_000, "1000000000000000000"),
            (.min, "-9223372036854775808"), (.min + 1, "-9223372036854775807"),
        ] as [(Int64, String)])
    func `integers are written to the digit`(integer: Int64, expected: String) {
        #expect(written { $0.value(integer) } == expected)
    }

    @Test(arguments: [
        ("", #""""#), ("a", #""a""#), ("\"", #""\"""#), ("\\", #""\\""#), ("/", #""/""#), ("\n\r\t", #""\n\r\t""#),
        ("\u{0}\u{1}\u{8}\u{c}\u{1f}", #""\u0000\u0001\u0008\u000c\u001f""#), ("\u{7f}é€😀", "\"\u{7f}é€😀\""),
        ("</script>\u{2028}", "\"</script>\u{2028}\""),
    ])
    func `strings are escaped where JSON says so`(string: String, expected: String) {
        #expect(written { $0.value(string) } == expected)
        #expect(
            written {
                $0.beginObject()
                $0.name(escaping: string)
                $0.null()
                $0.endObject()
            } == "{\(expected):null}")
    }

    @Test func `a character is escaped or not wherever it stands`() throws {
        for length in 1...40 {
            for place in 0..<length {
                for (character, expected) in [
                    ("\"", "\\\""), ("\\", "\\\\"), ("\u{1f}", "\\u001f"), (" ", " "), ("\u{7f}", "\u{7f}"),
                ] {
                    let (before, after) = (
                        String(repeating: "a", count: place), String(repeating: "~", count: length - place - 1)
                    )
                    #expect(written { $0.value(before + character + after) } == "\"\(before)\(expected)\(after)\"")
                }
            }
        }
    }

    @Test func `every character comes back from both readers`() throws {
        for start in stride(from: 1, to: 0x11_0000, by: 0x400) {
            let scalars = (start..<(start + 0x400)).compactMap(Unicode.Scalar.init)
            var string = String.UnicodeScalarView()
            string.append(contentsOf: scalars)
            let expected = String(string)
            let json = Array(
                written {
                    $0.beginObject()
                    $0.name("x")
                    $0.value(expected)
                    $0.endObject()
                }.utf8)
            let inPlace = try JSONObject(json)["x"]?.utf8?.elementsEqual(expected.utf8)
            let tree = try JSONTree(readingObject: json).object?["x"]?.string?.utf8.elementsEqual(expected.utf8)
            #expect(inPlace == true && tree == true, "from U+\(String(start, radix: 16))")
        }
    }

    /// A random tree, at most five levels deep.
    private func tree(_ generator: inout SplitMix64, depth: Int = 0) -> JSONTree {
        func string(_ generator: inout SplitMix64) -> String {
            let alphabet: [Character] = ["a", "b", "\"", "\\", "/", "\n", "\u{1}", "é", "😀", "\u{2028}", "ß"]
            return String(
                (0..<Int.random(in: 0..<8, using: &generator)).map { _ in alphabet.randomElement(using: &generator)! })
        }
        switch Int.random(in: 0..<(depth < 5 ? 8 : 6), using: &generator) {
        case 0: return .null
        case 1: return .bool(.random(using: &generator))
        case 2: return .integer(Int64(bitPattern: generator.next()))
        case 3: return .integer(.random(in: -9...9, using: &generator))
        case 4:
            let real = Double(bitPattern: generator.next())
            return .real(real.isFinite ? real : 0.1)
        case 5: return .string(string(&generator))
        case 6:
            return .array(
                (0..<Int.random(in: 0..<5, using: &generator)).map { _ in tree(&generator, depth: depth + 1) })
        default:
            var members: [String: JSONTree] = [:]
            for _ in 0..<Int.random(in: 0..<5, using: &generator) {
                members[string(&generator)] = tree(&generator, depth: depth + 1)
            }
            return .object(members)
        }
    }

    @Test func `a line ends within the writer's memory`() {
        var writer = JSONWriter(reservingCapacity: 4)
        writer.raw([0x31])
        writer.raw([0x31, 0x32])
        #expect(writer.count == 4 && writer.capacity == 4)
        writer.endLine()
        #expect(writer.count == 5 && writer.capacity >= 5)
        #expect(text(writer.bytes) == "1,12\n")
    }

    @Test func `what is written is read again, by both readers, unchanged`() throws {
        var generator = SplitMix64(seed: 20_241)
        for round in 0..<500 {
            let original = JSONTree.object(["tree": tree(&generator)])
            let json = Array(written { $0.value(original) }.utf8)
            #expect(try JSONTree(readingObject: json) == original, "round \(round)")
            #expect(try JSONObject(json).equals(original.object ?? [:]), "round \(round)")
        }
    }
}
