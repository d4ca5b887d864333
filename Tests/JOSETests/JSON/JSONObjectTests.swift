import JOSE
import Testing
import TestSupport

/// Reading values in place.
@Suite struct JSONObjectTests {
    private func value(_ json: String) throws -> JSONValue {
        try #require(try JSONObject(Array("{\"x\":\(json)}".utf8))["x"])
    }

    @Test func `a member is found by its name, however the text spells it`() throws {
        let object = try JSONObject(Array(#"{"a":1,"\u0062":2,"":3,"c\/d":4,"é":5,"\ud83d\ude00":6}"#.utf8))
        let found = ["a", "b", "", "c/d", "\u{e9}", "😀"].map { object[JSONName($0)]?.integer }
        #expect(found == [1, 2, 3, 4, 5, 6])
        for absent in ["A", "aa", "c\\/d", "\\u0062", " ", "e\u{301}"] {
            #expect(object[JSONName(absent)] == nil, "\(absent)")
        }
        #expect(object.count == 6)
    }

    @Test func `only the outermost members are members`() throws {
        let object = try JSONObject(Array(#"{"a":{"b":1},"c":[{"d":2}]}"#.utf8))
        #expect(object["b"] == nil)
        #expect(object["d"] == nil)
        #expect(object["a"]?.object?["b"]?.integer == 1)
        #expect(object["c"]?.elements?.first?.object?["d"]?.integer == 2)
    }

    @Test func `hasOnly allows what is missing and nothing that is more`() throws {
        let object = try JSONObject(Array(#"{"a":1,"\u0062":2}"#.utf8))
        #expect(object.hasOnly(["a", "b"]))
        #expect(object.hasOnly(["b", "c", "a"]))
        #expect(!object.hasOnly(["a"]))
        #expect(!object.hasOnly(["a", "B"]))
        #expect(!object.hasOnly([]))
        #expect(try JSONObject(Array("{}".utf8)).hasOnly([]))
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("1", 1), ("-1", -1), ("9223372036854775807", .max), ("-9223372036854775808", .min),
            ("9223372036854775808", nil), ("-9223372036854775809", nil), ("1.0", nil), ("1e0", nil), ("\"1\"", nil),
            ("true", nil), ("null", nil), ("[1]", nil), ("99999999999999999999999999999999999999999", nil),
        ] as [(String, Int64?)])
    func `an integer is one that was written as one, within 64 bits`(json: String, expected: Int64?) throws {
        #expect(try value(json).integer == expected)
    }

    @Test(
        arguments: [
            ("0", 0), ("-0.0", -0.0), ("1.5", 1.5), ("1e3", 1000), ("1E-2", 0.01), ("5e-324", .leastNonzeroMagnitude),
            ("1e-999", 0),
            ("1.7976931348623157e308", .greatestFiniteMagnitude), ("9007199254740993", 9_007_199_254_740_992),
            ("\"1\"", nil), ("false", nil),
        ] as [(String, Double?)])
    func `a double is any number`(json: String, expected: Double?) throws {
        #expect(try value(json).double?.bitPattern == expected?.bitPattern)
    }

    @Test func `kinds are told apart`() throws {
        let kinds = try ["null", "true", "false", "0", "0.0", "\"\"", "[]", "{}"].map { try value($0).kind }
        #expect(kinds == [.null, .true, .false, .integer, .real, .string, .array, .object])
        let bools = try ["null", "true", "false", "0", "\"true\""].map { try value($0).bool }
        #expect(bools == [nil, true, false, nil, nil])
    }

    @Test func `a string's escapes are resolved`() throws {
        #expect(try value(#""\"\\\/\b\f\n\r\tA\u00e9\u20AC\ud83d\ude00""#).string == "\"\\/\u{8}\u{c}\n\r\tA\u{e9}€😀")
        #expect(try value(#""plain é""#).utf8.map(Array.init) == Array("plain \u{e9}".utf8))
        #expect(try value(#""\ufffd\uffff""#).utf8.map(Array.init) == octets(hex: "efbfbd efbfbf"))
        #expect(try value("1").string == nil)
        #expect(try value("null").utf8 == nil)
    }

    @Test func `a slice that starts elsewhere reads the same`() throws {
        let text = Array(#"xx{"a":{"b":["c\n",{"d":12}]}}yy"#.utf8)
        let object = try JSONObject(text[2..<(text.count - 2)])
        let elements = try #require(object["a"]?.object?["b"]?.elements)
        #expect(elements.map(\.kind) == [.string, .object])
        #expect(elements.first?.string == "c\n")
        #expect(elements.last?.object?["d"]?.integer == 12)
    }

    @Test func `elements are those of arrays`() throws {
        #expect(try value("[]").elements?.count == 0)
        #expect(try value("[ 1 , [2] , \"3\" ]").elements?.map(\.kind) == [.integer, .array, .string])
        #expect(try value("{}").elements == nil)
        #expect(try value("\"[1]\"").elements == nil)
        #expect(try value("[{\"a\":1}]").object == nil)
    }

    @Test(arguments: [
        ("[]", 0), ("[ ]", 0), ("[1]", 1), ("[[1,2],{\"a\":[3]}]", 2), ("{}", nil), ("\"[1]\"", nil), ("null", nil),
        ("[\(String(repeating: "0,", count: 65_534))0]", 65_535),
        ("[\(String(repeating: "0,", count: 70_000))0]", 65_535),
    ])
    func `elements are counted`(text: String, count: Int?) throws {
        #expect(try value(text).elementCount == count)
    }

    @Test func `elements are read as objects in turn`() throws {
        let text = #" [ {"a":1,"d":{"a":[{"e":9}]}} ,{}, "x\"]", [{"a":2}] ,null,{"b":"c\n"}, 1.5 ,{"a":3}] "#
        let outer = try JSONObject(Array("{\"x\":\(text)}".utf8))
        let whole = try #require(outer["x"])
        var read: [String?] = []
        whole.forEachObject { object in
            read.append(
                object.map {
                    "\($0.count) \($0["a"]?.integer ?? -1) \($0["b"]?.string ?? "")\($0["d"]?.object?.count ?? 0)"
                })
        }
        #expect(read == ["2 1 1", "0 -1 0", nil, nil, nil, "1 -1 c\n0", nil, "1 3 0"])
        #expect(whole.elementCount == read.count)
        for other in ["[]", "{}", "1", "\"[{}]\""] {
            try value(other).forEachObject { _ in Issue.record("\(other)") }
        }
    }

    @Test(arguments: [
        ("null", JSONKind.null, false), ("true", .true, true), ("false", .false, true), ("0", .integer, true),
        ("0.5", .real, true), ("\"\"", .string, false), ("\" \"", .string, true), ("\"\\u0041\"", .string, true),
        ("[]", .array, true), ("{}", .object, true),
    ])
    func `a member is read as its kind and as no other`(text: String, kind: JSONKind, hasValue: Bool) throws {
        let object = try JSONObject(Array("{\"a\":\(text),\"b\":1}".utf8))
        #expect(object.kind(of: "a") == kind)
        #expect(object.hasValue("a") == hasValue)
        func read<Value>(_ isKind: Bool, _ read: () throws -> Value?) throws -> Value? {
            guard isKind else {
                #expect(throws: JSONTypeMismatch.self) { _ = try read() }
                return nil
            }
            return try read()
        }
        let bool = try read(kind == .true || kind == .false) { try object.bool("a") }
        #expect(bool == (kind == .true ? true : kind == .false ? false : nil))
        let utf8 = try read(kind == .string) { try object.utf8("a") }
        #expect(utf8.map(Array.init) == object["a"]?.string.map { Array($0.utf8) })
        #expect(try object.bool("c") == nil && object.utf8("c") == nil && object.kind(of: "c") == nil)
        #expect(!object.hasValue("c"))
    }
}
