/// How gateways are answered.
package struct ForwardAuthSettings: Sendable, Equatable {
    /// If empty, gateways get no answer.
    package var policies: [ForwardAuthPolicy] = []
    /// How long a request waits for keys. The shipped configurations wait 200 ms for the whole answer.
    package var keysTimeoutMilliseconds: Int64 = 100

    package init() {}
}
