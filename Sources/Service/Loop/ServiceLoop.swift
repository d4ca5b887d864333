internal import HTTP
internal import IDToken
internal import JOSE
private import Keys
internal import NIOCore
internal import NIOHTTP1
private import OpenSSL
internal import SignIns
internal import Verification

/// The state that all requests of one event loop share. Confined to that loop.
final class ServiceLoop {
    let loop: any EventLoop
    private(set) var settings: ServiceSettings
    private(set) var verifier: RequestVerifier
    /// Decides for gateways; `nil` if there are no policies.
    private(set) var forwardAuth: ForwardAuth?
    /// The IDs of providers, indexed by number.
    private(set) var providerIDs: [String]
    private(set) var readiness = Readiness()
    /// `nil` if sign-ins are disabled.
    let signIns: LoopSignIns?
    private let storeSetup: StoreSetup
    private let proofStoreSetup: StoreSetup?
    /// The store for single-use claims; `nil` until it is first needed.
    private(set) var claims: ClaimStore?
    /// The store of DPoP proofs; `nil` until it is first needed.
    private(set) var proofStore: ClaimStore?
    /// Of DPoP proofs.
    private var nonces: LoopProofNonces
    private(set) var features: ProviderFeatures
    var requestIDs = RequestIDs()
    var metrics = LoopMetrics()
    var stage = Stage.serving
    let load: OverloadDetector
    private(set) var telemetry: RequestTelemetry
    /// `nil` if refusals are not logged.
    let firstRefusals: FirstRefusalLog?
    private var writer = JSONWriter()
    /// The capacity, in bytes, up to which the writer's buffer is kept. A larger buffer, such as that of a batch, is
    /// released.
    private static let keptCapacity = 64 * 1024

    enum Stage: Comparable {
        case serving
        /// Draining: not ready, and connections are closed after their next response. New requests are still served,
        /// since not all load balancers have noticed yet.
        case leaving
        /// New requests are rejected.
        case stopping
    }

    /// - Throws: ``Rejection/cryptographyUnavailable`` when out of memory.
    init(
        on loop: any EventLoop, _ settings: ServiceSettings, _ registry: ProviderRegistry, _ sink: LogSink,
        tracer: SpanTracer? = nil, firstRefusals: FirstRefusalLog? = nil, store: StoreSetup,
        proofStore: StoreSetup? = nil,
        signInKeys: HandleKeys? = nil, proofNonces: ProofNonces = ProofNonces([])
    ) throws(Rejection) {
        self.loop = loop
        self.settings = settings
        load = OverloadDetector(on: loop, queueTimeout: settings.queueTimeout)
        telemetry = RequestTelemetry(settings.loggedRequests, to: sink, tracer, on: loop)
        self.firstRefusals = firstRefusals
        providerIDs = registry.ids
        verifier = RequestVerifier(
            registry, on: loop, by: try Self.tokenVerifier(settings),
            resources: settings.resources)
        forwardAuth = Self.forwardAuth(settings, verifier)
        features = ProviderFeatures(registry.providers)
        storeSetup = store
        proofStoreSetup = proofStore
        nonces = LoopProofNonces(proofNonces)
        do throws(OpenSSLError) {
            let needsStore = features.usesNoncesOnce || signInKeys != nil
            let claims = needsStore ? try store.claims(on: loop, providerCount: registry.providers.count) : nil
            self.claims = claims
            if settings.remembersProofs, let proofStore {
                self.proofStore = try proofStore.claims(on: loop, providerCount: registry.providers.count)
            }
            signIns = if let signInKeys, let claims { try LoopSignIns(signInKeys, claims) } else { nil }
        } catch {
            throw .cryptographyUnavailable
        }
    }

    /// Applies the access rules of new settings, and nothing else yet.
    func admit(by other: ServiceSettings) {
        settings.callerKeys = other.callerKeys
        settings.operatorKeys = other.operatorKeys
        settings.operatorHosts = other.operatorHosts
    }

