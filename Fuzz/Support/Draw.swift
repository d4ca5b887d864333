/// Random numbers seeded by all octets of an input, so that equal inputs yield equal draws.
///
/// Most of libFuzzer's mutations break a text's syntax before they change its meaning. Draws yield values that are
/// close to valid instead.
struct Draw {
    private var state: UInt64

    init(from input: [UInt8]) {
        // FNV-1a.
        state = input.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    mutating func number(below limit: Int) -> Int {
        // A linear congruential generator. Its upper bits are the best.
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % limit
    }

    mutating func element<Element>(of elements: [Element]) -> Element { elements[number(below: elements.count)] }

    /// A JSON object with up to three members removed or replaced by values of any type.
    ///
    /// - Parameters:
    ///   - members: names, and values as JSON text.
    ///   - values: additional values to draw from.
    mutating func object(near members: KeyValuePairs<String, String>, values: [String] = []) -> [UInt8] {
        var members = members.map { (name: $0, value: $1 as String?) }
        for _ in 0...number(below: 3) {
            members[number(below: members.count)].value = element(of: Self.values + values.map { $0 })
        }
        let written = members.compactMap { member in member.value.map { #""\#(member.name)":\#($0)"# } }
        return Array(("{" + written.joined(separator: ",") + "}").utf8)
    }

    private static let values: [String?] = [
        nil, "null", "true", "false", "0", "1", "-1", "2", "1.5", "-0.0", "1e3", "1e300", "-1e300",
        "9223372036854775807", "9223372036854775808", "-9223372036854775809", "9007199254740993",
        #""""#, #"" ""#, #""a""#, #""true""#,
        #""\u0001""#, #""\u0000""#, #""\ud83d\ude00""#, #""e\u0301""#, #""\#(String(repeating: "é", count: 256))""#,
        "[]", "[null]", "[[]]", #"[""]"#, #"["a","b"]"#, "{}", #"{"a":{}}"#,
    ]
}
