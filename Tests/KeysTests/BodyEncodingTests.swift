import HTTP
import Keys
import Testing
import TestSupport

/// Compressed response bodies.
@Suite struct BodyEncodingTests {
    private static let body = Array(#"{"keys":[]}"#.utf8)

    private func fetch(
        _ body: [UInt8], _ encoding: String, _ change: (inout NetworkRules) -> Void = { _ in }
    ) async throws -> [UInt8] {
        let fetcher = DocumentFetcher.onLoopback(change)
        let answer = RawServer.response(body, ["Content-Encoding: \(encoding)"])
        return try await RawServer.run(answering: { _ in answer }) { server async throws in
            try await fetcher.fetch(server.address("/")).body
        }
    }

    private func failure(
        _ body: [UInt8], _ encoding: String, _ change: (inout NetworkRules) -> Void = { _ in }
    ) async throws -> FetchFailure {
        try #require(
            await #expect(throws: FetchFailure.self, "\(encoding)") { try await fetch(body, encoding, change) })
    }

    // MARK: Accepted encodings

    @Test(arguments: ["gzip", "GZIP", "Gzip", " gzip "])
    func `gzip is read`(encoding: String) async throws {
        #expect(try await fetch(Packed.gzip(Self.body), encoding) == Self.body)
    }

    @Test(arguments: ["deflate", "Deflate"])
    func `deflate is read`(encoding: String) async throws {
        #expect(try await fetch(Packed.zlib(Self.body), encoding) == Self.body)
    }

    @Test func `a body that is much smaller on the wire is read`() async throws {
        let packed = Packed.gzip(Self.body, spaces: 1000)
        #expect(packed.count < 2000)
        let unpacked = try await fetch(packed, "gzip")
        #expect(unpacked.count == Self.body.count + 258_001)
        #expect(unpacked.starts(with: Self.body))
    }

    @Test func `a compressed body of exactly the limit is read, and one byte more is not`() async throws {
        let size = Self.body.count + 1 + 258
        let packed = Packed.gzip(Self.body, spaces: 1)
        #expect(try await fetch(packed, "gzip") { $0.maximumBody = size }.count == size)
        let failure = try await failure(packed, "gzip") { $0.maximumBody = size - 1 }
        #expect(failure == FetchFailure(.http, "the body is larger than \(size - 1) bytes"))
    }

    @Test func `a compressed document's lifetime and validators are read like another's`() async throws {
        let answer = RawServer.response(
            Packed.gzip(Self.body), ["Content-Encoding: gzip", "Cache-Control: max-age=600", "ETag: \"v1\""])
        try await RawServer.run(answering: { head in
            head.contains("If-None-Match: \"v1\"") ? .bytes("HTTP/1.1 304 Not Modified\r\n\r\n") : answer
        }) { server async throws in
            let fetcher = DocumentFetcher.onLoopback()
            let first = try await fetcher.fetch(server.address("/"))
            #expect(first.lifetime == .seconds(600))
            let second = try await fetcher.fetch(server.address("/"), .revalidate, known: first)
            #expect(second.isNotModified)
            #expect(second.body == Self.body)
        }
    }

    // MARK: Rejected bodies

    @Test func `a bomb is refused before it has gone off`() async throws {
        // 600 KiB in 4 KiB, and 10 MiB in 65 KiB.
        for spaces in [2400, 40_000] {
            let failure = try await failure(Packed.gzip(Self.body, spaces: spaces, isBomb: true), "gzip")
            #expect(failure == FetchFailure(.http, "the body is larger than 524288 bytes"))
        }
    }

    @Test(arguments: [
        "br", "zstd", "compress", "x-gzip", "gzip, gzip", "gzip, identity", "identity, gzip", "gzip, br",
        "deflate, gzip",
        "gzip;q=1", "x", "identity, identity", "chunked", "gzip, chunked",
    ])
    func `a body that was packed in another way, or twice, is not looked into`(encoding: String) async throws {
        let failure = try await failure(Packed.gzip(Packed.gzip(Self.body)), encoding)
        #expect(failure == FetchFailure(.http, "the body has a Content-Encoding that was not requested"))
    }

    @Test func `encodings in two fields are two encodings`() async throws {
        let answer = RawServer.response(
            Packed.gzip(Packed.gzip(Self.body)), ["Content-Encoding: gzip", "Content-Encoding: gzip"])
        try await RawServer.run(answering: { _ in answer }) { server async throws in
            let failure = await #expect(throws: FetchFailure.self) {
                try await DocumentFetcher.onLoopback().fetch(server.address("/"))
            }
            #expect(failure == FetchFailure(.http, "the body has a Content-Encoding that was not requested"))
        }
    }

    private static let good = Packed.gzip(body)
    private static let damaged: [(String, [UInt8])] = [
        ("nothing", []), ("no gzip", body), ("gzip's head alone", Array(good.prefix(10))),
        ("cut short", good.dropLast()),
        ("without its end", Array(good.dropLast(8))), ("half", Array(good.prefix(good.count / 2))),
        ("a wrong checksum", good.flippingBit((good.count - 8) * 8)),
        ("a wrong length", good.flippingBit((good.count - 1) * 8)),
        ("a wrong method", good.flippingBit(16)), ("something behind it", good + body),
        ("one byte behind it", good + [0]),
    ]

    @Test(arguments: damaged.indices)
    func `a damaged body is refused, whatever could be read of it`(index: Int) async throws {
        let (what, body) = Self.damaged[index]
        let failure = try await failure(body, "gzip")
        #expect(failure == FetchFailure(.http, "the compressed body is damaged"), "\(what)")
    }

    @Test func `a body that is not what it is said to be is damaged`() async throws {
        let message = "the compressed body is damaged"
        // The format is detected from the first octets, so either may be labeled as the other.
        #expect(try await fetch(Packed.zlib(Self.body), "gzip") == Self.body)
        #expect(try await failure(Self.body, "deflate").message == message)
        let badSum = Packed.zlib(Self.body).flippingBit((Packed.zlib(Self.body).count - 1) * 8)
        #expect(try await failure(badSum, "deflate").message == message)
    }

    @Test func `what is said to be plain is taken as it is`() async throws {
        #expect(try await fetch(Self.good, "identity") == Self.good)
    }
}
