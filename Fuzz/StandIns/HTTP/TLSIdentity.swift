/// Stands for the service's own, which needs SwiftNIO. No target opens connections.
package final class TLSIdentity: Sendable {}
