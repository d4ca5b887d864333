package import HTTP
package import IDToken
package import JOSE
package import Keys
package import OAuth

/// A configured provider: the rules for its tokens, and the source of its keys.
///
/// A class, because the slots of an entry's many issuers share it.
package final class Provider: Sendable {
    /// If the entry has many issuers, the rules that they share.
    package let policy: ProviderPolicy
    /// How its access tokens are recognized and read; `nil` if its ID Tokens are verified.
    package let accessTokens: AccessTokenDialect?
    /// Asks about its access tokens, which are opaque; `nil` if its tokens are JWTs.
    package let introspector: Introspector?
    /// Whether the service can be ready without this provider's keys.
    package let isOptional: Bool
    /// Whether a nonce is rejected once a token with it has been verified.
    package let usesNoncesOnce: Bool
    /// `nil` if no notifications are accepted.
    package let notifications: NotificationRules?
    /// `nil` if no encrypted tokens are opened.
    package let encryption: TokenEncryption?
    package let keys: ProviderKeys
    /// `nil` if the entry has one issuer.
    package let issuers: EntryIssuers?
    /// `nil` if the provider has no clients.
    package let grants: ProviderGrants?

    /// Whether tokens of this kind must be encrypted.
    package func mustEncrypt(_ kind: EncryptionRules.Kind) -> Bool { encryption?.rules.required.contains(kind) == true }

    package init(
        policy: ProviderPolicy, accessTokens: AccessTokenDialect? = nil, introspector: Introspector? = nil,
        isOptional: Bool, usesNoncesOnce: Bool = false, notifications: NotificationRules? = nil,
        encryption: TokenEncryption? = nil, keys: ProviderKeys, issuers: EntryIssuers? = nil,
        grants: ProviderGrants? = nil
    ) {
        self.policy = policy
        self.accessTokens = accessTokens
        self.introspector = introspector
        self.isOptional = isOptional
        self.usesNoncesOnce = usesNoncesOnce
        self.notifications = notifications
        self.encryption = encryption
        self.keys = keys
        self.issuers = issuers
        self.grants = grants
    }
}

/// Where a provider's keys are.
package enum ProviderKeys: Sendable {
    case store(KeyStore)
    /// Those of an entry with many issuers.
    case pool(IssuerPool)

    /// `nil` for many issuers.
    package var store: KeyStore? { if case .store(let store) = self { store } else { nil } }
    /// `nil` for one issuer.
    package var pool: IssuerPool? { if case .pool(let pool) = self { pool } else { nil } }

    /// Identifies the store or the pool.
    var identity: ObjectIdentifier {
        switch self {
        case .store(let store): ObjectIdentifier(store)
        case .pool(let pool): ObjectIdentifier(pool)
        }
    }

    /// Stops as soon as nobody waits; current waiters are still served.
    package func retire() {
        switch self {
        case .store(let store): store.retire()
        case .pool(let pool): pool.retire()
        }
    }

    /// Stops to fetch, and resumes all waiters.
    package func stop() {
        switch self {
        case .store(let store): store.stop()
        case .pool(let pool): pool.stop()
        }
    }
}

extension Provider {
    /// The calls to its endpoints; `nil` if it has no clients.
    package var calls: ProviderCalls? { grants?.calls ?? introspector?.calls }
    /// Their slots.
    package var callSlots: CallSlots? { grants?.slots ?? introspector?.slots }
}

/// The features that at least one configured provider uses.
package struct ProviderFeatures: Sendable {
    /// Whether any provider's nonces are single-use.
    package let usesNoncesOnce: Bool
    /// Whether any provider's notifications are accepted.
    package let acceptsNotifications: Bool
    /// Whether any provider's access tokens are verified.
    package let acceptsAccessTokens: Bool
    /// Whether any provider has clients.
    package let hasClients: Bool

    package init(_ providers: [Provider]) {
        usesNoncesOnce = providers.contains(where: \.usesNoncesOnce)
        acceptsNotifications = providers.contains { $0.notifications != nil }
        acceptsAccessTokens = providers.contains { $0.accessTokens != nil }
        hasClients = providers.contains { $0.grants != nil }
    }
}

/// One event loop's latest copy of a provider's keys. Confined to that loop.
///
/// It is separate from the settings, because the keys survive a change of the settings.
package final class LoopKeySnapshot {
    private(set) var latest: Latest?
    /// The endpoints in the provider's latest discovery document; `nil` before the first one has been read.
    package private(set) var endpoints: DiscoveredEndpoints?

    package init() {}

    /// - Parameter sharesKeys: whether the loop uses the same objects as others, which saves memory where there are
    ///   thousands of key sets.
    package func install(_ snapshot: KeySnapshot, sharesKeys: Bool = false) {
        latest = Latest(snapshot, sharesKeys: sharesKeys)
        // Keys from the disk or from a file come without endpoints.
        if let found = snapshot.endpoints { endpoints = found }
    }

    package var snapshot: KeySnapshot? { latest?.snapshot }

    final class Latest {
        let snapshot: KeySnapshot
        /// The snapshot's keys.
        let keys: JWKSet
        let algorithms: SignatureAlgorithms
        let usableUntil: MonotonicTime

        init(_ snapshot: KeySnapshot, sharesKeys: Bool) {
            self.snapshot = snapshot
            keys = sharesKeys ? snapshot.keys : snapshot.keys.copied()
            algorithms = snapshot.algorithms
            usableUntil = snapshot.usableUntil
        }

        func used(at now: MonotonicTime) -> KeysUsed {
            KeysUsed(snapshot.source, fetchedAt: snapshot.fetchedAt, freshUntil: snapshot.freshUntil, now: now)
        }
    }
}

/// One event loop's copies of a provider's keys.
package enum LoopKeys {
    case one(LoopKeySnapshot, KeyStore)
    /// Of an entry with many issuers.
    case many(LoopIssuers)
}

extension Provider {
    /// Whether its tokens can be verified, as far as that depends on what has been fetched from it.
    package func state(_ fetched: LoopKeySnapshot, at now: MonotonicTime) -> KeyState {
        guard let introspector else { return KeyState(fetched.snapshot, at: now) }
        // Opaque tokens need no keys.
        return introspector.endpoint(fetched.endpoints) == nil ? .unavailable : .ready
    }
}

extension KeyStatus {
    /// When the next fetch is planned, in Unix seconds; `nil` while one is in progress.
    ///
    /// - Parameter unixSeconds: the current time.
    package func nextFetchAt(unixSeconds: Int64) -> Int64? { nextFetchIn.map { unixSeconds + $0.secondsRoundedUp } }

    /// Writes why the last fetch failed, or `null`.
    package func writeLastError(to json: inout JSONWriter) {
        guard let lastFailure else { return json.null() }
        json.beginObject()
        json.member("at", lastFailureAtUnixSeconds)
        json.member("phase", lastFailure.phase.rawValue)
        json.member("message", lastFailure.message)
        json.endObject()
    }
}
