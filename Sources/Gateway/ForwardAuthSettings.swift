/// How gateways are answered.
package struct ForwardAuthSettings: Sendable, Equatable {
    /// Empty: gateways are not answered.
    package var policies: [ForwardAuthPolicy] = []
    /// How long a gateway waits for keys. Envoy waits 200 ms for the whole answer.
    package var keysTimeoutMilliseconds: Int64 = 100

    package init() {}
}
