/// One thing that was found out about a provider, for operators.
package struct Finding: Sendable, Equatable {
    package let subject: Subject
    package let level: Level
    /// Text written here; what it repeats of a provider's answers is quoted, and printable ASCII.
    package let message: String

    package enum Subject: String, Sendable, CaseIterable {
        case dns, connection, tls, discovery, keys, freshness, clock, file
    }

    package enum Level: String, Sendable, CaseIterable {
        case ok
        /// The provider serves; someone should know.
        case warning
        /// With this the provider could not serve.
        case failure
    }
}
