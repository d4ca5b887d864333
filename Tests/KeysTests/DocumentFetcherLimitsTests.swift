import HTTP
import Keys
import Testing

/// Limits for the time of a response, and for its size apart from the body.
@Suite struct DocumentFetcherLimitsTests {
    // MARK: Time

    @Test(arguments: [
        RawServer.Answer.silence, .bytes("HTTP/1.1 200 OK\r\nContent-Len"),
        .bytes("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"),
    ])
    func `an answer that does not come is given up in time`(answer: RawServer.Answer) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        let failure = try await DocumentFetcher.failure(answer) { $0.totalTimeout = Interval(milliseconds: 300) }
        #expect(failure.phase == .http)
        #expect(clock.now - start >= .milliseconds(290))
    }

    @Test func `redirects share one time-out`() async throws {
        let failure = try await DocumentFetcher.failure(
            .bytes("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")
        ) {
            $0.totalTimeout = Interval(milliseconds: 300)
            $0.maximumRedirects = 1_000_000
        }
        #expect(failure == FetchFailure(.http, "no complete response within 1 s"))
    }

    @Test func `a server that falls silent is given up sooner than one that is slow`() async throws {
        // On a busy machine, the head may be late too.
        let messages = [
            "the server accepted the connection, but did not answer in time",
            "the server stopped in the middle of its answer",
        ]
        for answer in [
            RawServer.Answer.silence, .bytes("HTTP/1.1 200 OK\r\n"),
            .bytes("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"),
        ] {
            let failure = try await DocumentFetcher.failure(answer) { $0.idleTimeout = Interval(milliseconds: 100) }
            #expect(failure.phase == .http)
            #expect(messages.contains(where: failure.message.hasPrefix), "\(failure.message)")
        }
    }

    private static let drip = RawServer.Answer.forever(
        "1\r\nx\r\n", before: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")

    @Test func `a body that comes more slowly than the least rate is not waited for`() async throws {
        let failure = try await DocumentFetcher.failure(Self.drip) {
            // No response arrives faster than this.
            $0.minimumRate = 1 << 40
            $0.minimumRateAfter = .seconds(0)
        }
        #expect(failure == FetchFailure(.http, "the body arrives more slowly than 1099511627776 bytes a second"))
    }

    @Test func `the rate is looked at after a while only`() async throws {
        let chunks = (0..<1000).map { _ in "1\r\nx\r\n" }.joined() + "0\r\n\r\n"
        let answer = RawServer.Answer.bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
        let body = try await DocumentFetcher.fetch(answer) {
            $0.minimumRate = 1 << 40
            $0.minimumRateAfter = .seconds(30)
        }.body
        #expect(body.count == 1000)
        #expect(
            try await DocumentFetcher.fetch(answer) {
                $0.minimumRate = 1
                $0.minimumRateAfter = .seconds(0)
            }.body.count == 1000)
    }

    // MARK: Heads and trailers

    private func limit(_ rules: inout NetworkRules) {
        rules.maximumBody = 10_000
        rules.maximumOverhead = 5000
    }

    @Test(arguments: [
        ("HTTP/1.1 100 Continue\r\n\r\n", ""), ("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", ""),
        ("1\r\nx\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        ("X: y\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"),
    ])
    func `an answer that has no end in some other way has one too`(text: String, start: String) async throws {
        let failure = try await DocumentFetcher.failure(.forever(text, before: start), limit)
        // The HTTP library has its own limits for the head and for trailers.
        let limits = [
            FetchFailure(.http, "the response is larger than 15000 bytes in total"),
            FetchFailure(.http, "the body is larger than 10000 bytes"),
        ]
        #expect(limits.contains(failure) || failure.message.hasPrefix("the answer is not HTTP"), "\(failure.message)")
    }

    @Test func `interim answers and trailers within the limit are passed over`() async throws {
        let interim = String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: 20)
        let final = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: y\r\n\r\n"
        #expect(try await DocumentFetcher.fetch(.bytes(interim + final), limit).body == Array("{}".utf8))
    }

    @Test func `a body of exactly its limit has room for its head`() async throws {
        let body = String(repeating: "x", count: 10_000)
        #expect(try await DocumentFetcher.fetch(.bytes(RawServer.response(body, ["X: y"])), limit).body.count == 10_000)
    }
}
