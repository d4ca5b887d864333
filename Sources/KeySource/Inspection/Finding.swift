/// A finding about a provider, for operators.
package struct Finding: Sendable, Equatable {
    package let subject: Subject
    package let level: Level
    /// The text comes from this code; parts of a provider's response are quoted as printable ASCII.
    package let message: String

    package enum Subject: String, Sendable, CaseIterable {
        case dns, connection, tls, discovery, keys, freshness, clock, file, clients
    }

    package init(_ subject: Subject, _ level: Level, _ message: String) {
        self.subject = subject
        self.level = level
        self.message = message
    }

    package enum Level: String, Sendable, CaseIterable {
        case ok
        /// The provider can be used, but the operator should know.
        case warning
        /// The provider can't be used.
        case failure
    }
}
