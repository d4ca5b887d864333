package import IDToken

/// What a policy reads of an opaque token; how it was accepted is read with rooms that no target needs.
package final class AcceptedOpaqueToken: Sendable {
    package let token: IntrospectedToken
    package let binding: TokenBinding?

    init(_ token: IntrospectedToken, _ binding: TokenBinding?) { (self.token, self.binding) = (token, binding) }
}
