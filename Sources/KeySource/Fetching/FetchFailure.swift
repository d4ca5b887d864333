package import Host

/// Why keys could not be fetched: text written here, never a body, never a secret. Of what the provider sent, it holds at most
/// a few `kid`s, shortened and as printable ASCII.
package struct FetchFailure: Error, Sendable, Equatable {
    package let phase: Phase
    package let message: String
    /// How long the server asked to be left alone.
    package let retryAfter: Interval?
    /// Whether it was the server's certificate that failed, for a reason that is still to be found out.
    var isUntrustedCertificate = false

    package enum Phase: String, Sendable, CaseIterable {
        case dns, address, connect, tls, http, parse, file
    }

    package init(_ phase: Phase, _ message: String, retryAfter: Interval? = nil) {
        self.phase = phase
        self.message = message
        self.retryAfter = retryAfter
    }
}
