import Bytes
@testable import HTTP
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing
import TestSupport

/// Mutated requests. NIO's decoder must read the same requests, so that a proxy in front of the service can't see
/// others.
@Suite struct DifferentialTests {
    private static let seeds: [String] = [
        get("/a"), "GET /a?b=c HTTP/1.0\r\n\r\n", "GET http://h:80/a?b HTTP/1.1\r\nHost: h:80\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: [::1]:80\r\nX: \t a b\t \r\nx:\r\n\r\n",
        "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n", "VERSION-CONTROL /a HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: h\r\nConnection: x, close\r\n\r\n",
        "GET /a HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nHost: h\r\n\r\n",
        post("/v1/verify", "Content-Type: application/json\r\nContent-Length: 16", #"{"id_token":"a"}"#),
        post("/a", "Content-Length: 0") + get("/b"), post("/a", "Content-Length:5\t", "hello"),
        post("/a", "Content-Length: 31", get("/inside")) + get("/b"),
        post("/a", "Expect: 100-continue\r\nContent-Length: 2", "ok"),
        post("/a", "Transfer-Encoding: chunked", "3\r\nhel\r\n02\r\nlo\r\n0\r\n\r\n") + get("/b"),
        post("/a", "Transfer-Encoding: chunked", "5;b;c=d;e=\"f\"\r\nhello\r\n0;x\r\n\r\n") + get("/b"),
        post("/a", "Transfer-Encoding: chunked", "1f\r\n\(get("/inside"))\r\n0\r\nTrailer: x\r\ny: z\r\n\r\n"),
    ]

    /// Inserted by mutations: line ends and lookalikes, lengths, and known smuggling tricks.
    private static let pieces: [[UInt8]] =
        [
            "\r\n", "\n", "\r", "\r\n\r\n", "\n\n", "\r\n ", "\r\n\t", " ", "\t", "\u{b}", "\u{0}", "\u{7f}", ":", ";",
            ",", "/", "?", "#", "*", "=", "\"", "\\", "0", "1", "5", "f", "00", "0x5", "+5", "-1", "1f", "31",
            "2147483648", "18446744073709551615", "18446744073709551616", "FFFFFFFFFFFFFFFF", "10000000000000000",
            "Host: h\r\n", "Host: i\r\n", "Content-Length: 5\r\n", "Content-Length: 0\r\n", "Content-Length:\r\n",
            "Content-Length : 5\r\n", "Content-Length: 5, 5\r\n",
            "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: identity\r\n",
            "Transfer-Encoding: chunked, chunked\r\n", "Transfer-Encoding : chunked\r\n",
            "Transfer-Encoding:\r\n chunked\r\n", "Transfer-Encoding: \u{b}chunked\r\n", "Connection: close\r\n",
            "Connection: keep-alive\r\n", "Connection: Upgrade\r\nUpgrade: h2c\r\n", "Expect: 100-continue\r\n",
            "X: y\r\n", "HTTP/1.0", "HTTP/1.1", "HTTP/2.0", "HTTP/0.9", "HTTP/1.2", "HEAD ", "PUT ", "DELETE ",
            "TRACE ", "PATCH ", "QUERY ", "VERSION-CONTROL ", "get ", "CONNECT ", "http://", "0\r\n\r\n",
            "5\r\nhello\r\n", get("/smuggled"),
        ].map { Array($0.utf8) } + [[0x80], [0xff], [0xc2, 0xa0], [0x8a], [0x8d]]

    private static func mutated(_ generator: inout SplitMix64) -> [UInt8] {
        var bytes = Array(seeds.randomElement(using: &generator)!.utf8)
        for _ in 0..<Int.random(in: 1...2, using: &generator) where !bytes.isEmpty {
            let at = Int.random(in: 0..<bytes.count, using: &generator)
            let end = min(bytes.count, at + Int.random(in: 1...12, using: &generator))
            switch Int.random(in: 0..<9, using: &generator) {
            case 0: bytes[at] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 2: bytes.removeSubrange(at..<end)
            case 3: bytes.insert(contentsOf: Array(bytes[at..<end]), at: at)
            case 4: bytes.replaceSubrange(at..<end, with: pieces.randomElement(using: &generator)!)
            case 5: bytes.insert(contentsOf: pieces.randomElement(using: &generator)!, at: at)
            case 6, 7:
                // The starts of lines, where a piece can become a field, a chunk, or a request.
                let starts = bytes.indices.filter { $0 > 0 && bytes[$0 - 1] == UInt8(ascii: "\n") }
                let start = starts.randomElement(using: &generator) ?? 0
                bytes.insert(contentsOf: pieces.randomElement(using: &generator)!, at: start)
            default:
                let other = Array(seeds.randomElement(using: &generator)!.utf8)
                bytes = Array(bytes.prefix(at)) + other[Int.random(in: 0..<other.count, using: &generator)...]
            }
        }
        return bytes
    }

    /// Accepted reasons for NIO's decoder to stop earlier.
    private enum Allowance: String, CaseIterable {
        case upgrade = "takes what follows an upgrade for another protocol, where a server may pass the upgrade over"
        case method = "does not know all methods"
        case scheme = "knows no scheme with anything but letters in it"
        case tab = "takes no tab for white space behind a length or a coding"

        /// Why it stopped before this request; `nil` if the bytes show none of these reasons.
        init?(before request: Reading.Request, in bytes: [UInt8]) {
            let text = text(bytes).lowercased()
            if text.contains("upgrade:") {
                self = .upgrade
            } else if request.method == RequestMethod.other.rawValue {
                self = .method
            } else if let end = text.firstRange(of: "://")?.lowerBound,
                text[..<end].reversed().prefix(while: { $0 != " " }).contains(where: { !$0.isLetter })
            {
                self = .scheme
            } else if text.contains("\t\r\n") {
                self = .tab
            } else {
                return nil
            }
        }
    }

    @Test func `whatever is read here is read the same by NIO's decoder`() throws {
        var generator = SplitMix64(seed: 7230)
        var requests = 0
        var refused = 0
        var allowed: [Allowance: Int] = [:]
        for round in 0..<12_000 {
            let bytes = Self.mutated(&generator)
            let reading = Reading(bytes)
            let ours = reading.requests.map(NIOReading.Request.init)
            let theirs = NIOReading(bytes).requests
            let shown = "round \(round): \(text(bytes).debugDescription): \(reading); by NIO \(theirs)"
            try #require(theirs.starts(with: ours) || ours.starts(with: theirs), "\(shown)")
            if theirs.count < ours.count {
                let reason = try #require(Allowance(before: reading.requests[theirs.count], in: bytes), "\(shown)")
                allowed[reason, default: 0] += 1
            }
            requests += ours.count
            if theirs.count > ours.count { refused += 1 }
        }
        print("\(requests) requests read; in \(refused) texts NIO's decoder reads what is refused here")
        for (reason, count) in allowed.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            print("in \(count) texts it \(reason.rawValue)")
        }
        // Otherwise, the mutations are too wild or too tame to be useful.
        #expect((1_000...12_000).contains(requests), "\(requests) requests")
        #expect(refused > 300, "\(refused) refused")
    }
}

