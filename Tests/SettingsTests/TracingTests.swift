@testable import Settings
import Testing

/// Which traces are recorded, and where they are sent.
@Suite struct TracingTests {
    @Test func `nothing, unless a collector is named`() throws {
        #expect(try settings(provider).tracing == nil)
        #expect(try settings("tracing:\n" + provider).tracing == nil)
    }

    @Test func `everything, to a collector that is named`() throws {
        let settings = try settings("tracing: { otlp_endpoint: \"http://127.0.0.1:4318\" }\n" + provider)
        let tracing = try #require(settings.tracing)
        #expect(tracing == Settings.Tracing(endpoint: "http://127.0.0.1:4318"))
        #expect(tracing.sampleRatio == 1)
        #expect(tracing.serviceName == "assay")
        #expect(settings.warnings.isEmpty)
    }

    @Test func `every key`() throws {
        let yaml = """
            tracing:
              otlp_endpoint: https://collector.example/otlp/
              service_name: sign-in
              sample_ratio: 0.25
              headers_file: /etc/assay/collector
              ca_file: /etc/assay/ca.pem

            """
        let tracing = try #require(try settings(yaml + provider).tracing)
        #expect(tracing.endpoint == "https://collector.example/otlp/")
        #expect(tracing.serviceName == "sign-in")
        #expect(tracing.sampleRatio == 0.25)
        #expect(tracing.headersFile == "/etc/assay/collector")
        #expect(tracing.caFile == "/etc/assay/ca.pem")
    }

    @Test(
        arguments: [
            ("otlp_endpoint: localhost:4318", 2), ("otlp_endpoint: grpc://localhost:4317", 2),
            ("otlp_endpoint: http://user:password@localhost:4318", 2), ("otlp_endpoint: http://localhost:4318?a=b", 2),
            ("otlp_endpoint: http://localhost:4318#a", 2), ("otlp_endpoint: http://", 2), ("otlp_endpoint: ''", 2),
            ("otlp_endpoint:", 2), ("service_name: x", 2), ("sample_ratio: 0.5", 2), ("headers_file: /h", 2),
            ("ca_file: /c", 2),
            ("otlp_endpoint: http://h\n  sample_ratio: 1.1", 3), ("otlp_endpoint: http://h\n  sample_ratio: -0.1", 3),
            ("otlp_endpoint: http://h\n  sample_ratio: nan", 3), ("otlp_endpoint: http://h\n  sample_ratio: 0x1p-1", 3),
            ("otlp_endpoint: http://h\n  sample_ratio: 50%", 3), ("otlp_endpoint: http://h\n  sample_ratio: ''", 3),
            ("otlp_endpoint: http://h\n  endpoint: x", 3),
        ])
    func `what is wrong is named by its line`(text: String, line: Int) throws {
        #expect(try fault("tracing:\n  \(text)\n" + provider).line == line)
    }

    @Test func `what is secret should not go in the open`() throws {
        func warnings(_ endpoint: String) throws -> [String] {
            let yaml = "tracing: { otlp_endpoint: \"\(endpoint)\", headers_file: /h }\n"
            return try settings(yaml + provider).warnings
        }
        #expect(try warnings("http://collector.example:4318").count == 1)
        for endpoint in ["https://collector.example", "http://127.0.0.1:4318", "http://[::1]:4318", "http://localhost"]
        {
            #expect(try warnings(endpoint).isEmpty)
        }
    }

    @Test func `credentials in the URL are not shown, and the message says where they belong`() throws {
        let remedy =
            "credentials belong in a file that headers_file names, as a line such as `Authorization: Basic …`"
        let url = "http://user:canary@localhost:4318"
        for fault in [
            try fault("tracing: { otlp_endpoint: \"\(url)\" }\n" + provider),
            try fault(provider, ["OTEL_EXPORTER_OTLP_ENDPOINT": url]),
        ] {
            #expect(fault.message.hasSuffix("; " + remedy) && !fault.message.contains("canary"))
        }
    }

