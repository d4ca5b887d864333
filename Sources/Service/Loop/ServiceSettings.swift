package import Host
package import NIOCore

/// What the two listeners need to know beside the providers.
package struct ServiceSettings: Sendable {
    package var maximumBody = 64 * 1024
    package var maximumBatchBody = 4 * 1024 * 1024
    /// How long a request waits for keys.
    package var keysTimeout = Interval.seconds(5)
    /// How long a request waits for its turn before others are turned away.
    package var queueTimeout = Interval(milliseconds: 500)
    /// Of those who call the service.
    package var callerKeys = CallerKeys(digests: [])
    /// Of those who look after it, on the admin listener.
    package var operatorKeys = CallerKeys(digests: [])
    /// Whether the admin listener has a page for operators.
    package var servesConsole = false
    /// The host names, in lower case, that the admin listener answers to beside `localhost` and IP addresses; `nil`: all.
    ///
    /// Anybody can point a name of their own at a listener on loopback, and a page of that name in an operator's browser is
    /// then of the same origin (DNS rebinding).
    package var operatorHosts: [String]?
    package var loggedRequests = LoggedRequests(.all)
    /// How many valid signatures each event loop remembers; 0: none.
    package var signatureCacheCapacity = 0
    /// The contract, as served at `/openapi.yaml`.
    package var openAPI: ByteBuffer

    package init(openAPI: [UInt8]) { self.openAPI = ByteBuffer(bytes: openAPI) }
}

/// Which requests have a line in the log.
package struct LoggedRequests: Sendable, Equatable {
    package enum Kind: Sendable {
        case all
        /// Those that were answered with a status of 400 or above.
        case refused
        case none
    }

    package var kind: Kind
    /// Whether of refusals that are alike only a few in a while have a line: of all, where only those have a line, else of
    /// those that a client can cause without a key.
    package var limitsRefusals: Bool
    /// Whether answered probes and scrapes have a line.
    package var includesProbes: Bool

    package init(_ kind: Kind, limitsRefusals: Bool = true, includesProbes: Bool = false) {
        self.kind = kind
        self.limitsRefusals = limitsRefusals
        self.includesProbes = includesProbes
    }
}
