package import Host

/// What the network may be used for on behalf of one provider.
package struct NetworkRules: Sendable, Equatable {
    package var allowHTTP = false
    /// Whether any address may be connected to.
    package var allowPrivateAddresses = false
    /// Addresses that may be connected to although they are not on the public Internet.
    package var allowedAddresses: [AddressBlock] = []
    /// A PEM file with certificate authorities to trust beside the system's.
    package var caFile: String?
    /// The system gives a name server five seconds before it asks the next.
    package var nameTimeout = Interval.seconds(6)
    package var connectTimeout = Interval.seconds(3)
    /// Until the first byte of an answer, and between any two.
    package var idleTimeout = Interval.seconds(5)
    /// For one document as a whole: name, connection, redirects, body.
    package var totalTimeout = Interval.seconds(10)
    /// A body that comes more slowly than this, in bytes a second, is not waited for to its end.
    package var minimumRate: Int64 = 1024
    /// When the rate is first looked at.
    package var minimumRateAfter = Interval.seconds(3)
    /// Bytes, unpacked.
    package var maximumBody = 512 * 1024
    /// Bytes on the wire beyond ``maximumBody``, for heads, chunks' sizes and TLS.
    package var maximumOverhead = 128 * 1024
    package var maximumRedirects = 3
    /// Of a host's addresses, how many are tried where the ones before can't be connected to.
    package var maximumAddresses = 3

    package init() {}

    /// What decides whom a fetch believes.
    var trust: String {
        let blocks = allowedAddresses.map(\.text).joined(separator: ",")
        return "http=\(allowHTTP) private=\(allowPrivateAddresses) addresses=\(blocks) ca=\(caFile ?? "")"
    }

    /// Whether a fetch may connect to an address.
    func allows(_ address: String) -> Bool {
        allowPrivateAddresses || AddressVetting.isPublic(address) || allowedAddresses.contains { $0.contains(address) }
    }
}
