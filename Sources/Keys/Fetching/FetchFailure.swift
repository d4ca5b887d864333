package import HTTP

/// Why a key fetch failed. The text comes from this code and contains no secret. Of a response body, it quotes at most
/// a few `kid`s, shortened and as printable ASCII.
package struct FetchFailure: Error, Sendable, Equatable {
    package let phase: Phase
    package let message: String
    /// The server's `Retry-After`.
    package let retryAfter: Interval?
    /// What is wrong with the server's certificate, if its details are not known yet.
    var certificateFault: CertificateFault?
    /// Whether the server says that there is no such document, or none for us.
    var isAbsence = false
    /// Whether the server refuses to send the document, for whatever reason but too many requests (4xx but 429).
    var isRefusal = false

    enum CertificateFault: Sendable {
        case untrusted, forAnotherHost
    }

    package enum Phase: String, Sendable, CaseIterable {
        case dns, address, connect, tls, http, parse, file
    }

    package init(_ phase: Phase, _ message: String, retryAfter: Interval? = nil) {
        self.phase = phase
        self.message = message
        self.retryAfter = retryAfter
    }
}
