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

        package init(endpoint: String) { self.endpoint = endpoint }

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
