@testable import HTTP

extension RequestHead {
    /// A request's head as a connection would parse it; `nil` if the connection would reject it.
    init?(_ method: String, _ path: String, _ fields: KeyValuePairs<String, String> = [:]) {
        let lines = ["\(method) \(path) HTTP/1.0"] + fields.map { "\($0): \($1)" } + ["", ""]
        var parser = HeadParser(maximumLength: 16 * 1024)
        guard let parsed = try? parser.parse(Array(lines.joined(separator: "\r\n").utf8).span) else { return nil }
        self = parsed.head
    }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
    /// Exactly these fields.
    init(_ fields: [(name: String, value: String)]) {
        var head: [UInt8] = []
        let lines = fields.map { name, value in
            let start = head.count
            head += Array((name + value).utf8)
            let end = start + name.utf8.count
            return FieldLine(name: start..<end, value: end..<head.count)
        }
        self.init(lines, of: head)
    }

    public init(dictionaryLiteral fields: (String, String)...) { self.init(fields) }
}
