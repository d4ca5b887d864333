import HTTP
import JOSE
@testable import Keys
import NIOHTTP1
import Testing
import TestSupport

@Suite struct InspectionReportTests {
    private static let now: Int64 = 1_700_000_000

    /// The response header of a request that was sent at ``now`` and answered two seconds later.
    private static func header(dated offset: Int64, age: String? = nil) -> FetchedHeader {
        var headers: HTTPHeaders = ["Date": HTTPDate.text(unixSeconds: now + offset)]
        if let age { headers.add(name: "Age", value: age) }
        return FetchedHeader(CachingFields(headers), askedFor: now...(now + 2))
    }

    @Test(arguments: [(-1, -1), (0, 0), (1, 0), (2, 0), (3, 1), (-100, -100), (102, 100)] as [(Int64, Int64)])
    func `clocks agree where the date may have been that of the answer`(date: Int64, offset: Int64) {
        #expect(Self.header(dated: date).clockOffsetSeconds == offset)
    }

    @Test(arguments: [("1800", 0), ("1799", -1), ("1803", 1), ("-5", -1800), ("x", -1800)] as [(String, Int64)])
    func `an answer from a cache is as old as it says`(age: String, offset: Int64) {
        #expect(Self.header(dated: -1800, age: age).clockOffsetSeconds == offset)
    }

    @Test func `a provider that does not know of its TLS proxy is told so, whatever shows it`() {
        let advice =
            "the provider does not know that its clients use https, probably because a TLS proxy is in front of it"
        var report = InspectionReport(unixSeconds: Self.now)
        let failure = FetchFailure(.parse, "x")
        report.addRefusal(
            failure, ofDiscovery: Array(#"{"issuer":"http://op.example/a"}"#.utf8),
            configuredIssuer: "https://op.example/a")
        #expect(
            report.findings.first?.message
                .hasPrefix(#"the document names the issuer "http://op.example/a": \#(advice)"#) == true)
        report = InspectionReport(unixSeconds: Self.now)
        report.addRefusal(
            failure, ofDiscovery: Array(#"{"issuer":"http://op.example/b"}"#.utf8),
            configuredIssuer: "https://op.example/a")
        #expect(report.findings.first?.message.contains("compared byte for byte") == true)
    }

    @Test(arguments: [(true, Finding.Subject.dns), (false, .keys)])
    func `an address is at fault only once its host was resolved`(hasResolved: Bool, subject: Finding.Subject) {
        var report = InspectionReport(unixSeconds: Self.now)
        report.add(FetchFailure(.address, "x"), on: .keys, from: "http://a.example", hasResolved: hasResolved)
        #expect(report.findings.map(\.subject) == [subject])
    }

    @Test func `without a date there is nothing to compare`() {
        for headers in [[:], ["Date": "now"]] as [HTTPHeaders] {
            let header = FetchedHeader(CachingFields(headers), askedFor: Self.now...Self.now)
            #expect(header.clockOffsetSeconds == nil)
        }
    }

    @Test(
        arguments: [
            (5, 60, .ok), (6, 60, .warning), (-6, 60, .warning), (60, 60, .warning), (61, 60, .failure),
            (-61, 60, .failure), (0, 0, .ok), (1, 0, .failure), (3, 2, .failure), (2, 2, .ok),
        ] as [(Int64, Int64, Finding.Level)])
    func `an offset is looked at from six seconds on, and too much beyond the clock skew`(
        offset: Int64, skew: Int64, level: Finding.Level
    ) {
        var report = InspectionReport(unixSeconds: Self.now)
        let date = offset > 0 ? offset + 2 : offset
        report.add([.answered(Self.header(dated: date))], fetchedFrom: "https://op.example")
        report.addClock(clockSkewSeconds: skew)
        #expect(report.findings.map(\.subject) == [.clock])
        #expect(report.findings.map(\.level) == [level])
    }

    @Test func `the clock that is furthest off counts`() {
        var report = InspectionReport(unixSeconds: Self.now)
        for date in [0, -20, 10] as [Int64] {
            report.add([.answered(Self.header(dated: date))], fetchedFrom: "https://op.example")
        }
        report.addClock(clockSkewSeconds: 60)
        #expect(report.findings.map(\.message).first?.contains("20 s behind") == true)
    }

    @Test(arguments: [(7 * 86400, .ok), (7 * 86400 - 1, .warning)] as [(Int64, Finding.Level)])
    func `a certificate that ends within a week is a warning`(left: Int64, level: Finding.Level) {
        var report = InspectionReport(unixSeconds: Self.now)
        report.add([.secured(expiresAtUnixSeconds: Self.now + left)], fetchedFrom: "https://op.example")
        #expect(report.findings.map(\.level) == [level])
    }

    @Test func `what two fetches have in common is told once`() {
        var report = InspectionReport(unixSeconds: Self.now)
        let resolved = FetchEvent.resolved(
            host: "op.example", allowed: ["192.0.2.1", "2001:db8::1"], refused: ["10.0.0.1"])
        for _ in 0..<2 { report.add([resolved], fetchedFrom: "https://op.example") }
        #expect(report.findings.map(\.level) == [.ok, .warning])
    }

    @Test(arguments: [
        (
            #"{"a":\#(json(.string(TestKey.rsa.certificate()))),"b":9223372036854775808}"#,
            [
                #"the key "b" can't be used: it is not a PEM certificate of an RSA or EC key"#,
                "1 of 2 keys can verify tokens: ",
            ]
        ),
        ("[]", ["the key set: the certificates are not one JSON object"]),
        ("{}", ["the key set: the key set holds no key that can verify a signature: it is empty"]),
    ])
    func `an inspection of certificates finds what a fetch finds`(document: String, findings: [String]) async throws {
        try await RawServer.run(answering: { _ in .bytes(RawServer.response(document)) }) { server async throws in
            let inspection = ProviderInspection(
                keys: .network(.certificates(address: server.address("/"))), algorithms: nil, clockSkewSeconds: 60,
                documents: .onLoopback(unixSeconds: { Self.now }))
            let found = await inspection.findings().findings.filter { $0.subject == .keys }.map(\.message)
            #expect(found.count == findings.count)
            #expect(zip(found, findings).allSatisfy { $0.hasPrefix($1) }, "\(found)")
        }
    }
}
