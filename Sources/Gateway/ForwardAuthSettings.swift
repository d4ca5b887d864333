/// The settings for requests from gateways.
package struct ForwardAuthSettings: Sendable, Equatable {
    /// If empty, `/v1/forward-auth/{policy}` responds with 404.
    package var policies: [ForwardAuthPolicy] = []
    /// How long a request waits for keys. The shipped gateway configurations wait 200 ms for the whole response.
    package var keysTimeoutMilliseconds: Int64 = 100

    package init() {}
}
