private import Bytes
internal import HTTP
private import Keys

extension Settings {
    /// Where to export spans, and which ones.
    package struct Tracing: Sendable, Equatable {
        /// The collector's `http` or `https` URL, to which `/v1/traces` is appended.
        package var endpoint: String
        package var serviceName = "assay"
        /// The fraction of the traces starting here that is recorded, from 0 to 1.
        package var sampleRatio = 1.0
        /// Extra headers for the collector, one `name: value` per line.
        package var headersFile: String?
        /// Additional CA certificates (PEM).
        package var caFile: String?
        /// Resource attributes from the environment.
        package var resourceAttributes: [ResourceAttribute] = []

        /// Warnings for the operator.
        var warnings: [String] {
            guard headersFile != nil, endpoint.hasPrefix("http://"), !isLocal else { return [] }
            return ["tracing.headers_file is sent to the collector without TLS: it can be read on the network"]
        }

        private var isLocal: Bool {
            guard let address = try? FetchURL(endpoint, allowingHTTP: true) else { return false }
            return ListenAddress.network(host: address.host, port: address.port).isLocal
        }
    }

    /// A resource attribute of the service.
    package struct ResourceAttribute: Sendable, Equatable {
        package let name: String
        package let value: String
    }
}

/// Reads `tracing`, and the OpenTelemetry environment variables with the same meaning. The settings take precedence.
enum TracingReader {
    static let member = Member<Settings>(
        section: "tracing", change: .restart, of: members.flatMap(\.descriptions),
        "Exports [spans](../deploy/observability/README.md#traces) over OTLP/HTTP, encoded as JSON. If a setting is missing, OpenTelemetry's own `OTEL_EXPORTER_OTLP_ENDPOINT` and `OTEL_SERVICE_NAME` apply; `OTEL_RESOURCE_ATTRIBUTES` is added; `OTEL_SDK_DISABLED=true` turns tracing off."
    ) { top, settings in
        settings.tracing = read(top.section("tracing"), top.reading.variables.all)
    }.comparing(\.tracing)

    private static let members: [Member<Settings.Tracing>] = [
        Setting(
            "otlp_endpoint", endpointType, defaultDescription: "none: nothing is traced",
            "The URL of an OpenTelemetry collector. Assay appends `/v1/traces`."
        ).at(\.endpoint),
        Setting("service_name", .text, "The service name of the spans.").at(\.serviceName),
        Setting(
            "sample_ratio", sampleRatio,
            "The ratio of traces to sample, from 0 to 1, among those that start in Assay. For other traces, the caller's sampling decision applies."
        ).at(\.sampleRatio),
        Setting("headers_file", .file(.headers), "Extra headers for the collector, one `name: value` per line.")
            .ifSet(\.headersFile),
        Setting("ca_file", .file(.authorities), "Additional CA certificates (PEM) to trust for the collector.")
            .ifSet(\.caFile),
    ]
    private static let names = members.flatMap(\.descriptions).map(\.name)

    private static let endpointType = ValueType(
        expected: "the collector's URL, such as http://127.0.0.1:4318, without a query",
        form: .text(pattern: "^https?://[^?#]+$"),
        remedy: { url in
            guard ErrorValueText.credentials(in: url) != nil else { return nil }
            return "credentials belong in a file that headers_file names, as a line such as `Authorization: Basic …`"
        },
        parse: endpoint, text: { $0 })
    private static let sampleRatio = ValueType(
        expected: "a number from 0 to 1", form: .number(0...1), parse: ratio, text: { "\($0)" })

