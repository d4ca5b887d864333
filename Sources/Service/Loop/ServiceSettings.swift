package import HTTP
package import IDToken
package import NIOCore
package import OAuth
internal import OpenSSL
package import SignIns
package import Verification

/// The settings of both listeners, without the providers.
package struct ServiceSettings: Sendable {
    package var maximumBody = 64 * 1024
    package var maximumBatchBody = 4 * 1024 * 1024
    /// The length of the longest token, in bytes. Fixed at the start.
    package var maximumToken = UnverifiedToken.maximumLength
    /// How long a request waits for keys.
    package var keysTimeout = Interval.seconds(5)
    /// How long a call to a provider's endpoint may take.
    package var providerTimeout = Interval.seconds(5)
    /// How long a request may wait in the queue before load is shed.
    package var queueTimeout = Interval(milliseconds: 500)
    /// API keys for the service listener.
    package var callerKeys = CallerKeys([])
    /// API keys for the admin listener.
    package var operatorKeys = CallerKeys([])
    /// Whether the admin listener serves the console.
    package var servesConsole = false
    /// Host names, in lower case, that the admin listener accepts in addition to `localhost` and IP addresses; `nil`:
    /// all.
    ///
    /// An attacker can point their own domain name at a loopback listener. A page under that name in an operator's
    /// browser would then have the listener's origin (DNS rebinding).
    package var operatorHosts: [String]?
    /// Whether the service listener refuses requests for a host name that someone could register, for the same reason.
    /// Fixed at the start.
    package var refusesPublicHosts = false
    package var loggedRequests = LoggedRequests(.all)
    /// How many valid signatures each event loop caches; 0 disables the cache.
    package var signatureCacheCapacity = 0
    package var resources: [Resource] = []
    package var forwardAuth = ForwardAuthSettings()
    /// The rules of DPoP proofs; `nil`: none is accepted.
    package var proofs: ProofRules?
    /// Whether any of them passes only once, so that a store is needed.
    package var remembersProofs = false
    /// The keys whose public halves `/v1/jwks` offers; `nil`: there are none.
    package var clientKeys: ClientKeys?
    /// The contract, served at `/openapi.yaml`.
    package var openAPI: ByteBuffer

    package init(openAPI: [UInt8]) { self.openAPI = ByteBuffer(bytes: openAPI) }
}

/// Which requests are logged.
package struct LoggedRequests: Sendable, Equatable {
    package enum Kind: Sendable {
        case all
        /// Requests with a response status of 400 or above.
        case refused
        case none
    }

    package var kind: Kind
    /// Whether to rate-limit log lines of identical refusals. If only refusals are logged, this applies to all of them;
    /// otherwise, to those that a client can cause without an API key.
    package var limitsRefusals: Bool
    /// Whether to log successful probes and scrapes.
    package var includesProbes: Bool

    package init(_ kind: Kind, limitsRefusals: Bool = true, includesProbes: Bool = false) {
        self.kind = kind
        self.limitsRefusals = limitsRefusals
        self.includesProbes = includesProbes
    }
}

/// The settings of the store for single-use claims. Each event loop creates its ``ClaimStore`` from them when it
/// first needs one.
package struct StoreSetup: Sendable {
    package var kind: Kind
    /// As many as the store in memory holds by default: 15 minutes of a flood of 111 a second.
    let refused = RefusedClaims(capacity: 100_000)

    package enum Kind: Sendable {
        case memory(ClaimMemory)
        case valkey(ValkeySettings, StoreMonitor)
    }

    package init(_ kind: Kind) { self.kind = kind }

    /// One event loop's access to the store.
    ///
    /// - Throws: ``OpenSSLError`` when out of memory.
    func claims(on loop: any EventLoop, providerCount: Int) throws(OpenSSLError) -> ClaimStore {
        let store: any ReplayStore =
            switch kind {
            case .memory(let memory): MemoryStore(memory)
            case .valkey(let settings, let monitor): ValkeyStore(settings, on: loop, monitor)
            }
        return try ClaimStore(in: store, refused, on: loop, providerCount: providerCount)
    }
}
