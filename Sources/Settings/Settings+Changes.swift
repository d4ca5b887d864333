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
        compare("cache_directory", \.cacheDirectory)
        compare("tracing", \.tracing)
        compare("limits.max_header", \.limits.maximumHeader)
        compare("limits.max_buffered", \.limits.maximumBuffered)
        compare("limits.max_connections", \.limits.maximumConnections)
        compare("limits.max_in_flight", \.limits.maximumInFlight)
        compare("limits.request_timeout", \.limits.requestTimeoutSeconds)
        compare("limits.idle_timeout", \.limits.idleTimeoutSeconds)
        return names
    }
}
