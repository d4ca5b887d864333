import Service
import Host
import KeySource
import NIOCore
import NIOPosix
import NIOSSL
import Settings
import Telemetry

extension TraceExport {
    /// Begins to export as settings say, on a loop of its own.
    ///
    /// - Throws: ``ConfigurationError`` where a file that they name can't be read.
    init(_ settings: Settings.Tracing, log: Log) throws(ConfigurationError) {
        let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        let headers = try settings.headers()
        try settings.checkAuthorities()
        let collector: Collector
        do throws(FetchFailure) {
            collector = try Collector(
                endpoint: settings.endpoint, headers: headers, caFile: settings.caFile, on: loop)
        } catch {
            throw ConfigurationError(text: "tracing.otlp_endpoint: \(error.message)")
        }
        let resource = TraceResource(
            serviceName: settings.serviceName, serviceVersion: assay.version,
            instanceID: TraceResource.randomInstanceID(),
            others: settings.resourceAttributes.map { ($0.name, $0.value) })
        self.init(
            SpanExporter(to: collector, from: resource, on: loop, log: log),
            sampler: Sampler(ratio: settings.sampleRatio))
    }
}

extension Settings.Tracing {
    private static let maximumFile = 64 * 1024

    /// Looks at the files that the settings name.
    ///
    /// - Throws: ``ConfigurationError`` where the service would not start.
    func checkOnThisMachine() throws(ConfigurationError) {
        _ = try headers()
        try checkAuthorities()
    }

    /// What is sent to the collector beside the spans.
    ///
    /// - Throws: ``ConfigurationError``.
    fileprivate func headers() throws(ConfigurationError) -> CollectorHeaders {
        guard let headersFile else { return CollectorHeaders() }
        let bytes = try read(headersFile, "headers_file")
        do throws(CollectorHeaders.Malformed) {
            return try CollectorHeaders(String(decoding: bytes, as: UTF8.self))
        } catch {
            throw ConfigurationError(text: "tracing.headers_file: \(headersFile): \(error)")
        }
    }

    /// - Throws: ``ConfigurationError`` where there is no certificate to be read.
    fileprivate func checkAuthorities() throws(ConfigurationError) {
        guard let caFile else { return }
        let bytes = try read(caFile, "ca_file")
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(bytes), !certificates.isEmpty else {
            throw ConfigurationError(text: "tracing.ca_file: \(caFile): there is no certificate in PEM in it")
        }
    }

    private func read(_ path: String, _ name: String) throws(ConfigurationError) -> [UInt8] {
        do throws(SmallFile.Failure) {
            return try SmallFile(path: path, maximumSize: Self.maximumFile, followingLinks: true).bytes
        } catch {
            throw ConfigurationError(
                text: "tracing.\(name): \(path): \(error.text(maximumSize: Self.maximumFile))")
        }
    }
}