    /// - Returns: `nil` if no collector is configured, or if `OTEL_SDK_DISABLED` is `true`: tracing is disabled.
    private static func read(_ section: Section, _ environment: [String: String]) -> Settings.Tracing? {
        // OpenTelemetry treats an empty variable as unset.
        let environment = environment.filter { !$0.value.isEmpty }
        var tracing = Settings.Tracing(endpoint: "")
        for member in members { member.read(section, &tracing, nil) }
        // The exporter does not support gRPC.
        if tracing.endpoint.isEmpty, !section.isFaulty("otlp_endpoint"),
            environment["OTEL_EXPORTER_OTLP_PROTOCOL"] != "grpc", let text = environment["OTEL_EXPORTER_OTLP_ENDPOINT"]
        {
            if let found = endpoint(text) {
                tracing.endpoint = found
                section.record("otlp_endpoint", .scalar(found), .variable("OTEL_EXPORTER_OTLP_ENDPOINT"))
            } else {
                section.reading.report(
                    section.path, line: nil,
                    "OTEL_EXPORTER_OTLP_ENDPOINT must be \(endpointType.expected); found \(endpointType.found(text))")
            }
        }
        // An incomplete configuration is an error: its intent is unclear.
        if tracing.endpoint.isEmpty,
            section.mentions("otlp_endpoint")
                || names.contains(where: { section.source($0) != nil && !section.isFaulty($0) })
        {
            section.refuseMissing("otlp_endpoint", "tracing needs otlp_endpoint: without it, nothing is traced")
        }
        section.finish()
        let isDisabled = environment["OTEL_SDK_DISABLED"]?.lowercased() == "true"
        guard !tracing.endpoint.isEmpty, !isDisabled else {
            // Disabled settings have no effective defaults, and their files are not checked.
            for setting in names.compactMap(section.effective) {
                let value = setting.origin == .default ? nil : setting.value
                section.record(setting.path[1], value, setting.origin, file: isDisabled ? nil : setting.file)
            }
            return nil
        }
        tracing.resourceAttributes = attributes(environment["OTEL_RESOURCE_ATTRIBUTES"] ?? "")
        if section.source("service_name") == nil { readServiceName(section, environment, &tracing) }
        return tracing
    }

    /// Reads the service name from OpenTelemetry's variables.
    private static func readServiceName(
        _ section: Section, _ environment: [String: String], _ tracing: inout Settings.Tracing
    ) {
        let variable: String
        if let text = environment["OTEL_SERVICE_NAME"] {
            (variable, tracing.serviceName) = ("OTEL_SERVICE_NAME", text)
        } else if let attribute = tracing.resourceAttributes.last(where: { $0.name == "service.name" }) {
            (variable, tracing.serviceName) = ("OTEL_RESOURCE_ATTRIBUTES", attribute.value)
        } else {
            return
        }
        section.record("service_name", .scalar(tracing.serviceName), .variable(variable))
    }

    @Sendable private static func endpoint(_ text: String) -> String? {
        guard let address = try? FetchURL(text, allowingHTTP: true), !address.text.contains("?") else { return nil }
        return address.text
    }

    @Sendable private static func ratio(_ text: String) -> Double? {
        guard text.utf8.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") }),
            let number = Double(text), (0...1).contains(number)
        else { return nil }
        return number
    }

    /// Parses `name=value,…` with percent-encoded values. If any member is malformed, the whole list is ignored, as
    /// OpenTelemetry specifies.
    private static func attributes(_ text: String) -> [Settings.ResourceAttribute] {
        var attributes: [Settings.ResourceAttribute] = []
        for member in text.split(separator: ",") {
            guard let equals = member.firstIndex(of: "=") else { return [] }
            let name = member[..<equals].trimming { $0 == " " }
            let encoded = member[member.index(after: equals)...].trimming { $0 == " " }
            guard !name.isEmpty, let octets = percentDecoded(encoded),
                let value = String(validating: octets, as: UTF8.self)
            else {
                return []
            }
            attributes.append(Settings.ResourceAttribute(name: String(name), value: value))
        }
        return attributes
    }
}

extension Settings {
    /// Which events and requests are logged.
    package struct Log: Sendable, Equatable {
        package var level = Level.info
        package var requests = Requests.all
        /// Whether successful probes and scrapes (`/livez`, `/readyz`, `/metrics`) are logged.
        package var probes = false

        package enum Level: String, Sendable, CaseIterable { case debug, info, warning, error }

        /// Which requests are logged.
        package enum Requests: String, Sendable, CaseIterable {
            case all = "true"
            case none = "false"
            case refused
        }

        static let members: [Member<Settings>] = [
            Setting("level", .word, "The lowest level to log.").at(\.log.level),
            Setting(
                "requests", .word("true, false or refused"),
                "`true`: log every request; `refused`: only status 400 and above; `false`: none. Errors that unauthenticated clients can cause (400, 401, 404, 405, 408, 413, 415, 431, `overloaded`, and all of `/v1/forward-auth`) are rate-limited to ten per minute for each kind and event loop; with `refused`, all errors are. A later line has `suppressed`, the number of lines left out. There is no rate limit at level `debug`."
            ).at(\.log.requests),
            Setting("probes", .boolean, "Also logs requests to `/livez`, `/readyz` and `/metrics`.").at(\.log.probes),
        ]
    }
}
