package import IDToken

/// What a policy reads of an opaque token. The rest needs modules that no fuzz target links.
package final class AcceptedOpaqueToken: Sendable {
    package let token: IntrospectedToken
    package let binding: TokenBinding?

    init(_ token: IntrospectedToken, _ binding: TokenBinding?) { (self.token, self.binding) = (token, binding) }
}