    // MARK: The environment

    @Test func `our own variables override the file`() throws {
        let variables = [
            "ASSAY_TRACING_OTLP_ENDPOINT": "http://b:1", "ASSAY_TRACING_SERVICE_NAME": "n",
            "ASSAY_TRACING_SAMPLE_RATIO": "0", "ASSAY_TRACING_HEADERS_FILE": "/h", "ASSAY_TRACING_CA_FILE": "/c",
        ]
        let tracing = try #require(
            try settings("tracing: { otlp_endpoint: \"http://a:1\" }\n" + provider, variables).tracing)
        var expected = Settings.Tracing(endpoint: "http://b:1")
        expected.serviceName = "n"
        expected.sampleRatio = 0
        expected.headersFile = "/h"
        expected.caFile = "/c"
        #expect(tracing == expected)
        #expect(try settings(provider, variables).tracing == expected)
    }

    @Test func `OpenTelemetry's variables count where the settings say nothing`() throws {
        let variables = [
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://b:4318", "OTEL_SERVICE_NAME": "n",
            "OTEL_RESOURCE_ATTRIBUTES": "k8s.pod.name=p, service.name=other,a=b%2Cc%3D",
        ]
        let tracing = try #require(try settings(provider, variables).tracing)
        #expect(tracing.endpoint == "http://b:4318")
        #expect(tracing.serviceName == "n")
        #expect(
            tracing.resourceAttributes.map { "\($0.name) \($0.value)" } == [
                "k8s.pod.name p", "service.name other", "a b,c=",
            ])
        let yaml = "tracing: { otlp_endpoint: \"http://a:1\", service_name: m }\n"
        let own = try #require(try settings(yaml + provider, variables).tracing)
        #expect(own.endpoint == "http://a:1")
        #expect(own.serviceName == "m")
        let attributes = ["OTEL_RESOURCE_ATTRIBUTES": "service.name=x"]
        #expect(
            try settings("tracing: { otlp_endpoint: \"http://a:1\" }\n" + provider, attributes).tracing?.serviceName
                == "x")
    }

    @Test(arguments: ["true", "TRUE", "True"]) func `OpenTelemetry's variable switches all of it off`(value: String)
        throws
    {
        let yaml = "tracing: { otlp_endpoint: \"http://a:1\" }\n"
        #expect(try settings(yaml + provider, ["OTEL_SDK_DISABLED": value]).tracing == nil)
        for other in ["", "false", "1"] {
            #expect(try settings(yaml + provider, ["OTEL_SDK_DISABLED": other]).tracing != nil)
        }
    }

    @Test func `a collector that speaks gRPC is another's`() throws {
        let variables = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://b:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"]
        #expect(try settings(provider, variables).tracing == nil)
        #expect(try settings(provider, ["OTEL_EXPORTER_OTLP_ENDPOINT": ""]).tracing == nil)
        #expect(
            try fault(provider, ["OTEL_EXPORTER_OTLP_ENDPOINT": "b:4318"]).message
                .hasPrefix("OTEL_EXPORTER_OTLP_ENDPOINT must be"))
    }

    @Test(arguments: ["a", "a=b,c", "=b", "a=%", "a=%f", "a=%ff", "a=%+1"])
    func `attributes that are none say nothing`(text: String) throws {
        let yaml = "tracing: { otlp_endpoint: \"http://a:1\" }\n"
        let tracing = try #require(try settings(yaml + provider, ["OTEL_RESOURCE_ATTRIBUTES": text]).tracing)
        #expect(tracing.resourceAttributes.isEmpty)
    }

    // MARK: Changes

    @Test(arguments: ["", "tracing: { otlp_endpoint: \"http://a:1\", sample_ratio: 0.5 }\n"])
    func `it changes at a restart only`(yaml: String) throws {
        let running = try settings("tracing: { otlp_endpoint: \"http://a:1\" }\n" + provider)
        #expect(try settings(yaml + provider).changesThatNeedRestart(from: running) == ["tracing"])
    }
}
