package import HTTP
private import JOSE

/// The network rules of one provider.
package struct NetworkRules: Sendable, Equatable {
    package var allowHTTP = false
    /// Whether every URL must have the default port of `https`, unless ``allowHTTP`` is set: callers name the servers.
    package var requiresDefaultPort = false
    /// Whether the rules are of an entry with many issuers, whose fetches share resources with care.
    package var isOfManyIssuers = false
    /// Whether fetches may connect to any address.
    package var allowPrivateAddresses = false
    /// Whether the provider is one of `assay dev`, whose keys nothing else trusts.
    package var acceptsDevelopmentKeys = false
    /// Addresses outside the public Internet to which fetches may connect.
    package var allowedAddresses: [AddressBlock] = []
    /// A PEM file with CA certificates to trust in addition to the system's.
    package var caFile: String?
    /// The system waits five seconds before it asks the next name server.
    package var nameTimeout = Interval.seconds(6)
    package var connectTimeout = Interval.seconds(3)
    /// Until the first byte of a response, and between any two bytes.
    package var idleTimeout = Interval.seconds(5)
    /// For one document: name, connection, redirects, body.
    package var totalTimeout = Interval.seconds(10)
    /// The minimum transfer rate of a body, in bytes per second. A slower fetch is aborted.
    package var minimumRate: Int64 = 1024
    /// When the rate is first checked.
    package var minimumRateAfter = Interval.seconds(3)
    /// In bytes, after decompression.
    package var maximumBody = 512 * 1024
    package var maximumKeys = JWKSet.maximumKeys
    /// In bytes on the wire beyond ``maximumBody``, for heads, chunk sizes and TLS.
    package var maximumOverhead = 128 * 1024
    package var maximumRedirects = 3
    /// The maximum number of a host's addresses to try.
    package var maximumAddresses = 3

    package init() {}

    /// The rules that decide which servers a fetch trusts.
    var trust: String {
        let blocks = allowedAddresses.map(\.text).joined(separator: ",")
        return (requiresDefaultPort ? "port=443 " : "")
            + "http=\(allowHTTP) private=\(allowPrivateAddresses) addresses=\(blocks) ca=\(caFile ?? "")"
    }

    /// Reads a URL to which requests may be sent.
    ///
    /// - Throws: ``FetchFailure`` with the reason, without repeating the URL.
    package func url(_ text: String) throws(FetchFailure) -> FetchURL {
        let url = try FetchURL(text, allowingHTTP: allowHTTP)
        guard !requiresDefaultPort || allowHTTP || url.port == 443 else {
            throw FetchFailure(.address, "the URL has a port other than 443; use the default port of https")
        }
        return url
    }

    /// Whether a fetch may connect to an address.
    func allows(_ address: String) -> Bool {
        allowPrivateAddresses || AddressVetting.isPublic(address) || allowedAddresses.contains { $0.contains(address) }
    }
}
