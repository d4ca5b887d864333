private import Bytes

/// Who the spans are from, for the collector (OpenTelemetry, semantic conventions for resources).
package struct TraceResource: Sendable {
    let attributes: [(name: String, value: String)]
    let serviceVersion: String

    /// - Parameters:
    ///   - instanceID: tells this process from others of the same service.
    ///   - others: what the operator adds; a name that is there already is theirs to give.
    package init(
        serviceName: String, serviceVersion: String, instanceID: String, others: [(name: String, value: String)] = []
    ) {
        let own = [
            ("service.name", serviceName), ("service.version", serviceVersion), ("service.instance.id", instanceID),
        ]
        // The name has a setting of its own, which has been weighed already.
        let added = others.filter { $0.name != "service.name" }
        attributes = own.filter { own in !added.contains { $0.name == own.0 } } + added
        self.serviceVersion = serviceVersion
    }

    /// What tells one process from all others: 32 hexadecimal digits, others each time.
    package static func randomInstanceID() -> String {
        String(hexadecimal: .random(in: .min ... .max), .random(in: .min ... .max))
    }
}