    /// Applies new settings from the next request on. Requests that wait for keys keep the verifier that they started
    /// with.
    func change(to settings: ServiceSettings, _ registry: ProviderRegistry) {
        let wasReady = readiness.isReady(verifier)
        telemetry.change(to: settings.loggedRequests)
        var tokenVerifier = verifier.verifier
        if settings.signatureCacheCapacity != self.settings.signatureCacheCapacity,
            // If OpenSSL can't allocate memory, the current verifier stays in use, with its cache capacity.
            let other = try? Self.tokenVerifier(settings)
        {
            tokenVerifier = other
        }
        self.settings = settings
        load.queueTimeout = settings.queueTimeout
        providerIDs = registry.ids
        claims?.providerCount = registry.providers.count
        proofStore?.providerCount = registry.providers.count
        verifier = RequestVerifier(registry, on: loop, by: tokenVerifier, resources: settings.resources)
        forwardAuth = Self.forwardAuth(settings, verifier)
        features = ProviderFeatures(registry.providers)
        // If memory runs out, there is no store, and the tokens of providers with single-use nonces are rejected.
        if features.usesNoncesOnce, claims == nil {
            claims = try? storeSetup.claims(on: loop, providerCount: registry.providers.count)
        }
        if settings.remembersProofs, proofStore == nil {
            proofStore = try? proofStoreSetup?.claims(on: loop, providerCount: registry.providers.count)
        }
        readiness.excuseNewcomers(verifier, wasReady: wasReady)
    }

    private static func tokenVerifier(_ settings: ServiceSettings) throws(Rejection) -> IDTokenVerifier {
        try IDTokenVerifier(
            signatureCacheCapacity: settings.signatureCacheCapacity, maximumTokenLength: settings.maximumToken)
    }

    private static func forwardAuth(_ settings: ServiceSettings, _ verifier: RequestVerifier) -> ForwardAuth? {
        let policies = settings.forwardAuth.policies
        return policies.isEmpty ? nil : ForwardAuth(policies, by: verifier, settings.proofs)
    }

    /// Whether the settings turn a feature on.
    func isOn(_ feature: Feature) -> Bool {
        switch feature {
        case .signIns: signIns != nil
        case .clients: features.hasClients
        case .notifications: features.acceptsNotifications
        case .accessTokens: features.acceptsAccessTokens
        case .resources: !settings.resources.isEmpty
        case .forwardAuth: forwardAuth != nil
        case .clientKeys: settings.clientKeys != nil
        }
    }

    /// Uses new keys from the next request on: those of sign-ins, if sign-ins are enabled, and those of nonces.
    ///
    /// - Throws: ``OpenSSLError`` when out of memory; the current keys of sign-ins then stay in use.
    func change(to keys: HandleKeys) throws {
        nonces = LoopProofNonces(keys.proofNonces)
        try signIns?.change(to: keys)
    }

    /// What DPoP proofs are checked with; `nil` if none are accepted.
    var proofChecks: ProofChecks? { settings.proofs.map { ProofChecks($0, nonces.all) } }

    /// The nonce that a client's next proof must have; `nil` if proofs need none.
    ///
    /// - Parameters:
    ///   - provider: the number of the token's provider; `nil` if it is not known.
    ///   - use: of the resource or policy that the request is for.
    ///   - accepted: the IDs of the providers whose tokens it accepts.
    func proofNonce(ofProvider provider: Int?, for use: ProofUse, among accepted: [String]) -> String? {
        guard let proofs = settings.proofs,
            verifier.needsProofNonce(use, ofProvider: provider, among: accepted, under: proofs)
        else { return nil }
        return nonces.latest(at: VerificationTime.now().wall)
    }

    /// Logs a provider's first token that was refused because it is bound to a key.
    func note<Answer>(_ verdict: Verdict<Answer>) {
        guard case .refused(.rejected(.bindingRequired, _), let provider?) = verdict else { return }
        firstRefusals?.noteBoundToken(refusedBy: providerIDs[provider])
    }

    /// Flushes the log, closes the store's connections, and stops all timers.
    func end() {
        telemetry.end()
        load.end()
        claims?.end()
        proofStore?.end()
    }

    /// The JSON text that `write` produces. All of a loop's JSON goes through one writer, to reuse its buffer.
    func json(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        writer.removeAll()
        write(&writer)
        let text = writer.bytes
        if writer.capacity > Self.keptCapacity { writer = JSONWriter() }
        return text
    }
}

/// Whether the service is ready, depending on its providers' keys.
struct Readiness {
    /// By provider number: readiness ignores the provider until its keys are newer than this version.
    private var excused: [Int: Int] = [:]

    /// Whether every provider that counts for readiness has usable keys.
    func isReady(_ verifier: RequestVerifier) -> Bool {
        let now = SystemClocks.monotonic()
        return verifier.singleIssuers.allSatisfy { number, provider, keys in
            provider.isOptional || isExcused(number, keys.snapshot)
                || provider.state(keys, at: now) != .unavailable
        }
    }

