public import Hummingbird
public import IDToken
public import RemoteKeys

/// Lets a request pass if it has a valid ID Token, and tells the handlers whose it is.
public struct SignInMiddleware: RouterMiddleware {
    let verifier: ProviderVerifier
    let keys: RemoteKeySet

    public init(_ verifier: ProviderVerifier, _ keys: RemoteKeySet) {
        self.verifier = verifier
        self.keys = keys
    }

    public func handle(
        _ request: Request, context: SignedInContext,
        next: (Request, SignedInContext) async throws -> Response
    ) async throws -> Response {
        guard let field = request.headers[.authorization], field.prefix(7).lowercased() == "bearer " else {
            throw HTTPError(.unauthorized, headers: [.wwwAuthenticate: "Bearer"])
        }
        var context = context
        do {
            context.identity = try await verifier.verify(String(field.dropFirst(7)), with: keys).identity
        } catch let rejection as Rejection where rejection != .cryptographyUnavailable {
            throw HTTPError(
                .unauthorized, headers: [.wwwAuthenticate: #"Bearer error="invalid_token""#],
                message: rejection.code.rawValue)
        } catch let error as KeysUnavailable {
            throw HTTPError(
                .serviceUnavailable, headers: [.retryAfter: "\(error.retryAfter.components.seconds)"],
                message: "\(error)")
        }
        return try await next(request, context)
    }
}

public struct SignedInContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    /// Whose token the request has; set by ``SignInMiddleware``.
    public internal(set) var identity: Identity?

    public init(source: Source) { coreContext = .init(source: source) }
}
