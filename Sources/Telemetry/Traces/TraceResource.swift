private import Bytes

/// The source of the spans (OpenTelemetry, semantic conventions for resources).
package struct TraceResource: Sendable {
    let attributes: [(name: String, value: String)]
    let serviceVersion: String

    /// - Parameters:
    ///   - instanceID: distinguishes this process from others of the same service.
    ///   - others: attributes from the environment. They override the built-in ones, except `service.name`.
    package init(
        serviceName: String, serviceVersion: String, instanceID: String, others: [(name: String, value: String)] = []
    ) {
        let own = [
            ("service.name", serviceName), ("service.version", serviceVersion), ("service.instance.id", instanceID),
        ]
        // The service name has a setting of its own, whose precedence has already been resolved.
        let added = others.filter { $0.name != "service.name" }
        attributes = own.filter { own in !added.contains { $0.name == own.0 } } + added
        self.serviceVersion = serviceVersion
    }

    /// A random ID for this process: 32 hexadecimal digits.
    package static func randomInstanceID() -> String {
        String(hexadecimal: .random(in: .min ... .max), .random(in: .min ... .max))
    }
}
