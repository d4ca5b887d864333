internal import HTTPServer
private import IDToken
private import KeySource

extension Settings {
    /// Where spans go, and which.
    package struct Tracing: Sendable, Equatable {
        /// The collector's `http` or `https` URL, to which `/v1/traces` is added.
        package var endpoint: String
        package var serviceName = "assay"
        /// Of the traces that begin here, the share that is recorded, from 0 to 1.
        package var sampleRatio = 1.0
        /// What is sent to the collector beside the spans: a line `name: value` each.
        package var headersFile: String?
        /// Authorities to trust beside the system's.
        package var caFile: String?
        /// What the environment says of where the service runs.
        package var resourceAttributes: [ResourceAttribute] = []

        package init(endpoint: String) { self.endpoint = endpoint }

        /// What an operator should know about it.
        var warnings: [String] {
            guard headersFile != nil, endpoint.hasPrefix("http://"), !isLocal else { return [] }
            return ["tracing.headers_file is sent to the collector without TLS: it can be read on the way"]
        }

        private var isLocal: Bool {
            guard let address = try? FetchURL(endpoint, allowingHTTP: true) else { return false }
            return ListenAddress.network(host: address.host, port: address.port).isLocal
        }
    }

    /// An attribute of the service's, for the collector.
    package struct ResourceAttribute: Sendable, Equatable {
        package let name: String
        package let value: String
    }
}

/// Reads `tracing`, and those of OpenTelemetry's own environment variables that mean the same. The settings win.
enum TracingReader {
    /// - Returns: `nil` where no collector is named, or `OTEL_SDK_DISABLED` is `true`: nothing is traced.
    static func read(_ section: Section, _ environment: [String: String]) -> Settings.Tracing? {
        // To OpenTelemetry, an empty variable is one that is not set.
        let environment = environment.filter { !$0.value.isEmpty }
        let expected = "the collector's URL, such as http://127.0.0.1:4318, without a query"
        let named = section.scalar("otlp_endpoint", expected, endpoint)
        let serviceName = section.text("service_name")
        let sampleRatio = section.scalar("sample_ratio", "a number from 0 to 1", ratio)
        let headersFile = section.text("headers_file")
        let caFile = section.text("ca_file")
        let hasNoEndpoint = named == nil && !section.isFaulty("otlp_endpoint")

        var found = named
        // A collector that expects gRPC would not understand the exporter.
        if hasNoEndpoint, environment["OTEL_EXPORTER_OTLP_PROTOCOL"] != "grpc",
            let text = environment["OTEL_EXPORTER_OTLP_ENDPOINT"]
        {
            found = endpoint(text)
            if let found {
                section.record("otlp_endpoint", .scalar(found), .variable("OTEL_EXPORTER_OTLP_ENDPOINT"))
            } else {
                section.reading.report(
                    section.path, line: nil,
                    "OTEL_EXPORTER_OTLP_ENDPOINT must be \(expected); found \(FoundText.of(text))")
            }
        }
        // What was meant by half of it is not for us to guess.
        if found == nil,
            serviceName != nil || sampleRatio != nil || headersFile != nil || caFile != nil
                || section.mentions("otlp_endpoint")
        {
            section.refuseMissing("otlp_endpoint", "tracing needs otlp_endpoint; without it nothing is traced")
        }
        section.finish()
        guard let found, environment["OTEL_SDK_DISABLED"]?.lowercased() != "true" else { return nil }
        var tracing = Settings.Tracing(endpoint: found)
        tracing.resourceAttributes = attributes(environment["OTEL_RESOURCE_ATTRIBUTES"] ?? "")
        tracing.serviceName = serviceName ?? usualServiceName(section, environment, tracing)
        tracing.sampleRatio =
            sampleRatio ?? section.otherwise("sample_ratio", tracing.sampleRatio, shown: "\(tracing.sampleRatio)")
        tracing.headersFile = headersFile
        tracing.caFile = caFile
        return tracing
    }

    /// The service's name where the settings give none.
    private static func usualServiceName(
        _ section: Section, _ environment: [String: String], _ tracing: Settings.Tracing
    ) -> String {
        let variable: String
        let name: String
        if let text = environment["OTEL_SERVICE_NAME"] {
            (variable, name) = ("OTEL_SERVICE_NAME", text)
        } else if let attribute = tracing.resourceAttributes.last(where: { $0.name == "service.name" }) {
            (variable, name) = ("OTEL_RESOURCE_ATTRIBUTES", attribute.value)
        } else {
            return section.otherwise("service_name", tracing.serviceName, shown: tracing.serviceName)
        }
        return section.otherwise("service_name", name, shown: name, from: .variable(variable))
    }

    private static func endpoint(_ text: String) -> String? {
        guard let address = try? FetchURL(text, allowingHTTP: true), !address.text.contains("?") else { return nil }
        return address.text
    }

    private static func ratio(_ text: String) -> Double? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }),
            let number = Double(text), (0...1).contains(number)
        else { return nil }
        return number
    }

    /// The attributes of a list `name=value,…`, whose values may be percent-encoded. A list with a member that is none
    /// says nothing, as OpenTelemetry has it.
    private static func attributes(_ text: String) -> [Settings.ResourceAttribute] {
        var attributes: [Settings.ResourceAttribute] = []
        for member in text.split(separator: ",") {
            guard let equals = member.firstIndex(of: "=") else { return [] }
            let name = trimmed(member[..<equals])
            guard !name.isEmpty, let octets = percentDecoded(trimmed(member[member.index(after: equals)...])),
                let value = String(validating: octets, as: UTF8.self)
            else {
                return []
            }
            attributes.append(Settings.ResourceAttribute(name: String(name), value: value))
        }
        return attributes
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return text
    }
}
