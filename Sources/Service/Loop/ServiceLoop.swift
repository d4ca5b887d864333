internal import Verification
private import Host
internal import HTTPServer
internal import IDToken
internal import JSON
internal import KeySource
internal import NIOCore
internal import NIOHTTP1
private import OpenSSL
internal import SignIns
internal import Telemetry

/// Everything that the requests of one event loop share. Confined to that loop.
final class ServiceLoop {
    let loop: any EventLoop
    private(set) var settings: ServiceSettings
    private(set) var verifier: RequestVerifier
    /// The ids of providers, by number.
    private(set) var providerIDs: [String]
    private(set) var readiness = Readiness()
    /// `nil`: sign-ins are off.
    let signIns: LoopSignIns?
    private let storeSetup: StoreSetup
    /// What remembers claims; `nil` until something has to be used once.
    private(set) var store: LoopStore?
    /// Whether a nonce of any provider is used once.
    private(set) var usesNoncesOnce: Bool
    var requestIDs = RequestIDs()
    var metrics = LoopMetrics()
    var stage = Stage.serving
    let load: OverloadDetector
    private(set) var telemetry: RequestTelemetry
    private var writer = JSONWriter()
    /// A batch's answer should not hold memory for good.
    private static let keptCapacity = 64 * 1024

    enum Stage: Comparable {
        case serving
        /// A stop was asked for: not ready any more, connections are closed after their next answer, but everything is
        /// answered, since not everybody knows.
        case leaving
        /// Requests that begin come too late.
        case stopping
    }

    /// - Throws: ``Rejection/cryptographyUnavailable`` when out of memory.
    init(
        on loop: any EventLoop, _ settings: ServiceSettings, _ registry: ProviderRegistry, _ sink: LogSink,
        tracer: SpanTracer? = nil, store: StoreSetup, signInKeys: HandleKeys? = nil
    ) throws(Rejection) {
        self.loop = loop
        self.settings = settings
        load = OverloadDetector(on: loop, queueTimeout: settings.queueTimeout)
        telemetry = RequestTelemetry(settings.loggedRequests, to: sink, tracer, on: loop)
        providerIDs = registry.ids
        verifier = RequestVerifier(
            registry, on: loop, by: try IDTokenVerifier(signatureCacheCapacity: settings.signatureCacheCapacity))
        usesNoncesOnce = verifier.usesNoncesOnce
        storeSetup = store
        do throws(OpenSSLError) {
            let needsStore = usesNoncesOnce || signInKeys != nil
            let store: LoopStore? = if needsStore { try LoopStore(store, on: loop) } else { nil }
            self.store = store
            signIns = if let signInKeys, let store { try LoopSignIns(signInKeys, store) } else { nil }
        } catch {
            throw .cryptographyUnavailable
        }
    }

    /// Goes by other settings in who may call, and in nothing else yet.
    func admit(by other: ServiceSettings) {
        settings.callerKeys = other.callerKeys
        settings.operatorKeys = other.operatorKeys
        settings.operatorHosts = other.operatorHosts
    }

    /// Serves with other settings from the next request on. Requests that wait for keys go on with the verifier that
    /// they began with.
    func change(to settings: ServiceSettings, _ registry: ProviderRegistry) {
        let wasReady = readiness.isReady(verifier)
        telemetry.change(to: settings.loggedRequests)
        var tokenVerifier = verifier.verifier
        if settings.signatureCacheCapacity != self.settings.signatureCacheCapacity,
            // Out of memory, it goes on with the one it has, which remembers as many as before.
            let other = try? IDTokenVerifier(signatureCacheCapacity: settings.signatureCacheCapacity)
        {
            tokenVerifier = other
        }
        self.settings = settings
        load.queueTimeout = settings.queueTimeout
        providerIDs = registry.ids
        verifier = RequestVerifier(registry, on: loop, by: tokenVerifier)
        usesNoncesOnce = verifier.usesNoncesOnce
        // Out of memory, there is none, and such a provider's tokens are refused.
        if usesNoncesOnce, store == nil { store = try? LoopStore(storeSetup, on: loop) }
        readiness.excuseNewcomers(verifier, wasReady: wasReady)
    }

    /// Writes what is left of the log, closes the connections to the store, and looks after nothing more.
    func end() {
        telemetry.end()
        load.end()
        store?.end()
    }

    /// The JSON text that `write` writes. All of a loop's go through one writer, whose memory is there already.
    func json(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        writer.removeAll()
        write(&writer)
        let text = writer.bytes
        if writer.capacity > Self.keptCapacity { writer = JSONWriter() }
        return text
    }
}
