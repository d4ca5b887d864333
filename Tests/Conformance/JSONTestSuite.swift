import JOSE
import Testing
import TestSupport

/// nst/JSONTestSuite: `y_` files are valid, `n_` files are invalid, `i_` files are implementation-defined.
@Suite struct JSONTestSuite {
    /// Valid JSON that is ambiguous, or that a C string would truncate: rejected on purpose.
    private static let stricter: Set = [
        "y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json", "y_object_escaped_null_in_key.json",
        "y_string_null_escape.json",
    ]

    /// The implementation-defined texts that are accepted. The others are not UTF-8, have a lone surrogate or a BOM,
    /// are too deep, or exceed a double.
    private static let decidedToRead: Set = ["i_number_double_huge_neg_exp.json", "i_number_real_underflow.json"]

    /// Read in place unless the number is requested; rejected by jansson.
    private static let beyond64Bits: Set = ["i_number_too_big_neg_int.json", "i_number_very_big_negative_int.json"]

    private func isRead(_ text: [UInt8]) -> (inPlace: Bool, tree: Bool) {
        ((try? JSONObject(text)) != nil, (try? JSONTree(readingObject: text)) != nil)
    }

    private func files() throws -> [String] {
        try Vectors.names(in: "json-test-suite").filter { $0.hasSuffix(".json") }
    }

    @Test func `as the value of a member, each text is read or refused as its name says`() throws {
        var counts: [String: Int] = [:]
        for name in try files() {
            let text = try Array(#"{"x":"#.utf8) + Vectors.octets("json-test-suite/\(name)") + Array("}".utf8)
            let (inPlace, tree) = isRead(text)
            let expected =
                switch name.first {
                case "y": !Self.stricter.contains(name)
                case "i": Self.decidedToRead.contains(name) || Self.beyond64Bits.contains(name)
                default: false
                }
            #expect(inPlace == expected, "\(name), in place")
            #expect(tree == (expected && !Self.beyond64Bits.contains(name)), "\(name), by jansson")
            counts["\(name.prefix(1))_ \(expected ? "read" : "refused")", default: 0] += 1
        }
        #expect(counts == ["y_ read": 59, "y_ refused": 4, "n_ refused": 125, "i_ read": 4, "i_ refused": 20])
        try VectorResults(source: "JSONTestSuite, as values", cases: 212, stricter: Self.stricter.count).record()
    }

    @Test func `as a document, each text is refused unless it is an object`() throws {
        var counts = (read: 0, refused: 0, stricter: 0)
        for name in try files() {
            let text = try Vectors.octets("json-test-suite/\(name)")
            let isObject = text.first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) } == UInt8(ascii: "{")
            let expected = name.hasPrefix("y_") && isObject && !Self.stricter.contains(name)
            let (inPlace, tree) = isRead(text)
            #expect(inPlace == expected, "\(name), in place")
            #expect(tree == expected, "\(name), by jansson")
            if expected { counts.read += 1 } else { counts.refused += 1 }
            if !expected, name.hasPrefix("y_") { counts.stricter += 1 }
        }
        #expect(counts.read + counts.refused == 212)
        try VectorResults(source: "JSONTestSuite, as documents", cases: 212, stricter: counts.stricter).record()
    }

    @Test func `what both read, they read alike`() throws {
        for name in try files() {
            let text = try Array(#"{"x":"#.utf8) + Vectors.octets("json-test-suite/\(name)") + Array("}".utf8)
            guard let object = try? JSONObject(text), let tree = try? JSONTree(readingObject: text) else { continue }
            // Serialized again, to compare texts: the writer sorts members.
            var writer = JSONWriter()
            writer.value(tree)
            let again = try JSONObject(writer.bytes)
            #expect(object["x"]?.kind == again["x"]?.kind, "\(name)")
            #expect(object["x"]?.string == again["x"]?.string, "\(name)")
            #expect(object["x"]?.integer == again["x"]?.integer, "\(name)")
            #expect(object["x"]?.double == again["x"]?.double, "\(name)")
            #expect(object["x"]?.elements?.map(\.kind) == again["x"]?.elements?.map(\.kind), "\(name)")
            #expect(object["x"]?.elements?.map(\.string) == again["x"]?.elements?.map(\.string), "\(name)")
            #expect(object["x"]?.object?.count == again["x"]?.object?.count, "\(name)")
        }
    }
}
