package import Grants
package import KeySource

/// An endpoint of a provider that is called.
package enum CallEndpoint: String, Sendable, CaseIterable {
    case token, revocation
    case userInfo = "user_info"
    /// Apple's, called only by the command line.
    case userMigration = "user_migration"
}

/// One request to a provider's endpoint, for metrics, spans and logs. It contains nothing secret or personal.
package struct CallReport: Sendable {
    package let endpoint: CallEndpoint
    /// The client that made the call.
    package let clientID: String
    package let address: FetchURL
    package let startedAtUnixNanoseconds: UInt64
    /// Until the end of the response, including name resolution and connecting.
    package let nanoseconds: UInt64
    package let connection: ConnectionUse
    /// The status of the response; `nil` if there was none.
    package let status: UInt?
    /// `nil` for a success.
    package let failure: CallFailure?
    /// Why no connection could be opened, or what is wrong with the response, for operators.
    package let reason: String?
    /// The provider's own explanation of a failure, without the secrets of the request.
    package let providerDescription: String?

    package enum ConnectionUse: String, Sendable, CaseIterable {
        case opened, reused, failed
    }

    package var outcome: CallOutcome { CallOutcome(failure) }
}

/// The result of a call, with a report of each request that was made.
package struct Called<Value: Sendable>: Sendable {
    package let result: Result<Value, CallFailure>
    package let reports: [CallReport]
}
