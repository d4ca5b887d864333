private import IDToken
private import JOSE

extension Settings {
    /// Reads the text of a settings file, with the environment's overrides.
    ///
    /// - Throws: ``SettingsError`` with the line of the first fault.
    package init(yaml: String, environment: [String: String] = [:]) throws(SettingsError) {
        let root: YAMLNode?
        do throws(YAMLError) {
            root = try YAMLReader.read(yaml)
        } catch {
            throw SettingsError(line: error.line, message: error.description)
        }
        let top = try Section(root, path: [], environment)
        self.init()
        try readListeners(top)
        try readLimits(top.section("limits"))
        let keys = try top.section("keys")
        self.keys.staleForSeconds =
            try keys.seconds("stale_for", in: 0...(30 * 86400)) ?? self.keys.staleForSeconds
        try keys.finish()
        try readLog(top.section("log"))
        tracing = try TracingReader.read(top.section("tracing"), environment)
        cacheDirectory = try top.text("cache_directory")
        let cache = try top.section("verified_token_cache")
        verifiedTokenCacheEntries = try cache.integer("entries", in: 0...1_000_000) ?? verifiedTokenCacheEntries
        try cache.finish()
        shutdownDelaySeconds = try top.seconds("shutdown_delay", in: 0...300) ?? shutdownDelaySeconds
        shutdownGraceSeconds = try top.seconds("shutdown_grace", in: 0...600) ?? shutdownGraceSeconds
        let clockSkew = try top.seconds("clock_skew", in: ProviderReader.clockSkews) ?? 60
        for node in try top.elements("providers") {
            let provider = try ProviderReader.read(node, defaultClockSkew: clockSkew, environment)
            try checkDiffers(provider, line: node.line)
            providers.append(provider)
        }
        try top.finish()
        guard !providers.isEmpty else { throw top.error(nil, "at least one provider is needed under providers") }
    }

    private mutating func readListeners(_ top: Section) throws(SettingsError) {
        let expected = "a SHA-256 digest in 64 hexadecimal digits"
        let serviceSection = try top.section("service")
        service = try ListenerReader.read(serviceSection, service.listen)
        try serviceSection.finish()
        let adminSection = try top.section("admin")
        admin = try ListenerReader.read(adminSection, admin.listen)
        adminAPIKeyDigests = try adminSection.list("api_keys", expected, Self.digest)
        adminHosts =
            try adminSection.list("hosts", "a host name such as assay.internal, without a port", Self.hostName) ?? []
        servesConsole = try adminSection.bool("console") ?? servesConsole
        try adminSection.finish()
        apiKeyDigests = try top.list("api_keys", expected, Self.digest) ?? []
        allowsInsecureListen = try top.bool("allow_insecure_listen") ?? false
        try checkRestricted("service", service, serviceSection, keys: "api_keys", apiKeyDigests)
        try checkRestricted("admin", admin, adminSection, keys: "admin.api_keys or api_keys", operatorKeyDigests)
    }

    /// Whoever can be reached from other machines must know who may call.
    private func checkRestricted(
        _ name: String, _ listener: Listener, _ section: Section, keys: String, _ keyDigests: [[UInt8]]
    ) throws(SettingsError) {
        guard listener.listen.isLocal || listener.asksForCertificates || !keyDigests.isEmpty || allowsInsecureListen
        else {
            throw section.error(
                "listen",
                "\(name).listen can be reached from other machines and nothing says who may call: set \(keys), or "
                    + "\(name).tls with client_ca_file, or allow_insecure_listen: true if something else keeps them out"
            )
        }
    }

    private mutating func readLimits(_ section: Section) throws(SettingsError) {
        limits.maximumBody = try section.bytes("max_body", in: 1024...(16 * 1024 * 1024)) ?? limits.maximumBody
        limits.maximumBatchBody =
            try section.bytes("max_batch_body", in: 1024...(64 * 1024 * 1024)) ?? limits.maximumBatchBody
        limits.maximumHeader = try section.bytes("max_header", in: 1024...(1024 * 1024)) ?? limits.maximumHeader
        limits.maximumBuffered =
            try section.bytes("max_buffered", in: 65_536...(16 * 1024 * 1024 * 1024)) ?? limits.maximumBuffered
        limits.maximumConnections =
            try section.integer("max_connections", in: 1...1_000_000) ?? limits.maximumConnections
        limits.maximumInFlight = try section.integer("max_in_flight", in: 1...1_000_000) ?? limits.maximumInFlight
        limits.requestTimeoutSeconds =
            try section.seconds("request_timeout", in: 1...300) ?? limits.requestTimeoutSeconds
        limits.idleTimeoutSeconds = try section.seconds("idle_timeout", in: 1...3600) ?? limits.idleTimeoutSeconds
        limits.keysTimeoutSeconds = try section.seconds("keys_timeout", in: 1...60) ?? limits.keysTimeoutSeconds
        limits.queueTimeoutMilliseconds =
            try section.milliseconds("queue_timeout", in: 50...60_000) ?? limits.queueTimeoutMilliseconds
        try section.finish()
    }

    private mutating func readLog(_ section: Section) throws(SettingsError) {
        let levels = Log.levels
        log.level =
            try section.scalar("level", "one of \(levels.joined(separator: ", "))") { levels.contains($0) ? $0 : nil }
            ?? log.level
        log.requests =
            try section.scalar("requests", "true, false or refused", Log.Requests.init(rawValue:)) ?? log.requests
        log.probes = try section.bool("probes") ?? log.probes
        try section.finish()
    }

    /// Providers must be told apart by id, and by every name that a token may carry.
    private func checkDiffers(_ provider: ProviderSettings, line: Int?) throws(SettingsError) {
        let policy = provider.policy
        for other in providers.map(\.policy) {
            guard policy.id != other.id else {
                throw SettingsError(line: line, message: "the provider id \(policy.id) is there twice")
            }
            guard !Section.share(policy.id, other.id) else {
                throw SettingsError(
                    line: line,
                    message: "the provider ids \(policy.id) and \(other.id) would share their environment variables")
            }
            guard !policy.sharesIssuer(with: other) else {
                throw SettingsError(
                    line: line,
                    message:
                        "provider \(policy.id): its issuer or alias is \(other.id)'s too; list all audiences under one"
                )
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

    private static func digest(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count == 64, text.allSatisfy(\.isHexDigit) else { return nil }
        var octets: [UInt8] = []
        for index in stride(from: 0, to: 64, by: 2) {
            guard let octet = UInt8(String(decoding: digits[index..<(index + 2)], as: UTF8.self), radix: 16) else {
                return nil
            }
            octets.append(octet)
        }
        return octets
    }
}
