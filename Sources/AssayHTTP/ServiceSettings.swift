package import Clocks

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
    /// Whether operators may not ask under the name of a host: whoever owns a name can point it at this listener, and have
    /// their page in an operator's browser ask here as if it were ours (DNS rebinding).
    package var refusesHostNames = false
    package var loggedRequests = LoggedRequests.all
    /// How many valid signatures each event loop remembers; 0: none.
    package var rememberedSignatures = 0
    /// The contract, as served at `/openapi.yaml`.
    package var openAPI: [UInt8]

    package init(openAPI: [UInt8]) { self.openAPI = openAPI }
}

/// Which requests have a line in the log.
package enum LoggedRequests: Sendable, Equatable {
    case all
    /// Those that were answered with a status of 400 or above.
    ///
    /// - Parameter isLimited: whether of those that are the same, only a few in a while have a line.
    case refused(isLimited: Bool)
    case none
}