    /// Whether readiness ignores a provider: it was added while the service was ready, and has not had keys since.
    ///
    /// An unreachable new provider must not take instances out of service for users of the other providers. If all
    /// instances received the same settings at once, none would be left.
    private func isExcused(_ number: Int, _ snapshot: KeySnapshot?) -> Bool {
        excused[number].map { (snapshot?.version ?? 0) <= $0 } ?? false
    }

    /// Makes readiness ignore new providers that have no usable keys, until they have newer ones.
    mutating func excuseNewcomers(_ verifier: RequestVerifier, wasReady: Bool) {
        let now = SystemClocks.monotonic()
        let before = excused
        excused = [:]
        for (number, provider, keys) in verifier.singleIssuers where provider.state(keys, at: now) == .unavailable {
            excused[number] = wasReady ? keys.snapshot?.version ?? 0 : before[number]
        }
    }
}

extension ServiceLoop {
    func live(_ record: RequestRecord) -> HTTPResponse {
        end(record, json: Array("{\"status\":\"live\"}".utf8))
    }

    func ready(_ record: RequestRecord) -> HTTPResponse {
        let isReady = readiness.isReady(verifier)
        let now = SystemClocks.monotonic()
        let text = json { json in
            json.object { json in
                json.member("status", stage != .serving ? "shutting_down" : isReady ? "ready" : "unready")
                // Issuers of entries with many are fetched when needed, so readiness does not depend on them.
                json.objects("providers", verifier.singleIssuers) { json, each in
                    json.member("id", each.provider.policy.id)
                    json.member("state", each.provider.state(each.keys, at: now).rawValue)
                }
                // An outage of a store does not affect most verifications, so it is reported but does not affect
                // readiness.
                if let claims {
                    json.name("store")
                    json.object { $0.member("state", claims.status.health.rawValue) }
                }
                if let proofStore {
                    json.name("proof_store")
                    json.object { $0.member("state", proofStore.status.health.rawValue) }
                }
            }
        }
        return end(record, json: text, status: isReady && stage == .serving ? .ok : .serviceUnavailable)
    }
}

/// Detects whether an event loop is overloaded. Confined to that loop.
final class OverloadDetector {
    private let loop: any EventLoop
    private var shedder: LoadShedder
    private var task: RepeatedTask?
    private static let periodMicroseconds: Int64 = 100_000

    /// - Parameter queueTimeout: the maximum time that a request may wait in the queue.
    init(on loop: any EventLoop, queueTimeout: Interval) {
        self.loop = loop
        self.queueTimeout = queueTimeout
        shedder = LoadShedder(limit: queueTimeout.microseconds)
        let bound = NIOLoopBound(self, eventLoop: loop)
        let period = TimeAmount.microseconds(Self.periodMicroseconds)
        task = loop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in
            bound.value.shedder.recordTick(at: SystemClocks.monotonicMicroseconds(), period: Self.periodMicroseconds)
        }
    }

    var queueTimeout: Interval { didSet { shedder.limit = queueTimeout.microseconds } }

    /// Whether to handle a request in this turn of the loop, or to shed it.
    ///
    /// - Parameter startedAtMicroseconds: when the request arrived, on the monotonic clock.
    func admits(at startedAtMicroseconds: Int64) -> Bool {
        guard shedder.isCrowded else { return true }
        switch shedder.admit(at: startedAtMicroseconds) {
        case .admitted: return true
        case .first:
            // Runs after all requests that arrived together with this one, so it marks the end of the turn.
            loop.assumeIsolated().execute { self.shedder.turnEnded() }
            return true
        case .refused: return false
        }
    }

    func end() { task?.cancel() }
}

/// The nonces of one event loop's DPoP proofs. Confined to that loop.
private struct LoopProofNonces {
    let all: ProofNonces
    /// Requests of the same second get the same nonce.
    private var made: (at: UnixTime, nonce: String)?

    init(_ all: ProofNonces) { self.all = all }

    /// - Returns: `nil` when out of memory, and if there are no keys.
    mutating func latest(at now: UnixTime) -> String? {
        if let made, made.at == now { return made.nonce }
        guard let nonce = try? all.nonce(at: now) else { return nil }
        made = (now, nonce)
        return nonce
    }
}
