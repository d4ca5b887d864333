/// However bytes are split into pieces, the same requests or the same error result. Every request is within its limits,
/// is framed unambiguously, and is read the same when written in plain form.
func fuzz(_ input: [UInt8]) {
    // After a line feed, the preceding line is complete. Before that, its error may be detected at different points.
    let input = input + [UInt8(ascii: "\n")]
    // Many heads exceed the lower limit. Under the higher limit, a head may have too many fields.
    for maximumHeader in [90, 500] { check(input, maximumHeader) }
}

private func check(_ input: [UInt8], _ maximumHeader: Int) {
    let whole = Reading(of: input, in: [0..<input.count], maximumHeader)
    for request in whole.requests { check(request, in: input, maximumHeader) }

    let one = Reading(of: input, in: input.indices.map { $0..<($0 + 1) }, maximumHeader)
    require(one == whole, "\(shown(input)) is read the same in single bytes: \(one), \(whole)")
    var draw = Draw(from: input)
    for longest in [3, 20, input.count, input.count] {
        var pieces: [Range<Int>] = []
        while pieces.last?.upperBound ?? 0 < input.count {
            let start = pieces.last?.upperBound ?? 0
            pieces.append(start..<min(input.count, start + 1 + draw.number(below: longest)))
        }
        let cut = Reading(of: input, in: pieces, maximumHeader)
        require(cut == whole, "\(shown(input)) is read the same in pieces: \(pieces): \(cut), \(whole)")
    }
}

private let bodyLimit = 40

/// The result of reading some bytes.
private struct Reading: Equatable {
    var requests: [Request] = []
    var fault: HTTPFault?
    /// How many bytes of an incomplete request were consumed.
    var taken = 0

    struct Request {
        let head: RequestHead
        let body: [UInt8]
        /// The ranges of head and body.
        let headRange: Range<Int>
        let bodyRange: Range<Int>
    }

    /// - Parameter pieces: consecutive ranges of the bytes.
    init(of bytes: [UInt8], in pieces: [Range<Int>], _ maximumHeader: Int) {
        var reader = RequestReader(maximumHeader: maximumHeader)
        var position = 0
        var head: (RequestHead, Range<Int>)?
        for piece in pieces {
            while position < piece.upperBound || head != nil {
                do throws(HTTPFault) {
                    let (step, count) = try reader.next(
                        bytes.span.extracting(position..<piece.upperBound), bodyLimit: bodyLimit)
                    require(count <= piece.upperBound - position, "no more is taken than is there")
                    require(reader.heldBytes <= bodyLimit, "no more is held than may be")
                    position += count
                    guard let step else {
                        // A chunk size may have 16 digits and a carriage return in addition to the limited bytes.
                        require(piece.upperBound - position <= maximumHeader + 17, "no more is waited for than may be")
                        break
                    }
                    switch step {
                    case .head(let next):
                        require(head == nil, "a head comes once")
                        head = (next, (position - count)..<position)
                    case .end(let body):
                        require(head != nil, "a body comes behind a head")
                        guard let (read, range) = head.take() else { return }
                        requests.append(
                            Request(head: read, body: body, headRange: range, bodyRange: range.upperBound..<position))
                    }
                } catch {
                    fault = error
                    return
                }
            }
        }
        taken = head?.1.upperBound ?? position
    }
}

extension Reading.Request: Equatable {
    fileprivate static func == (one: Self, other: Self) -> Bool {
        one.head.method == other.head.method && one.head.path.bytes == other.head.path.bytes && one.body == other.body
            && one.headRange == other.headRange && one.bodyRange == other.bodyRange
            && one.head.framing.body == other.head.framing.body && one.head.isHTTP10 == other.head.isHTTP10
            && one.head.framing.closes == other.head.framing.closes
            && one.head.framing.expectsContinue == other.head.framing.expectsContinue
    }
}

