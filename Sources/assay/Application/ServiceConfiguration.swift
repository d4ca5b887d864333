import HTTP
import IDToken
import Keys
import NIOCore
import NIOPosix
import Service
import Settings
import SignIns

extension AssayService.Configuration {
    private static let adminBuffered = 4 * 1024 * 1024

    /// The settings of both listeners and of their endpoints.
    init(
        _ settings: Settings, signInKeys: HandleKeys?, store: StoreSetup, proofStore: StoreSetup,
        proofNonces: ProofNonces
    ) {
        let limits = settings.limits.listener
        var adminLimits = limits
        adminLimits.maximumConnections = settings.adminMaximumConnections
        // Enough for a few of the longest requests, and for some unread scrapes.
        adminLimits.maximumBuffered = min(
            limits.maximumBuffered, max(Self.adminBuffered, 2 * settings.limits.maximumBody))
        self.init(
            service: AssayService.Listener(settings.service.listen, tls: settings.service.tls, limits: limits),
            admin: AssayService.Listener(settings.admin.listen, tls: settings.admin.tls, limits: adminLimits),
            settings: ServiceSettings(settings), signInKeys: signInKeys, store: store,
            proofStore: proofStore, proofNonces: proofNonces, version: assay.version)
    }
}

extension ServiceSettings {
    /// The settings that a reload can change.
    init(_ settings: Settings) {
        self.init(openAPI: Asset.openAPI.bytes)
        maximumBody = settings.limits.maximumBody
        maximumBatchBody = settings.limits.maximumBatchBody
        maximumToken = settings.limits.maximumToken
        keysTimeout = .seconds(settings.limits.keysTimeoutSeconds)
        providerTimeout = .seconds(settings.limits.providerTimeoutSeconds)
        queueTimeout = Interval(milliseconds: settings.limits.queueTimeoutMilliseconds)
        callerKeys = CallerKeys(settings.apiKeys)
        operatorKeys = CallerKeys(settings.operatorKeys)
        servesConsole = settings.servesConsole
        // Protects against DNS rebinding. Not needed with API keys, because another site's page has none. Off if other
        // machines can connect and the console is disabled, because only the operator knows the valid host names.
        if settings.operatorKeys.isEmpty, settings.admin.isReachedByAnyName,
            settings.admin.listen.isLocal || settings.servesConsole
        {
            operatorHosts = settings.adminHosts
        }
        refusesPublicHosts = settings.refusesPublicHosts
        loggedRequests = LoggedRequests(settings.log)
        resources = settings.resources
        forwardAuth = settings.forwardAuth
        proofs = settings.dpop?.rules
        remembersProofs = settings.remembersProofs
        // Each event loop has its own share, so that the cache needs no lock.
        signatureCacheCapacity = (settings.verifiedTokenCacheEntries + Processors.count - 1) / Processors.count
    }
}

extension LoggedRequests {
    fileprivate init(_ settings: Settings.Log) {
        let kind: Kind =
            switch settings.requests {
            case .all: .all
            case .refused: .refused
            case .none: .none
            }
        self.init(kind, limitsRefusals: Log.Level(settings) != .debug, includesProbes: settings.probes)
    }
}

extension Settings.Listener {
    /// Whether a browser could reach it by any host name that resolves to it. TLS requires a certificate for the name,
    /// and a browser can't open a Unix socket.
    fileprivate var isReachedByAnyName: Bool { if case .network = listen { tls == nil } else { false } }
}

extension Log.Level {
    /// The log level of the settings, which have the same ones.
    init(_ settings: Settings.Log) {
        self =
            switch settings.level {
            case .debug: .debug
            case .info: .info
            case .warning: .warning
            case .error: .error
            }
    }
}

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
            throw ConfigurationError("tracing.otlp_endpoint: \(error.message)")
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
            throw ConfigurationError("tracing.headers_file: \(headersFile): it can't be read now")
        }
    }
}
