internal import HTTPServer
private import IDToken
private import JOSE
internal import YAML

extension Settings {
    /// Reads the text of a settings file, with the environment's overrides.
    ///
    /// - Parameter memory: bytes that the process may take, from which limits follow that are not set; `nil`: no limit.
    /// - Throws: ``SettingsError`` with every fault.
    package init(
        yaml: String, environment: [String: String] = [:], memory: Int? = nil
    ) throws(SettingsError) {
        (self, _) = try Self.read(yaml: yaml, environment: environment, memory: memory)
    }

    /// Reads the text of a settings file, with the environment's overrides, and notes where each setting comes from.
    ///
    /// - Throws: ``SettingsError`` with every fault.
    package static func read(
        yaml: String, environment: [String: String] = [:], memory: Int? = nil
    ) throws(SettingsError) -> (settings: Settings, effective: EffectiveSettings) {
        let root: YAMLNode?
        do throws(YAMLError) {
            root = try YAMLReader.read(yaml)
        } catch {
            throw SettingsError([SettingsFault(line: error.line, message: error.description)])
        }
        let reading = SettingsReading(environment: environment)
        var settings = Settings()
        settings.read(Section(root, path: [], reading), reading)
        settings.fitLimits(to: memory, reading)
        settings.serviceLinks = reading.variables.serviceLinks
        return (settings, try reading.finish())
    }

    private mutating func read(_ top: Section, _ reading: SettingsReading) {
        // What is no mapping has nothing to be missed in it.
        guard !reading.isFaulty([]) else { return }
        readListeners(top)
        readLimits(top.section("limits"))
        let keys = top.section("keys")
        self.keys.staleIfErrorSeconds =
            keys.seconds("stale_for", in: 0...(30 * 86400), default: self.keys.staleIfErrorSeconds)
        keys.finish()
        readLog(top.section("log"))
        tracing = TracingReader.read(top.section("tracing"), reading.variables.all)
        cacheDirectory = top.text("cache_directory")
        let cache = top.section("verified_token_cache")
        verifiedTokenCacheEntries = cache.integer("entries", in: 0...1_000_000, default: verifiedTokenCacheEntries)
        cache.finish()
        shutdownDelaySeconds = top.seconds("shutdown_delay", in: 0...300, default: shutdownDelaySeconds)
        shutdownGraceSeconds = top.seconds("shutdown_grace", in: 0...600, default: shutdownGraceSeconds)
        clockSkewSeconds = top.seconds("clock_skew", in: ProviderReader.clockSkews, default: clockSkewSeconds)
        let elements = top.elements("providers")
        for node in elements {
            guard let provider = ProviderReader.read(node, defaultClockSkew: clockSkewSeconds, reading) else {
                continue
            }
            checkDiffers(provider, line: node.line, reading)
            providers.append(provider)
        }
        if elements.isEmpty {
            top.refuseMissing("providers", "at least one provider is needed under providers")
        }
        top.finish()
    }

    private mutating func readListeners(_ top: Section) {
        let serviceSection = top.section("service")
        service = ListenerReader.read(serviceSection, service.listen)
        serviceSection.finish()
        let adminSection = top.section("admin")
        admin = ListenerReader.read(adminSection, admin.listen)
        adminAPIKeys = APIKeysReader.read(adminSection)
        adminHosts =
            adminSection.list("hosts", "a host name such as assay.internal, without a port", Self.hostName) ?? []
        servesConsole = adminSection.bool("console", default: servesConsole)
        adminMaximumConnections = adminSection.integer(
            "max_connections", in: 8...10_000, default: adminMaximumConnections)
        adminSection.finish()
        apiKeys = APIKeysReader.read(top) ?? []
        allowsInsecureListen = top.bool("allow_insecure_listen", default: false)
        guard !top.isFaulty("api_keys"), !top.isFaulty("allow_insecure_listen") else { return }
        checkRestricted("service", service, serviceSection, keys: "api_keys", apiKeyDigests)
        if !adminSection.isFaulty("api_keys") {
            checkRestricted("admin", admin, adminSection, keys: "admin.api_keys or api_keys", operatorKeyDigests)
        }
        checkApart(serviceSection, adminSection)
    }