/// Checks a request against its bytes, without the parser under test.
private func check(_ request: Reading.Request, in input: [UInt8], _ maximumHeader: Int) {
    let text = input[request.headRange]
    let head = request.head
    require(text.count <= maximumHeader, "the head of \(shown(text)) is within its limit")
    require(text.suffix(4) == Array("\r\n\r\n".utf8)[...], "the head of \(shown(text)) ends where it ends")
    let lines = lines(of: text)
    let fields = lines.dropFirst()
    require(fields.count <= 100, "\(shown(text)) has a hundred fields at most")
    for line in lines {
        require(line.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }, "\(shown(line)) has no control character")
    }
    for line in fields {
        require(line.contains(UInt8(ascii: ":")), "\(shown(line)) has a colon")
        require(line.first.map { $0 > 0x20 } ?? false, "\(shown(line)) is not folded")
    }
    check(values(of: "host", in: fields), head)
    let method = lines.first?.prefix { $0 != UInt8(ascii: " ") } ?? []
    require(
        head.method == .other ? (1...32).contains(method.count) : method.elementsEqual(head.method.rawValue.utf8),
        "\(shown(text)) has its method")
    require(head.path.bytes.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "?") }, "\(head.path.string)")

    let lengths = values(of: "content-length", in: fields)
    let codings = values(of: "transfer-encoding", in: fields)
    require(lengths.count + codings.count <= 1, "\(shown(text)) says once where the body ends")
    require(codings.isEmpty || !head.isHTTP10, "\(shown(text)) has no coding that its version does not know")
    require(request.body.count <= bodyLimit, "the body of \(shown(text)) is within its limit")
    if codings.isEmpty {
        require(input[request.bodyRange] == request.body[...], "the body of \(shown(text)) is as it was sent")
        require(Int(lengths.first ?? "0") == request.body.count, "the body of \(shown(text)) is as long as it says")
    } else {
        require(codings == ["chunked"], "\(shown(text)) has the one coding that there is")
        require(dechunked(input[request.bodyRange]) == request.body, "the chunks behind \(shown(text)) are that body")
    }
    let closes = values(of: "connection", in: fields).joined(separator: ",").split { ", \t".contains($0) }
    require(!head.framing.closes || closes.contains("close"), "\(shown(text)) wants the connection closed")
    checkWriting(request)
}

private func check(_ hosts: [String], _ head: RequestHead) {
    require(hosts.count == 1 || head.isHTTP10 && hosts.isEmpty, "there is one host: \(hosts)")
    for host in hosts {
        require(host.utf8.allSatisfy { $0 > 0x20 && !#"/?#@\"<>"#.utf8.contains($0) }, "\(host) could be a host")
    }
}

/// A request rebuilt from only the parsed values is read the same.
private func checkWriting(_ request: Reading.Request) {
    let path = request.head.path
    var target = path.string
    if !target.hasPrefix("/"), target != "*", request.head.method != .connect { target = "http://h" + target }
    let method = request.head.method == .other ? "PROPFIND" : request.head.method.rawValue
    let text = "\(method) \(target) HTTP/1.1\r\nHost: h\r\nContent-Length: \(request.body.count)\r\n\r\n"
    let bytes = text.utf8 + request.body
    let again = Reading(of: bytes, in: [0..<bytes.count], text.utf8.count)
    require(again.requests.count == 1 && again.fault == nil, "\(shown(bytes)) is read again")
    require(again.requests.first?.head.path.string == path.string, "\(shown(bytes)) has the same path")
    require(again.requests.first?.body == request.body, "\(shown(bytes)) has the same body")
}

/// The lines of a head, without surrounding blank lines.
private func lines(of head: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var lines = head.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    require(lines.popLast()?.isEmpty == true, "a head ends with a line's end")
    for index in lines.indices { require(lines[index].popLast() == UInt8(ascii: "\r"), "a line ends with CR LF") }
    lines = Array(lines.drop { $0.isEmpty })
    require(lines.popLast()?.isEmpty == true, "a head ends with a blank line")
    require(!lines.contains { $0.isEmpty }, "a head ends with its first blank line")
    return lines
}

private func values(of name: String, in fields: ArraySlice<ArraySlice<UInt8>>) -> [String] {
    fields.compactMap { line in
        let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, lowercased(parts[0]) == name else { return nil }
        let value = parts[1].drop { $0 == 0x20 || $0 == 0x09 }.reversed().drop { $0 == 0x20 || $0 == 0x09 }
        return lowercased(value.reversed())
    }
}

/// Octets as text with one character each, so that none are combined; ASCII letters in lower case.
private func lowercased(_ octets: some Collection<UInt8>) -> String {
    var text = ""
    for octet in octets {
        text.unicodeScalars.append(Unicode.Scalar((0x41...0x5a).contains(octet) ? octet + 32 : octet))
    }
    return text
}

/// Decodes chunks that are known to be valid.
private func dechunked(_ chunks: ArraySlice<UInt8>) -> [UInt8] {
    var rest = chunks
    var body: [UInt8] = []
    while true {
        let digits = rest.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: ";") }
        guard let size = Int(lowercased(digits), radix: 16) else { return [UInt8(ascii: "?")] }
        rest = rest.drop { $0 != UInt8(ascii: "\n") }.dropFirst()
        if size == 0 { break }
        body += rest.prefix(size)
        rest = rest.dropFirst(size)
        require(rest.starts(with: [0x0d, 0x0a]), "a chunk ends with a line's end")
        rest = rest.dropFirst(2)
    }
    // Trailers, and the blank line after them.
    require(rest.starts(with: [0x0d, 0x0a]) ? rest.count == 2 : rest.suffix(4) == [13, 10, 13, 10], "chunks end once")
    return body
}
