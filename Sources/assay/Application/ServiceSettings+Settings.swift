import Telemetry
import Service
import Host
import HTTPServer
import Settings

extension AssayService.Configuration {
    private static let adminBuffered = 4 * 1024 * 1024

    /// What settings say of the two listeners and of all that is answered on them.
    init(_ settings: Settings) {
        let limits = settings.limits.listener
        var adminLimits = limits
        adminLimits.maximumConnections = settings.adminMaximumConnections
        // Enough for a few of the longest requests, and for some scrapes that nobody reads.
        adminLimits.maximumBuffered = min(
            limits.maximumBuffered, max(Self.adminBuffered, 2 * settings.limits.maximumBody))
        self.init(
            service: AssayService.Listener(settings.service.listen, tls: settings.service.tls, limits: limits),
            admin: AssayService.Listener(settings.admin.listen, tls: settings.admin.tls, limits: adminLimits),
            settings: ServiceSettings(settings), version: assay.version)
    }
}

extension ServiceSettings {
    /// What settings say of answers; all of it can change while the service runs.
    init(_ settings: Settings) {
        self.init(openAPI: PackageResources.openapi_yaml)
        maximumBody = settings.limits.maximumBody
        maximumBatchBody = settings.limits.maximumBatchBody
        keysTimeout = .seconds(settings.limits.keysTimeoutSeconds)
        queueTimeout = Interval(milliseconds: settings.limits.queueTimeoutMilliseconds)
        callerKeys = CallerKeys(settings.apiKeys)
        operatorKeys = CallerKeys(settings.operatorKeys)
        servesConsole = settings.servesConsole
        // A page that is not ours has no key. Where others can connect and no key is asked for, whoever keeps strangers out
        // knows by what names it is reached.
        if settings.operatorKeyDigests.isEmpty, settings.admin.isReachedByAnyName,
            settings.admin.listen.isLocal || settings.servesConsole
        {
            operatorHosts = settings.adminHosts
        }
        loggedRequests = LoggedRequests(settings.log)
        // Each event loop has a share of its own, so that remembering takes no lock.
        signatureCacheCapacity = (settings.verifiedTokenCacheEntries + Processors.count - 1) / Processors.count
    }
}

extension CallerKeys {
    fileprivate init(_ keys: [Settings.APIKey]) { self.init(keys.map { Key(name: $0.name, digest: $0.digest) }) }
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
    /// Whether a browser gets to it by whatever name somebody has pointed at it: not where the name needs a certificate,
    /// nor at a socket, which no browser knows.
    fileprivate var isReachedByAnyName: Bool { if case .network = listen { tls == nil } else { false } }
}

extension Log.Level {
    /// The level of settings, which name no other.
    init(_ settings: Settings.Log) { self = Self(rawValue: settings.level) ?? .info }
}
