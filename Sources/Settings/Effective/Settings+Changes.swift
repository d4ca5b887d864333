internal import HTTPServer
private import IDToken

extension Settings {
    /// The keys of the file whose values are not a running service's, and that only a restart can change: what listens, and
    /// where keys are kept on disk.
    ///
    /// - Returns: their names as the file spells them, `service.listen` among them; none, where the service can change over.
    package func changesThatNeedRestart(from running: Settings) -> [String] {
        var names: [String] = []
        func compare<Value: Equatable>(_ name: String, _ value: (Settings) -> Value) {
            if value(self) != value(running) { names.append(name) }
        }
        compare("service.listen", \.service.listen)
        compare("service.tls", \.service.tls)
        compare("admin.listen", \.admin.listen)
        compare("admin.tls", \.admin.tls)
        compare("admin.max_connections", \.adminMaximumConnections)
        compare("cache_directory", \.cacheDirectory)
        compare("tracing", \.tracing)
        compare("limits.max_header", \.limits.listener.maximumHeader)
        compare("limits.max_buffered", \.limits.listener.maximumBuffered)
        compare("limits.max_connections", \.limits.listener.maximumConnections)
        compare("limits.max_in_flight", \.limits.listener.maximumInFlight)
        compare("limits.request_timeout", \.limits.listener.requestTimeoutSeconds)
        compare("limits.idle_timeout", \.limits.listener.idleTimeoutSeconds)
        return names
    }

    /// The keys of the file whose values differ from a running service's, as the file spells them. A provider that came or
    /// went is named with that word.
    package func changes(from running: Settings) -> [String] {
        var names = changesThatNeedRestart(from: running)
        func compare<Value: Equatable>(_ name: String, _ value: (Settings) -> Value) {
            if value(self) != value(running) { names.append(name) }
        }
        compare("admin.api_keys", \.adminAPIKeys)
        compare("admin.hosts", \.adminHosts)
        compare("admin.console", \.servesConsole)
        compare("api_keys", \.apiKeys)
        compare("allow_insecure_listen", \.allowsInsecureListen)
        compare("limits.max_body", \.limits.maximumBody)
        compare("limits.max_batch_body", \.limits.maximumBatchBody)
        compare("limits.keys_timeout", \.limits.keysTimeoutSeconds)
        compare("limits.queue_timeout", \.limits.queueTimeoutMilliseconds)
        compare("keys.stale_for", \.keys.staleIfErrorSeconds)
        compare("log.level", \.log.level)
        compare("log.requests", \.log.requests)
        compare("log.probes", \.log.probes)
        compare("clock_skew", \.clockSkewSeconds)
        compare("shutdown_delay", \.shutdownDelaySeconds)
        compare("shutdown_grace", \.shutdownGraceSeconds)
        compare("verified_token_cache.entries", \.verifiedTokenCacheEntries)
        for provider in providers {
            let id = provider.policy.id
            guard let before = running.providers.first(where: { $0.policy.id == id }) else {
                names.append("providers.\(id) (new)")
                continue
            }
            if provider != before { names.append("providers.\(id)") }
        }
        for provider in running.providers where !providers.contains(where: { $0.policy.id == provider.policy.id }) {
            names.append("providers.\(provider.policy.id) (gone)")
        }
        return names
    }
}