    /// The two listeners can't listen at one place.
    private func checkApart(_ serviceSection: Section, _ adminSection: Section) {
        guard !serviceSection.isFaulty("listen"), service.listen.collides(with: admin.listen) else { return }
        let section = adminSection.mentions("listen") ? adminSection : serviceSection
        section.refuse(
            "listen",
            "service.listen and admin.listen can't both be used: found \(service.listen.text) and "
                + "\(admin.listen.text); give one of them another port or path")
    }

    /// A listener that can be reached from other machines must be told who may call.
    private func checkRestricted(
        _ name: String, _ listener: Listener, _ section: Section, keys: String, _ keyDigests: [[UInt8]]
    ) {
        guard
            listener.listen.isLocal || listener.asksForCertificates || !keyDigests.isEmpty || allowsInsecureListen
                || section.isFaulty("tls")
        else {
            section.refuse(
                "listen",
                "\(name).listen can be reached from other machines and nothing says who may call: set \(keys), or "
                    + "\(name).tls with client_ca_file, or allow_insecure_listen: true if something else keeps them out"
            )
            return
        }
    }

    private mutating func readLimits(_ section: Section) {
        limits.maximumBody = section.bytes("max_body", in: 1024...(16 * 1024 * 1024), default: limits.maximumBody)
        limits.maximumBatchBody =
            section.bytes("max_batch_body", in: 1024...(64 * 1024 * 1024), default: limits.maximumBatchBody)
        limits.listener.maximumHeader = section.bytes(
            "max_header", in: 1024...(1024 * 1024), default: limits.listener.maximumHeader)
        limits.listener.maximumBuffered =
            section.bytes(
                "max_buffered", in: 65_536...(16 * 1024 * 1024 * 1024), default: limits.listener.maximumBuffered)
        limits.listener.maximumConnections =
            section.integer("max_connections", in: 1...1_000_000, default: limits.listener.maximumConnections)
        limits.listener.maximumInFlight = section.integer(
            "max_in_flight", in: 1...1_000_000, default: limits.listener.maximumInFlight)
        limits.given.maximumBuffered = section.source("max_buffered") != nil
        limits.given.maximumConnections = section.source("max_connections") != nil
        limits.given.maximumInFlight = section.source("max_in_flight") != nil
        limits.listener.requestTimeoutSeconds =
            section.seconds("request_timeout", in: 1...300, default: limits.listener.requestTimeoutSeconds)
        limits.listener.idleTimeoutSeconds = section.seconds(
            "idle_timeout", in: 1...3600, default: limits.listener.idleTimeoutSeconds)
        limits.keysTimeoutSeconds = section.seconds("keys_timeout", in: 1...60, default: limits.keysTimeoutSeconds)
        limits.queueTimeoutMilliseconds =
            section.milliseconds("queue_timeout", in: 50...60_000, default: limits.queueTimeoutMilliseconds)
        section.finish()
    }

    private mutating func readLog(_ section: Section) {
        let levels = Log.levels
        log.level =
            section.scalar("level", "one of \(levels.joined(separator: ", "))", words: levels) {
                levels.contains($0) ? $0 : nil
            } ?? section.otherwise("level", log.level, shown: log.level)
        log.requests =
            section.scalar(
                "requests", "true, false or refused", words: ["true", "false", "refused"], Log.Requests.init(rawValue:))
            ?? section.otherwise("requests", log.requests, shown: log.requests.rawValue)
        log.probes = section.bool("probes", default: log.probes)
        section.finish()
    }

    /// Providers must be told apart by id, and by every name that a token may carry.
    private func checkDiffers(_ provider: ProviderSettings, line: Int?, _ reading: SettingsReading) {
        let policy = provider.policy
        for other in providers.map(\.policy) {
            var message: String?
            if policy.id == other.id {
                message = "the provider id \(policy.id) is there twice"
            } else if Section.share(policy.id, other.id) {
                message = "the provider ids \(policy.id) and \(other.id) would share their environment variables"
            } else if policy.sharesIssuer(with: other), !reading.isFaulty(["providers", policy.id]),
                !reading.isFaulty(["providers", other.id])
            {
                message =
                    "provider \(policy.id): its issuer or alias is \(other.id)'s too; list all audiences under one"
            }
            if let message {
                reading.report(nil, line: line, message)
                return
            }
        }
    }

    private static func hostName(_ text: String) -> String? {
        let isHostName = text.utf8.allSatisfy { octet in
            switch octet {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return (1...253).contains(text.utf8.count) && isHostName ? text.lowercased() : nil
    }
}