/// The requests that NIO's decoder reads.
private struct NIOReading {
    private(set) var requests: [Request] = []

    struct Request: Equatable, CustomStringConvertible {
        let method: String
        let path: String
        let body: [UInt8]

        var description: String { "\(method) \(path) \(text(body).debugDescription)" }
    }

    init(_ bytes: [UInt8]) {
        let channel = EmbeddedChannel(handler: ByteToMessageHandler(HTTPRequestDecoder()))
        // Requests before an error count.
        _ = try? channel.writeInbound(ByteBuffer(bytes: bytes))
        var head: HTTPRequestHead?
        var body: [UInt8] = []
        while let part = try? channel.readInbound(as: HTTPServerRequestPart.self) {
            switch part {
            case .head(let next): (head, body) = (next, [])
            case .body(let piece): body += piece.readableBytesView
            case .end:
                guard let head else { continue }
                let path = Self.path(ofTarget: head.uri, head.method)
                let method = RequestMethod(Array(head.method.rawValue.utf8).span) ?? .other
                requests.append(Request(method: method.rawValue, path: path, body: body))
            }
        }
        _ = try? channel.finish(acceptAlreadyClosed: true)
    }

    /// The path of a target, determined without the parser under test.
    private static func path(ofTarget target: String, _ method: HTTPMethod) -> String {
        guard !target.hasPrefix("/"), method != .CONNECT, let authority = target.firstRange(of: "://") else {
            return String(target.prefix { $0 != "?" })
        }
        return String(target[authority.upperBound...].prefix { $0 != "?" }.drop { $0 != "/" })
    }
}

extension NIOReading.Request {
    init(_ request: Reading.Request) {
        // After the head of CONNECT, this reader sees content and NIO another protocol; nothing behind it is read.
        let body = request.method == "CONNECT" ? [] : request.body
        self.init(method: request.method, path: request.path, body: body)
    }
}
