internal import HTTP

extension Settings {
    /// The whole file.
    static let members: [Member<Settings>] = [
        Member(
            section: "service", Listener.members(for: "backends").map { $0.within(\.service) },
            "The listener for backends: `/v1/verify` and the other [endpoints](endpoints.md) that callers use."),
        Member(
            section: "admin",
            Listener.members(for: "operators").map { $0.within(\.admin) } + [
                Member(
                    APIKeysReader.setting(
                        defaultDescription: "`api_keys`",
                        "API keys of operators, required for every path of the admin listener except `/metrics`, probes and the console's files."
                    ),
                    ifSet: \.adminAPIKeys),
                Member(
                    Setting(
                        "hosts", listOf: .hostName,
                        "Additional values of `Host` that an admin listener with neither API keys nor TLS accepts, besides `localhost` and IP addresses."
                    ), at: \.adminHosts),
                Member(
                    Setting("console", .boolean, "Serves a page for operators at `/console`."), at: \.servesConsole),
                Member(
                    Setting(
                        "max_connections", .integer(8...10_000), change: .restart,
                        "Maximum number of connections to the admin listener, separate from the service's so that neither listener can starve the other."
                    ),
                    at: \.adminMaximumConnections),
            ],
            "The listener for operators: `/metrics`, `/v1/providers`, `/v1/explain`, `/v1/events`, `/v1/verdicts`, `/livez`, `/readyz` and the console."
        ),
        Member(
            APIKeysReader.setting(
                "API keys of callers, sent as `Authorization: Bearer …`; list several during a rotation. `assay api-key` generates one. Log and metrics use a key's name, or else its position in the list: `key-1`."
            ), at: \.apiKeys),
        Member(
            Setting(
                "allow_insecure_listen", .boolean,
                "Allows a listener that other machines can reach to have neither API keys nor client certificates."),
            at: \.allowsInsecureListen),
        Member([], read: ListenerReader.checkReach),
        Member(section: "limits", limits, "Sizes, counts and timeouts that clients can't exceed."),
        Member(
            section: "keys",
            [
                Member(
                    Setting(
                        "stale_for", .seconds(0...(30 * 86400)),
                        "How long expired keys stay in use while a provider can't be reached (stale-if-error)."),
                    at: \.keys.staleIfErrorSeconds)
            ], "The providers' key sets."),
        Member(section: "log", log, "The log on standard error, one JSON object per line."),
        TracingReader.member,
        SignInReader.member,
        Member(
            Setting(
                "cache_directory", .text, change: .restart,
                "The directory that keeps the last good key sets across restarts."),
            ifSet: \.cacheDirectory),
        Member(
            section: "verified_token_cache",
            [
                Member(
                    Setting(
                        "entries", .integer(0...1_000_000),
                        "How many valid signatures to remember, so that a repeated token needs no second signature check. Claims, times and nonce are checked each time. `0` turns the cache off."
                    ), at: \.verifiedTokenCacheEntries)
            ], "The cache of verified signatures."),
        Member(
            Setting(
                "shutdown_delay", .seconds(0...300),
                "How long to keep serving after SIGTERM while `/readyz` returns 503 and responses carry `Connection: close`, so that load balancers can drain. A second SIGTERM or SIGINT ends the delay."
            ), at: \.shutdownDelaySeconds),
        Member(
            Setting(
                "shutdown_grace", .seconds(0...600),
                "How long a shutdown waits for requests in flight, after `shutdown_delay`."),
            at: \.shutdownGraceSeconds),
        Member(
            Setting(
                "clock_skew", ProviderReading.clockSkew,
                "How far a provider's clock may differ from this machine's; the default for every provider."),
            at: \.clockSkewSeconds),
        ProviderReader.member,
        ForwardAuthReader.member,
    ]

    private static let limits: [Member<Settings>] = [
        Member(
            Setting("max_body", .bytes(1024...(16 * mebibyte)), "The largest body of a request, except a batch."),
            at: \.limits.maximumBody),
        Member(
            Setting("max_batch_body", .bytes(1024...(64 * mebibyte)), "The largest body of a batch."),
            at: \.limits.maximumBatchBody),
        Member(
            Setting(
                "max_header", .bytes(1024...mebibyte), change: .restart,
                "The largest head of a request: its request line and header fields."),
            at: \.limits.listener.maximumHeader),
        Member(
            Setting(
                "max_buffered", .bytes(65_536...(16 * 1024 * mebibyte)), change: .restart,
                "Maximum memory for requests that are incomplete, queued or waiting; beyond it: `503 overloaded`. An additional half of this is allowed for unread responses (including socket buffers); beyond it, the slowest readers are disconnected. Lower by default under a memory limit."
            ), at: \.limits.listener.maximumBuffered),
        Member(
            Setting(
                "max_connections", .integer(1...1_000_000), change: .restart,
                "Maximum number of connections to the service listener; beyond it: `503 overloaded`. Lower by default under a memory limit."
            ),
            at: \.limits.listener.maximumConnections),
        Member(
            Setting(
                "max_in_flight", .integer(1...1_000_000), change: .restart,
                "Maximum number of requests waiting for keys, for `sign_ins.store` or for a provider's endpoint; each waiting batch item counts. Beyond it: `503 overloaded`. Lower by default under a memory limit."
            ), at: \.limits.listener.maximumInFlight),
        Member(
            Setting(
                "request_timeout", .seconds(1...300), change: .restart,
                "How long a whole request may take to arrive, and how long a client may take to read its response."),
            at: \.limits.listener.requestTimeoutSeconds),
        Member(
            Setting(
                "idle_timeout", .seconds(1...3600), change: .restart,
                "How long a connection may be silent between requests."), at: \.limits.listener.idleTimeoutSeconds),
        Member(
            Setting("keys_timeout", .seconds(1...60), "How long a request waits for keys."),
            at: \.limits.keysTimeoutSeconds),
        Member(
            Setting(
                "provider_timeout", .seconds(1...30),
                "How long a call to a provider's endpoint may take, including connecting and all attempts of a revocation."
            ), at: \.limits.providerTimeoutSeconds),
        Member(
            Setting(
                "queue_timeout", .milliseconds(50...60_000),
                "About how long a request may wait in the queue. During overload, requests that would wait longer get `503 overloaded`."
            ), at: \.limits.queueTimeoutMilliseconds),
    ]

    private static let log: [Member<Settings>] = [
        Member(Setting("level", .word(Log.levels), "The lowest level to log."), at: \.log.level),
        Member(
            Setting(
                "requests", .word("true, false or refused"),
                "`true`: log every request; `refused`: only status 400 and above; `false`: none. Errors that unauthenticated clients can cause (400, 401, 404, 405, 408, 413, 415, 431, `overloaded`, and all of `/v1/forward-auth`) are rate-limited to ten per minute for each kind and event loop; with `refused`, all errors are. A later line has `suppressed`, the number of lines left out. There is no rate limit at level `debug`."
            ), at: \.log.requests),
        Member(
            Setting("probes", .boolean, "Also logs requests to `/livez`, `/readyz` and `/metrics`."),
            at: \.log.probes),
    ]

    private static let mebibyte = 1024 * 1024
}

extension ValueType where Value == String {
    fileprivate static var hostName: Self {
        Self(expected: "a host name such as assay.internal, without a port", form: .text()) { text in
            text.isName(upTo: 253) ? text.lowercased() : nil
        } text: {
            $0
        }
    }
}
