import JOSE
@testable import Service
import Testing
import TestSupport

/// The encoding of spans as OTLP JSON.
@Suite struct OTLPTracesTests {
    private let context = SpanContext(
        traceID: TraceID(high: 0x0af7_6519_16cd_43dd, low: 0x8448_eb21_1c80_319c)!, spanID: SpanID(0xb7ad_6b71)!,
        flags: .sampled, state: "a=1")
    private let resource = TraceResource(
        serviceName: "assay \"x\"", serviceVersion: "1.2", instanceID: "i", others: [("k8s.pod.name", "p")])

    private func json(_ spans: [FinishedSpan]) -> String { text(OTLPTraces(resource: resource).json(spans)) }

    private func span(below parent: SpanContext? = nil, _ change: (inout FinishedSpan) -> Void = { _ in })
        -> FinishedSpan
    {
        var span = FinishedSpan("GET", .client, context, below: parent, from: 1_700_000_000_000_000_001, to: .max)
        change(&span)
        return span
    }

    @Test func `who they are from, and all that a span has`() {
        let parent = SpanContext(traceID: context.traceID, spanID: SpanID(1)!, flags: .sampled, isRemote: true)
        let span = span(below: parent) { span in
            span.attributes = ["b": .number(2), "a": .text("\u{1}\"")]
            (span.hasFailed, span.failureMessage) = (true, "m")
        }
        #expect(
            json([span])
                == #"{"resourceSpans":[{"resource":{"attributes":["#
                + #"{"key":"service.name","value":{"stringValue":"assay \"x\""}},"#
                + #"{"key":"service.version","value":{"stringValue":"1.2"}},"#
                + #"{"key":"service.instance.id","value":{"stringValue":"i"}},"#
                + #"{"key":"k8s.pod.name","value":{"stringValue":"p"}}]},"#
                + #""scopeSpans":[{"scope":{"name":"assay","version":"1.2"},"spans":[{"#
                + #""traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"00000000b7ad6b71","traceState":"a=1","#
                + #""parentSpanId":"0000000000000001","flags":769,"name":"GET","kind":3,"#
                + #""startTimeUnixNano":"1700000000000000001","endTimeUnixNano":"18446744073709551615","#
                + #""attributes":[{"key":"a","value":{"stringValue":"\u0001\""}},{"key":"b","value":{"intValue":"2"}}],"#
                + #""status":{"message":"m","code":2}}]}]}]}"#)
    }

    @Test func `what a span does not have is left out`() throws {
        let text = json([span()])
        for name in ["parentSpanId", "attributes\":[]", "status"] { #expect(!text.contains(name)) }
        #expect(text.contains(#""flags":257"#))
    }

    @Test(
        arguments: [
            (.number(-1), #"{"intValue":"-1"}"#), (.number(.min), #"{"intValue":"-9223372036854775808"}"#),
            (.text("a"), #"{"stringValue":"a"}"#),
        ] as [(SpanValue, String)])
    func `a value of every kind`(value: SpanValue, expected: String) {
        #expect(json([span { $0.attributes = ["v": value] }]).contains(#"{"key":"v","value":\#(expected)}"#))
    }

    @Test(arguments: [(.internal, 1), (.server, 2), (.client, 3)] as [(SpanKind, Int)])
    func `kinds are numbers`(kind: SpanKind, number: Int) {
        let span = FinishedSpan("s", kind, context, below: nil, from: 0, to: 0)
        #expect(json([span]).contains(#""kind":\#(number),"#))
    }

    @Test func `several spans are one request, and it is JSON`() throws {
        let tree = try JSONTree(readingObject: Array(json([span(), span(), span()]).utf8))
        let spans = tree.object?["resourceSpans"]?.array?[0].object?["scopeSpans"]?.array?[0].object?["spans"]?.array
        #expect(spans?.count == 3)
    }

    @Test func `the operator may say who the service is, but for its name, which has a setting`() {
        let resource = TraceResource(
            serviceName: "n", serviceVersion: "v", instanceID: "i",
            others: [("service.name", "other"), ("service.instance.id", "pod-1")])
        #expect(
            resource.attributes.map { "\($0.name)=\($0.value)" } == [
                "service.name=n", "service.version=v", "service.instance.id=pod-1",
            ])
    }

    @Test(
        arguments: [
            ("", 0), ("{}", 0), ("[]", 0), ("nonsense", 0), (#"{"partialSuccess":{}}"#, 0),
            (#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}"#, 3),
            (#"{"partialSuccess":{"rejectedSpans":4}}"#, 4), (#"{"partialSuccess":{"rejectedSpans":"x"}}"#, 0),
        ])
    func `what a collector did not take`(answer: String, rejected: Int) {
        #expect(Collector.rejectedSpans(Array(answer.utf8)) == rejected)
    }
}
