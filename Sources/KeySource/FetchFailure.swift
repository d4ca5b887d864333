/// Why keys could not be fetched: text written here, never a body, never a secret.
package struct FetchFailure: Error, Sendable, Equatable {
    package let phase: Phase
    package let message: String

    package enum Phase: String, Sendable, CaseIterable {
        case dns, address, connect, tls, http, parse, file
    }

    package init(_ phase: Phase, _ message: String) {
        self.phase = phase
        self.message = message
    }
}
