/// Replies do not depend on how their octets are split, each has only one encoding, and none exceeds the limits.
func fuzz(_ input: [UInt8]) {
    let whole = read(input, in: [input.count])
    require(read(input, in: Array(repeating: 1, count: input.count)) == whole, "replies are the same octet by octet")
    let cut = input.first.map { Int($0) % (input.count + 1) } ?? 0
    require(read(input, in: [cut, input.count - cut]) == whole, "replies are the same in two parts")
    let written = whole.replies.flatMap(octets)
    require(input.starts(with: written), "replies are written as they were read")
}

private struct Reading: Equatable {
    var replies: [RESPReply] = []
    var isRefused = false
}

private func read(_ input: [UInt8], in lengths: [Int]) -> Reading {
    var reader = RESPReader()
    var reading = Reading()
    var start = 0
    do throws(RESPError) {
        for length in lengths {
            reader.append(input[start..<(start + length)])
            start += length
            while let reply = try reader.next() { reading.replies.append(reply) }
        }
    } catch {
        reading.isRefused = true
    }
    return reading
}

private func octets(of reply: RESPReply) -> [UInt8] {
    switch reply {
    case .simple(let line): Array("+".utf8) + line + [0x0d, 0x0a]
    case .error(let line): Array("-".utf8) + line + [0x0d, 0x0a]
    case .integer(let number): Array(":\(number)\r\n".utf8)
    case .bulk(let text): Array("$\(text.count)\r\n".utf8) + text + [0x0d, 0x0a]
    case .null: Array("$-1\r\n".utf8)
    case .array(let texts): Array("*\(texts.count)\r\n".utf8) + texts.flatMap { octets(of: .bulk($0)) }
    }
}
