import Host
import KeySource
import NIOCore
import NIOPosix
import Settings
import Telemetry

extension TraceExport {
    /// Starts to export spans, on a loop of its own.
    ///
    /// - Throws: ``ConfigurationError`` if a file that the settings name can't be read.
    init(_ settings: Settings.Tracing, log: Log) throws(ConfigurationError) {
        let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        let headers = try settings.headers()
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
    /// Extra headers for the collector.
    ///
    /// - Throws: ``ConfigurationError``, also if the file has changed since it was checked.
    fileprivate func headers() throws(ConfigurationError) -> CollectorHeaders {
        guard let headersFile else { return CollectorHeaders() }
        do {
            let file = try SmallFile(path: headersFile, maximumSize: 64 * 1024, followingLinks: true)
            return try CollectorHeaders(String(decoding: file.bytes, as: UTF8.self))
        } catch {
            throw ConfigurationError(text: "tracing.headers_file: \(headersFile): it can't be read now")
        }
    }
}
