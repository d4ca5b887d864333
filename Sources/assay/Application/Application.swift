import FoundationEssentials
import HTTP
import IDToken
import Keys
import NIOCore
import NIOPosix
import OAuth
import OpenSSL
import Service
import Settings
import SignIns
import UnixSignals
import Verification

/// Creates the parts of the service from the settings, and connects them.
struct Application: Sendable {
    let settings: Settings
    let log: Log
    let configurations = ConfigurationTelemetry(startedAtUnixSeconds: SystemClocks.unixSeconds())
    let factory: ProviderFactory
    let providers: [ProviderFactory.ConfiguredProvider]
    /// The event loops that serve requests.
    let serving = MultiThreadedEventLoopGroup(numberOfThreads: Processors.count)
    /// `nil` if tracing is off.
    private let tracing: TraceExport?
    private let sink: LogSink
    private let telemetry: KeyTelemetry
    private let calls: CallTelemetry
    /// For writing keys to disk.
    private let disk = NIOThreadPool(numberOfThreads: 1)
    /// The process's limit on open files and sockets.
    private let descriptors: Int

    /// - Parameters:
    ///   - credentials: of clients whose settings name no files, by provider and client ID.
    ///   - tellsOfRisks: whether to log settings that are allowed but risky.
    /// - Throws: ``ConfigurationError`` if the environment's proxy settings are invalid, or a file that `tracing` names
    ///   can't be read.
    init(
        _ settings: Settings, credentials: GivenCredentials = GivenCredentials(), tellsOfRisks: Bool = true,
        sink: LogSink = LogSink()
    ) throws {
        self.settings = settings
        self.sink = sink
        log = Log(
            to: sink, from: Log.Level(settings.log), unixMilliseconds: SystemClocks.unixMilliseconds,
            monotonic: SystemClocks.monotonic)
        telemetry = KeyTelemetry(log: log, unixSeconds: SystemClocks.unixSeconds)
        calls = CallTelemetry(log: log, monotonic: SystemClocks.monotonic)
        let proxy = try ProxyEnvironment.read(from: ProcessInfo.processInfo.environment)
        tracing = try settings.tracing.map { [log] in try TraceExport($0, log: log) }
        disk.start()
        factory = ProviderFactory(
            proxy: proxy, keys: KeyFactory(proxy, telemetry, tracer: tracing?.tracer, disk), calls: calls,
            credentials: credentials)
        if !settings.clientKeys.isEmpty || settings.providers.contains(where: \.handlesSecrets) {
            Self.disableCoreDumps(log)
        }
        providers = try factory.providers(settings)
        descriptors = DescriptorLimit.raise()
        if tellsOfRisks {
            for warning in settings.allWarnings + (proxy?.warnings ?? []) {
                log.warn(ofRisk: warning)
            }
        }
    }

    /// Creates the parts that a single command needs. Nothing is traced, and no log lines mix with the command's
    /// output.
    ///
    /// - Parameter token: what the command is about. Keys that open encrypted tokens are read only for one of these.
    init(forOneCall settings: Settings, of token: String) throws {
        var settings = settings
        if token.utf8.count(where: { $0 == UInt8(ascii: ".") }) != 4 { settings.clientKeys = [] }
        settings.tracing = nil
        // Verifying needs no credentials, but for those with which a provider is asked about opaque tokens.
        for index in settings.providers.indices where settings.providers[index].introspection == nil {
            settings.providers[index].clients = []
            settings.providers[index].namedClients = nil
        }
        try self.init(settings, sink: LogSink(isDiscarding: true))
    }

    /// Verifies one token in this process.
    func singleVerification() async throws -> SingleVerification {
        try await SingleVerification(
            providers.map(\.provider), policies: settings.forwardAuth.policies, resources: settings.resources,
            keysTimeout: .seconds(settings.limits.keysTimeoutSeconds),
            maximumTokenLength: settings.limits.maximumToken, on: serving)
    }

    /// Runs the service until a signal stops it.
    ///
    /// - Parameters:
    ///   - file: the source of the settings, which is read again when it changes; `nil` if there is none.
    ///   - addressSource: what sets a listener's address, for errors.
    ///   - started: called once both listeners are bound.
    /// - Throws: ``ConfigurationError`` if an address can't be bound.
    func run(
        file: SettingsFile? = nil, addressSource: (ListenerName) -> String = { "\($0.rawValue).listen" },
        started: @escaping @Sendable (AssayService) async throws -> Void = { _ in }
    ) async throws {
        // Created before anyone can learn that the service listens, so that no signal is missed.
        let signals = await StopSignals()
        let reloadSignals: UnixSignalsSequence? =
            if file != nil { await UnixSignalsSequence(trapping: .sighup) } else { nil }
        let service: AssayService
        do {
            service = try await AssayService.start(
                try configuration(), providers: providers.map(\.provider), telemetry: telemetry,
                configurations: configurations, tracing: tracing, on: serving, log: log, sink: sink)
        } catch {
            await tracing?.exporter.stop(atMost: .seconds(0))
            if let unbound = error as? UnboundListener {
                throw ConfigurationError("\(addressSource(unbound.name)): \(unbound.reason)")
            }
            throw error as? ConfigurationError ?? ConfigurationError("\(error)")
        }
        log.write(
            .info, "started",
            [
                ("version", .text(assay.version)), ("settings", .text(file?.path ?? "none")),
                ("service", .text(service.serviceAddress)), ("admin", .text(service.adminAddress)),
                ("providers", .texts(settings.providers.map(\.policy.id))),
            ])
        logFeatures()
        let reloader = file.map { SettingsReloader(self, service, from: $0) }
        let running = Task {
            if let reloader, let reloadSignals { await reloader.run(reloadSignals) }
        }
        try await started(service)
        await signals.wait()
        // Cancels a reload in progress, because a shutdown does not wait for it.
        running.cancel()
        let latest = await reloader?.settings ?? settings
        await service.stop(
            after: .seconds(latest.shutdownDelaySeconds), orWhen: { await signals.waitForAnother() },
            grace: .seconds(latest.shutdownGraceSeconds))
        await waitForDisk()
    }

