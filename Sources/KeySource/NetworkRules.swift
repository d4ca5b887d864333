package import Clocks

/// What the network may be used for on behalf of one provider.
package struct NetworkRules: Sendable, Equatable {
    package var allowHTTP = false
    package var allowPrivateAddresses = false
    /// A PEM file with certificate authorities to trust beside the system's.
    package var caFile: String?
    package var connectTimeout = Interval.seconds(3)
    /// For one fetch as a whole: name, connection, redirects, body.
    package var totalTimeout = Interval.seconds(10)
    package var maximumBody = 512 * 1024
    package var maximumRedirects = 3

    package init() {}
}