    /// Logs the optional features that are enabled, in one line.
    private func logFeatures() {
        let providers = settings.providers
        let singleUse = providers.filter(\.usesNoncesOnce).map(\.policy.id)
        let ofStore: [(name: String, isOn: Bool)] = [
            ("sign_ins", settings.signIns != nil),
            ("clients", providers.contains { $0.introspection == nil && $0.hasClients }),
            ("nonce.single_use", !singleUse.isEmpty),
        ]
        let needsStore = ofStore.contains(where: \.isOn)
        let others: [(name: String, isOn: Bool)] = [
            ("notifications", providers.contains { $0.notifications != nil }),
            ("access_tokens", providers.contains { $0.accessTokens != nil }),
            ("resources", !settings.resources.isEmpty),
            ("introspection", providers.contains { $0.introspection != nil }),
            ("client_keys", !settings.clientKeys.isEmpty), ("forward_auth", !settings.forwardAuth.policies.isEmpty),
        ]
        let features = (ofStore + others).filter(\.isOn).map(\.name)
        guard !features.isEmpty else { return }
        var fields: [(name: StaticString, value: Log.Value)] = [("features", .texts(features))]
        if needsStore {
            fields.append(("store", .text((settings.signIns ?? Settings.SignIns()).store.url.text)))
        }
        if !singleUse.isEmpty { fields.append(("single_use", .texts(singleUse))) }
        log.write(.info, "features enabled", fields)
    }

    /// The listeners' configuration, within the machine's limits.
    private func configuration() throws -> AssayService.Configuration {
        let files = try SignInFiles(settings)
        if !files.isEmpty { Self.disableCoreDumps(log) }
        let keys = try files.readFirst()
        let store = settings.store
        var configuration = AssayService.Configuration(
            settings, signInKeys: settings.signIns == nil ? nil : keys,
            store: StoreSetup(store, files.store, log: log),
            proofStore: StoreSetup(settings.proofStore, files.proofStore, log: log), proofNonces: keys.proofNonces)
        configuration.calls = calls
        if !files.isEmpty { configuration.readSignInFiles = { try files.read() } }
        configuration.readClientFiles = { [clientFiles = factory.clientFiles, clientKeys = factory.clientKeys] in
            let hasChanged = try clientKeys.readAgain()
            return try clientFiles.readAgain() || hasChanged
        }
        configuration.settings.clientKeys = factory.publishedKeys(settings)
        let budget = DescriptorBudget(
            limit: descriptors,
            fetches: settings.providers.contains { $0.issuers != nil }
                ? settings.keys.maximumFetches : min(settings.providers.count, settings.keys.maximumFetches),
            storeLoops: [store, settings.proofStore].count { $0.url != .memory } * Processors.count,
            calls: settings.providers.filter(\.hasClients).map(\.maximumCalls).reduce(0, +))
        if budget.fit(&configuration.service.limits, admin: configuration.admin.limits) {
            log.warn(
                ofRisk: "limits.max_connections is \(configuration.service.limits.maximumConnections) instead of "
                    + "\(settings.limits.listener.maximumConnections): \(descriptors) file descriptors (ulimit -n) are too few"
            )
        }
        let limits = configuration.service.limits
        log.write(
            .info, "limits",
            [
                ("max_connections", .number(Int64(limits.maximumConnections))),
                ("max_in_flight", .number(Int64(limits.maximumInFlight))),
                ("max_buffered_bytes", .number(Int64(limits.maximumBuffered))),
                ("file_descriptors", .number(Int64(descriptors))),
            ] + (MemoryLimit.bytes.map { [("memory_bytes", .number(Int64($0)))] } ?? []))
        return configuration
    }

    /// Disables core dumps, which would contain secrets from files.
    private static func disableCoreDumps(_ log: Log) {
        if !OpenSSL.disableCoreDumps() {
            log.warn(
                ofRisk:
                    "core dumps can't be disabled, and would contain keys; set their limit to 0 (ulimit -c 0)")
        }
    }

    /// Waits until recently fetched keys are on disk, for a limited time.
    private func waitForDisk() async {
        let loop = serving.next()
        let done = loop.makePromise(of: Void.self)
        // The pool has one thread, so this runs after everything before it.
        disk.submit { _ in done.succeed() }
        loop.scheduleTask(in: .seconds(1)) { done.succeed() }
        try? await done.futureResult.get()
    }
}

extension Log {
    /// Logs a setting that is allowed but risky, or one that has no effect here.
    func warn(ofRisk setting: String) { write(.warning, "configuration warning", [("setting", .text(setting))]) }
}
